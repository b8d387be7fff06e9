#include "operate/secret_credential.h"

#include "lib/base/json.h"
#include "lib/base/json_access.h"
#include "operate/expiry.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::operate {
namespace {

Error no_request(std::string what) {
  return Error(Errc::invalid, "KUBERNETES_EXEC_INFO: " + std::move(what));
}

std::string trimmed(std::string text) {
  constexpr std::string_view white = " \t\r\n";
  text.erase(text.find_last_not_of(white) + 1);
  text.erase(0, std::min(text.find_first_not_of(white), text.size()));
  return text;
}

/// A Secret that the author of a ClusterProfile names goes to the server that they name: the owner
/// of the Secret has to agree.
Status check_server(const SecretRequest& request, const api::Secret& secret) {
  if (!request.server) return ok();
  const auto found = secret.metadata.annotations.find(std::string(server_annotation));
  if (found != secret.metadata.annotations.end() && found->second == *request.server) return ok();
  return Error(Errc::denied, "Secret " + request.secret.str() + " is not for this server: set " +
                                 "its annotation " + std::string(server_annotation) + " to " +
                                 *request.server);
}

}  // namespace

Result<SecretRequest> secret_request(const SecretFlags& flags, std::string_view exec_info) {
  if (exec_info.empty()) {
    return no_request("not set; a credential plugin is started by a client of Kubernetes");
  }
  const Result<Json> info = parse_json(exec_info);
  if (!info || text_at(*info, "kind") != "ExecCredential") return no_request("no ExecCredential");
  SecretRequest out;
  out.api_version = text_at(*info, "apiVersion");
  out.key = flags.key;
  out.valid_for = flags.valid_for;
  out.secret = api::ObjectKey(flags.ns, flags.name);
  if (!flags.name.empty()) return out;
  const Json& cluster = object_or_empty(*info, {"spec", "cluster"});
  if (cluster.empty()) return no_request("no cluster: set provideClusterInfo, or give --secret");
  out.secret.name = text_at(cluster, {"config", "secret"});
  if (out.secret.name.empty()) {
    return no_request(
        "the cluster's config has no \"secret\": give --secret, or the extension "
        "client.authentication.k8s.io/exec to the access provider");
  }
  out.server = text_at(cluster, "server");
  return out;
}

Result<std::string> secret_credential(const SecretRequest& request, const api::Secret& secret,
                                      TimePoint now) {
  if (auto fine = check_server(request, secret); !fine) return fine.error();
  const auto found = secret.data.find(request.key);
  const std::string token = found == secret.data.end() ? "" : trimmed(found->second);
  if (token.empty()) {
    return Error(Errc::not_found,
                 "Secret " + request.secret.str() + " has no \"" + request.key + "\"");
  }
  TimePoint end = now + request.valid_for;
  if (const auto own = token_end(token)) end = std::min(end, *own);
  Json status = Json::object();
  status["token"] = token;
  status["expirationTimestamp"] = format_rfc3339(end);
  Json credential = Json::object();
  credential["apiVersion"] = request.api_version;
  credential["kind"] = "ExecCredential";
  credential["status"] = std::move(status);
  return dump_json(credential);
}

}  // namespace regatta::operate
