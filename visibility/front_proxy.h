#pragma once

/// An API server that passes a request on proves itself with a client certificate and names the
/// user in headers. What it uses for that is in the ConfigMap
/// kube-system/extension-apiserver-authentication.

#include "lib/api/core.h"
#include "lib/base/error.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regatta::visibility {

struct FrontProxy {
  std::string ca_pem;                      ///< signs the certificates of API servers
  std::vector<std::string> allowed_names;  ///< of their certificates; empty: any
  std::vector<std::string> user_headers;
  std::vector<std::string> group_headers;
  std::vector<std::string> extra_prefixes;
  friend bool operator==(const FrontProxy&, const FrontProxy&) = default;
};

/// `invalid` when the ConfigMap has no front proxy: the cluster has no aggregation layer.
Result<FrontProxy> read_front_proxy(const api::ConfigMap& map);

struct User {
  std::string name;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;
};

using HeaderFields = std::vector<std::pair<std::string, std::string>>;

/// The user for whom the API server asks. `common_name`: of the client certificate that TLS
/// verified against ca_pem; empty without one. Nothing in headers counts when it comes from any
/// other client.
std::optional<User> user_of(const FrontProxy& proxy, std::string_view common_name,
                            const HeaderFields& headers);

}  // namespace regatta::visibility
