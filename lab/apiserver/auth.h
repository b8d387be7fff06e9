#pragma once

#include "lab/apiserver/account_tokens.h"
#include "lab/apiserver/core.h"
#include "lib/net/http.h"

#include <nlohmann/json.hpp>

#include <optional>

namespace regatta::apiserver {

/// Finds the user of a request: from a verified client certificate (CN and O), a bearer token, or
/// without either system:anonymous.
class Authenticator {
 public:
  explicit Authenticator(Core& core);

  /// Null when the credentials are invalid: 401.
  std::optional<UserInfo> authenticate(const net::HttpRequest& request) const;
  std::optional<UserInfo> user_of_token(std::string_view token) const;
  /// The tokens of service accounts.
  const AccountTokens& accounts() const { return accounts_; }

 private:
  const ServerOptions& options_;
  const Clock& clock_;
  AccountTokens accounts_;
};

/// A request as RBAC judges it.
struct Attributes {
  std::string verb;
  bool resource_request = true;
  std::string group, version, plural, subresource, ns, name;
  std::string path;
};

struct Verdict {
  bool allowed = false;
  std::string reason;
};

/// RBAC over the Roles, ClusterRoles and bindings in the store. system:masters may do everything.
class Authorizer {
 public:
  explicit Authorizer(Store& store) : store_(store) {}
  Verdict decide(const UserInfo& user, const Attributes& what) const;
  /// The rules that apply to `user` in `ns`, for SelfSubjectRulesReview.
  struct Rules {
    Json resource_rules;
    Json url_rules;
  };
  void rules_of(const UserInfo& user, const std::string& ns, Json* resource_rules,
                Json* url_rules) const;

 private:
  using Visit = std::function<bool(const Json& rule, const std::string& why)>;
  void visit_rules(const UserInfo& user, const std::string& ns, const Visit& visit) const;

  Store& store_;
};

/// The 403 for a request, in the words of Kubernetes.
Failure refusal(const UserInfo& user, const Attributes& what);
Attributes attributes_of(const RequestInfo& info);

/// The roles and bindings with which every cluster starts.
std::vector<Json> bootstrap_rbac();

}  // namespace regatta::apiserver
