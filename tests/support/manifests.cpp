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

std::string crd_yaml(const api::ResourceInfo& kind) {
  const std::string group(kind.group), version(kind.version), name(kind.kind), plural(kind.plural);
  // Such groups are the Kubernetes project's own.
  const std::string approval =
      group.ends_with(".k8s.io") ? "annotations: {api-approved.kubernetes.io: unapproved}, " : "";
  return R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {)" +
         approval + "name: " + plural + "." + group + "}\nspec:\n  group: " + group +
         "\n  scope: " + (kind.namespaced ? "Namespaced" : "Cluster") +
         "\n  names: {kind: " + name + ", listKind: " + name + "List, plural: " + plural +
         "}\n  versions:\n  - name: " + version +
         R"(
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
)";
}

}  // namespace regatta::test_support
