#pragma once

#include "lab/terms.h"
#include "lib/manifest/failure.h"
#include "lib/net/http.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::apiserver {

/// The decoded query of a URL; the first value of a name counts.
class Query {
 public:
  void add(std::string name, std::string value);
  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
  /// The value, or empty.
  const std::string& get(std::string_view name) const;
  std::vector<std::string> all(std::string_view name) const;
  /// Go's reading of a boolean parameter: anything but "0" and "false" is true, also "".
  bool flag(std::string_view name) const;

 private:
  std::multimap<std::string, std::string, std::less<>> values_;
};

/// The user of a request.
struct UserInfo {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;
  bool in_group(std::string_view group) const;
};

/// What a URL and a method ask for, before any look-up.
struct RequestInfo {
  std::string path;
  std::vector<std::string> segments;
  Query query;
  bool malformed = false;  ///< the target is no path and query of RFC 3986; all else is empty

  bool resource_request = false;
  std::string group;
  std::string version;
  std::string ns;
  bool has_namespace = false;  ///< a namespaces/<ns> segment before the resource
  std::string plural;
  std::string name;
  std::string subresource;
  bool deprecated_watch = false;  ///< the /watch/ prefix
  bool too_long = false;          ///< segments beyond the subresource

  /// get, list, watch, create, update, patch, delete, deletecollection; for other paths the lower
  /// case method.
  std::string verb;
};

RequestInfo parse_request(const net::HttpRequest& request);

}  // namespace regatta::apiserver
