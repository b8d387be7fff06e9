#include "tests/support/manifests.h"

#include "lib/api/yaml.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace regatta::test_support {
namespace {

std::vector<Json> manifests(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path + " (run from the source root)");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  return api::parse_yaml_documents(text).value();
}

std::vector<Json> read_crds() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator("charts/regatta/files/crds")) {
    files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  std::vector<Json> all;
  for (const std::string& file : files) {
    for (Json& one : manifests(file)) all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

const std::vector<Json>& crd_manifests() {
  static const std::vector<Json> all = read_crds();
  return all;
}

}  // namespace regatta::test_support
