#include "lib/api/selected_clusters.h"

#include "lib/api/labels.h"
#include "lib/api/own_names.h"
#include "lib/base/contains.h"

namespace regatta::api {
namespace {

std::string selector_of(const MultiKueueConfig& config) {
  return config.metadata.annotation(std::string(annotations::select_clusters));
}

}  // namespace

bool selects_clusters(const MultiKueueConfig& config) {
  return !selector_of(config).empty();
}

Result<std::vector<std::string>> listed_clusters(const MultiKueueConfig& config,
                                                 const std::vector<const ObjectMeta*>& clusters) {
  const std::vector<std::string>& named = config.spec.clusters;
  std::vector<std::string> names = named;
  const std::string text = selector_of(config);
  if (text.empty()) return names;
  const auto selector = Selector::parse(text);
  if (!selector) return selector.error();
  for (const ObjectMeta* cluster : clusters) {
    if (cluster->deleting() || !selector->matches(cluster->labels)) continue;
    if (!contains(named, cluster->name)) names.push_back(cluster->name);
  }
  return names;
}

}  // namespace regatta::api
