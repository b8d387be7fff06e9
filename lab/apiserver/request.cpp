#include "lab/apiserver/request.h"

#include "lib/base/lower_case.h"

#include <boost/url/parse.hpp>

#include <algorithm>

namespace regatta::apiserver {
namespace {

namespace urls = boost::urls;

std::vector<std::string> segments_of(const urls::url_view& target) {
  std::vector<std::string> segments;
  for (std::string segment : target.segments()) {
    if (!segment.empty()) segments.push_back(std::move(segment));
  }
  return segments;
}

Query query_of(const urls::url_view& target) {
  Query query;
  urls::encoding_opts as_in_forms;
  as_in_forms.space_as_plus = true;
  for (const auto& [name, value, has_value] : target.params(as_in_forms)) query.add(name, value);
  return query;
}

std::string verb_of(const std::string& method, const RequestInfo& info) {
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return info.name.empty() ? "deletecollection" : "delete";
  if (method == "GET" || method == "HEAD") {
    if (info.deprecated_watch) return "watch";
    if (!info.name.empty()) return "get";
    return info.query.flag("watch") ? "watch" : "list";
  }
  return lower_case(method);
}

/// Reads the part after the group version: [watch/][namespaces/<ns>/]<plural>[/<name>[/<sub>]].
void read_resource(RequestInfo& info, std::size_t at) {
  const auto& s = info.segments;
  if (at < s.size() && s[at] == "watch" && s.size() > at + 1) {
    info.deprecated_watch = true;
    ++at;
  }
  const bool below_namespace = at + 2 < s.size() && s[at] == "namespaces";
  const bool namespace_subresource = below_namespace && info.group.empty() && s.size() == at + 3 &&
                                     (s[at + 2] == "status" || s[at + 2] == "finalize");
  if (below_namespace && !namespace_subresource) {
    info.ns = s[at + 1];
    info.has_namespace = true;
    at += 2;
  }
  if (at < s.size()) info.plural = s[at];
  if (at + 1 < s.size()) info.name = s[at + 1];
  if (at + 2 < s.size()) info.subresource = s[at + 2];
  info.too_long = at + 3 < s.size();
  info.resource_request = true;
}

}  // namespace

void Query::add(std::string name, std::string value) {
  values_.emplace(std::move(name), std::move(value));
}

const std::string& Query::get(std::string_view name) const {
  static const std::string empty;
  const auto found = values_.lower_bound(name);
  return found != values_.end() && found->first == name ? found->second : empty;
}

std::vector<std::string> Query::all(std::string_view name) const {
  std::vector<std::string> values;
  const auto [first, last] = values_.equal_range(name);
  for (auto it = first; it != last; ++it) values.push_back(it->second);
  return values;
}

bool Query::flag(std::string_view name) const {
  if (!has(name)) return false;
  const std::string& value = get(name);
  return value != "0" && value != "false" && value != "False" && value != "FALSE";
}

bool UserInfo::in_group(std::string_view group) const {
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

RequestInfo parse_request(const net::HttpRequest& request) {
  RequestInfo info;
  const auto target = urls::parse_origin_form(request.target);
  if (!target) {
    info.malformed = true;
    return info;
  }
  info.path = target->path();
  info.segments = segments_of(*target);
  info.query = query_of(*target);

  const auto& s = info.segments;
  if (s.size() > 2 && s[0] == "api") {
    info.version = s[1];
    read_resource(info, 2);
  } else if (s.size() > 3 && s[0] == "apis") {
    info.group = s[1];
    info.version = s[2];
    read_resource(info, 3);
  }
  info.verb = verb_of(request.method, info);
  if (!info.resource_request) info.verb = lower_case(request.method);
  return info;
}

}  // namespace regatta::apiserver
