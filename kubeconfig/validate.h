#pragma once

#include "kubeconfig/endpoint.h"
#include "kubeconfig/file_system.h"

#include <optional>

// Kubeconfigs of worker clusters. They come from the API, so only a server and inline credentials
// are accepted.
namespace regatta::kubeconfig {

/// Reasons of the Active condition of a MultiKueueCluster.
constexpr std::string_view reason_bad = "BadKubeConfig";
constexpr std::string_view reason_insecure = "InsecureKubeConfig";

/// An endpoint, or the reason why there is none.
struct Verdict {
  std::optional<Endpoint> endpoint;
  std::string_view reason;
  std::string message;
};

/// Rules for every cluster and user of the file, also those that the context does not use.
Status validate_file(const Kubeconfig& config);

/// Rules for the current context. The endpoint is safe to use if validate_file() agrees, too.
Result<Endpoint> validate_current(const Kubeconfig& config);

/// Parses and applies all rules; refusals are `invalid`.
Result<Endpoint> validate(std::string_view text);

/// From the bytes of a Secret's key.
Verdict from_bytes(std::string_view text);

/// From a file below `allowed_prefix`.
Verdict from_path(FileSystem& files, const std::string& path,
                  const std::string& allowed_prefix = std::string(default_allowed_prefix));

}  // namespace regatta::kubeconfig
