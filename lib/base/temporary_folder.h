#pragma once

#include "lib/base/error.h"

#include <filesystem>
#include <string>

namespace regatta {

/// Makes a folder "NAME-XXXXXX" among the temporary files. Its name cannot be foretold, so that no
/// other user can have put something there, and only this user may enter it.
Result<std::filesystem::path> make_temporary_folder(const std::string& name);

/// One that is removed with all that is in it. Throws std::runtime_error when it cannot be made.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& name = "regatta");
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  operator const std::filesystem::path&() const { return path_; }
  std::string string() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace regatta
