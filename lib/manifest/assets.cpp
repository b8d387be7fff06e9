#include "lib/manifest/assets.h"

#include "lib/api/yaml.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace regatta::manifest {

Result<std::vector<Json>> objects_below(const std::vector<Asset>& assets, std::string_view prefix) {
  std::vector<Json> objects;
  for (const Asset& asset : assets) {
    if (!asset.path.starts_with(prefix)) continue;
    auto documents = api::parse_yaml_documents(asset.text);
    if (!documents) return documents.error().within(asset.path);
    for (Json& document : *documents) objects.push_back(std::move(document));
  }
  if (objects.empty()) return Error(Errc::not_found, "no object below " + std::string(prefix));
  return objects;
}

}  // namespace regatta::manifest
