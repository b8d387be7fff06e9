#pragma once

#include "lib/api/core.h"
#include "lib/base/clock.h"
#include "lib/base/error.h"

#include <optional>
#include <string>
#include <string_view>

/// `regatta credentials secret`: a plugin of client.authentication.k8s.io that gives the token of a
/// Secret, so that workers of ClusterProfiles can be used without a cloud.
namespace regatta::operate {

/// On a Secret: the URL of the only server that may get its token by way of a ClusterProfile.
inline constexpr std::string_view server_annotation = "multikueue.regatta.dev/server";

struct SecretFlags {
  std::string ns = "kueue-system";
  std::string name;  ///< empty: the ClusterProfile names the Secret
  std::string key = "token";
  Duration valid_for = std::chrono::minutes(10);  ///< then the Secret is read again
};

/// What is asked for.
struct SecretRequest {
  api::ObjectKey secret;
  std::string key;
  std::string api_version;
  Duration valid_for{0};
  /// The server that gets the token, when the Secret was named by the one who named the server.
  std::optional<std::string> server;
};

/// From the flags and the value of $KUBERNETES_EXEC_INFO, whose cluster config names the Secret as
/// {"secret": NAME} if the flags do not.
Result<SecretRequest> secret_request(const SecretFlags& flags, std::string_view exec_info);

/// The ExecCredential to print. Its end is that of the token, or after `valid_for`. The Error
/// quotes nothing of the Secret.
Result<std::string> secret_credential(const SecretRequest& request, const api::Secret& secret,
                                      TimePoint now);

}  // namespace regatta::operate
