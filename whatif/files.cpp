#include "whatif/files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <istream>
#include <set>
#include <string_view>

namespace regatta::whatif {
namespace {

namespace fs = std::filesystem;

Error unreadable(const std::string& path, const std::string& why) {
  return Error(Errc::not_found, path + ": " + why);
}

/// Whether the text has no NUL, and every lead byte of UTF-8 has its continuation bytes.
bool is_text(std::string_view text) {
  std::size_t following = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool continues = (byte & 0xC0U) == 0x80;
    if (c == '\0' || continues != (following > 0)) return false;
    if (continues) {
      --following;
    } else if (byte >= 0x80) {
      following = byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : 1;
      if (byte < 0xC2 || byte > 0xF4) return false;
    }
  }
  return following == 0;
}

Result<std::string> read_all(std::istream& in, const std::string& path, std::size_t bytes_max) {
  std::string text;
  char buffer[1 << 16];
  while (in.read(buffer, sizeof buffer) || in.gcount() > 0) {
    text.append(buffer, static_cast<std::size_t>(in.gcount()));
    if (text.size() > bytes_max) {
      return unreadable(path, "longer than " + std::to_string(bytes_max >> 20) + " MiB");
    }
  }
  if (in.bad()) return unreadable(path, "cannot be read");
  if (!is_text(text)) return unreadable(path, "is no text (UTF-8): a binary file?");
  return text;
}

}  // namespace

Result<std::vector<std::string>> files_of(const std::string& path,
                                          std::initializer_list<std::string_view> extensions) {
  if (path == "-") return std::vector<std::string>{path};
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (error || !fs::exists(status)) return unreadable(path, "no such file or folder");
  if (!fs::is_directory(status)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  // Links to folders are followed, but each folder is read once, because links may form circles.
  std::set<fs::path> seen{fs::canonical(path, error)};
  constexpr auto follow = fs::directory_options::follow_directory_symlink;
  for (fs::recursive_directory_iterator it(path, follow, error), end; !error && it != end;
       it.increment(error)) {
    const bool hidden = it->path().filename().native().starts_with('.');
    std::error_code other;
    if (it->is_directory(other)) {
      const bool known = !seen.insert(fs::canonical(it->path(), other)).second;
      if (hidden || known) it.disable_recursion_pending();
    }
    if (hidden) continue;
    const std::string extension = it->path().extension().string();
    const bool wanted =
        std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
    std::error_code gone;
    const bool dangling = wanted && it->is_symlink() && !it->exists(gone);
    if (dangling) return unreadable(it->path().string(), "a link to nothing");
    if (wanted && it->is_regular_file()) files.push_back(it->path().string());
  }
  if (error) return unreadable(path, error.message());
  if (files.empty()) {
    std::string wanted;
    for (const std::string_view one : extensions) {
      wanted += (wanted.empty() ? "" : " or ") + std::string(one);
    }
    return unreadable(path, "no " + wanted + " file in this folder");
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<std::string> read_file(const std::string& path, std::size_t bytes_max) {
  if (path == "-") return read_all(std::cin, path, bytes_max);
  std::ifstream file(path, std::ios::binary);
  if (!file) return unreadable(path, "cannot be read");
  return read_all(file, path, bytes_max);
}

}  // namespace regatta::whatif
