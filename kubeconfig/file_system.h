#pragma once

#include "lib/base/error.h"

#include <string>
#include <string_view>

namespace regatta::kubeconfig {

/// The operations of a file system that loading needs.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  /// The absolute path without symbolic links; `not_found` or `denied` otherwise.
  virtual Result<std::string> resolve(const std::string& path) = 0;
  /// The whole of a regular file; never blocks on a pipe or device, never reads more than
  /// `limit` bytes.
  virtual Result<std::string> read_regular(const std::string& path, std::size_t limit) = 0;
};

/// The file system of this machine.
class SystemFiles final : public FileSystem {
 public:
  Result<std::string> resolve(const std::string& path) override;
  Result<std::string> read_regular(const std::string& path, std::size_t limit) override;
};

constexpr std::string_view default_allowed_prefix = "/etc/multikueue/kubeconfigs";

/// Reads a kubeconfig from a path that comes from the API: it must be absolute and, once links are
/// resolved, lie below `allowed_prefix`. The path is resolved each time, because mounted Secrets
/// rotate by moving a link.
Result<std::string> load_path(FileSystem& files, const std::string& path,
                              const std::string& allowed_prefix);

}  // namespace regatta::kubeconfig
