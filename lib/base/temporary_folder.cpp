#include "lib/base/temporary_folder.h"

#include <cerrno>
#include <stdexcept>
#include <stdlib.h>
#include <system_error>

namespace regatta {

Result<std::filesystem::path> make_temporary_folder(const std::string& name) {
  std::error_code error;
  std::string path = (std::filesystem::temp_directory_path(error) / (name + "-XXXXXX")).string();
  if (!error && ::mkdtemp(path.data())) return std::filesystem::path(path);
  const std::string why =
      error ? "TMPDIR: " + error.message() : std::generic_category().message(errno);
  return Error(Errc::invalid, "cannot make a folder like " + path + ": " + why);
}

TemporaryFolder::TemporaryFolder(const std::string& name) {
  auto made = make_temporary_folder(name);
  if (!made) throw std::runtime_error(made.error().what());
  path_ = std::move(*made);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace regatta
