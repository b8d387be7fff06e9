#pragma once

#include "lib/base/error.h"

#include <string>
#include <string_view>

namespace regatta::kubeconfig {

/// What loading needs from a file system.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  /// The absolute path without symbolic links; `not_found` or `denied` otherwise.
  virtual Result<std::string> resolve(const std::string& path) = 0;
  /// The whole of a regular file; never blocks on a pipe or device, never reads more than
  /// `limit` bytes.
  virtual Result<std::string> read_regular(const std::string& path, std::size_t limit) = 0;
};

/// The machine's.
class SystemFiles final : public FileSystem {
 public:
  Result<std::string> resolve(const std::string& path) override;
  Result<std::string> read_regular(const std::string& path, std::size_t limit) override;
};

constexpr std::string_view default_allowed_prefix = "/etc/multikueue/kubeconfigs";

/// Reads a kubeconfig from a path that somebody else chose: it must be absolute and, links
/// resolved, lie below `allowed_prefix`. The path is resolved anew each time, because mounted
/// Secrets rotate by moving a link.
Result<std::string> load_path(FileSystem& files, const std::string& path,
                              const std::string& allowed_prefix);

}  // namespace regatta::kubeconfig
