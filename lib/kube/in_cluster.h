#pragma once

#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/kube/credentials.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace regatta::kube {

/// What a process inside a Pod knows of its API server.
struct InClusterConfig {
  std::string host;  ///< host name or address without brackets
  std::uint16_t port = 0;
  std::string ca_pem;
  std::string ns;  ///< of the Pod; empty when unknown
  std::filesystem::path token_file;
};

/// Where the service account is mounted.
inline const std::filesystem::path service_account_folder =
    "/var/run/secrets/kubernetes.io/serviceaccount";

/// Reads an environment variable; nullopt when unset.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// `not_found` outside of a Pod; `invalid` when what is mounted is unusable.
Result<InClusterConfig> load_in_cluster(
    const Environment& environment, const std::filesystem::path& folder = service_account_folder);

/// A bearer token from a file that is rotated: the file is read again when the token is a minute
/// old, or at once after the server rejected it. When reading fails, the previous token is kept.
class TokenFile final : public Credentials {
 public:
  TokenFile(Clock& clock, std::filesystem::path file);
  Task<Result<std::string>> bearer_token() override;
  void rejected() override { read_at_.reset(); }

  static constexpr Duration reread_after = std::chrono::minutes(1);
  static constexpr std::size_t bytes_max = 64 * 1024;

 private:
  Clock& clock_;
  std::filesystem::path file_;
  std::string token_;
  std::optional<SteadyPoint> read_at_;
};

/// The contents of a regular file of at most `bytes_max`.
Result<std::string> read_small_file(const std::filesystem::path& file, std::size_t bytes_max);

}  // namespace regatta::kube
