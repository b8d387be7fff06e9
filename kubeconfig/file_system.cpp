#include "kubeconfig/file_system.h"

#include "kubeconfig/kubeconfig.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace regatta::kubeconfig {
namespace {

std::string text_of(int error) {
  std::string text = std::generic_category().message(error);
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] = char(text[0] + 32);
  return text;
}

Error failed(const char* call, const std::string& path, int error) {
  const Errc code = error == ENOENT || error == ENOTDIR ? Errc::not_found : Errc::denied;
  return Error(code, std::string(call) + " " + path + ": " + text_of(error));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

/// Whether `path` is a file somewhere below the folder `prefix`.
bool is_below(const std::string& path, const std::string& prefix) {
  if (prefix == "/") return path.size() > 1;
  return path.size() > prefix.size() + 1 && path.starts_with(prefix) && path[prefix.size()] == '/';
}

}  // namespace

Result<std::string> SystemFiles::resolve(const std::string& path) {
  std::error_code ec;
  const auto found = std::filesystem::canonical(path, ec);
  if (ec) return failed("lstat", path, ec.value());
  return found.string();
}

Result<std::string> SystemFiles::read_regular(const std::string& path, std::size_t limit) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) return failed("open", path, errno);
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) return failed("stat", path, errno);
  if (!S_ISREG(info.st_mode)) return Error(Errc::invalid, path + " is not a regular file");
  std::string text;
  std::string buffer(64 * 1024, '\0');
  for (;;) {
    const auto n = ::read(file.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed("read", path, errno);
    if (n == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(n));
    if (text.size() > limit) {
      return Error(Errc::invalid, path + " is larger than " + std::to_string(limit) + " bytes");
    }
  }
}

Result<std::string> load_path(FileSystem& files, const std::string& path,
                              const std::string& allowed_prefix) {
  if (path.empty()) return Error(Errc::invalid, "kubeconfig path must not be empty");
  const auto outside = [](const std::string& why) {
    return Error(Errc::invalid, "kubeconfig path is not under the allowed prefix: " + why);
  };
  const std::filesystem::path clean = std::filesystem::path(path).lexically_normal();
  for (const auto& part : clean) {
    if (part == "..") return outside("path contains \"..\"");
  }
  if (!clean.is_absolute()) return outside("path must be absolute");
  const auto prefix = files.resolve(allowed_prefix);
  if (!prefix) {
    // Nothing can be below a folder that is not there.
    const auto folder = std::filesystem::path(allowed_prefix).lexically_normal().string();
    return outside("\"" + clean.string() + "\" is not under \"" + folder + "\"");
  }
  const auto target = files.resolve(clean.string());
  if (!target) return target.error().within("cannot resolve kubeconfig path symlinks");
  if (!is_below(*target, *prefix)) {
    return outside("\"" + *target + "\" is not under \"" + *prefix + "\"");
  }
  auto text = files.read_regular(*target, size_max);
  if (!text) return text.error().within("cannot read the kubeconfig");
  return text;
}

}  // namespace regatta::kubeconfig
