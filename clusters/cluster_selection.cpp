#include "clusters/cluster_selection.h"

#include "lib/api/labels.h"
#include "lib/api/own_names.h"
#include "lib/base/contains.h"

namespace regatta::clusters {
namespace {

std::string selector_of(const api::MultiKueueConfig& config) {
  return config.metadata.annotation(std::string(api::annotations::select_clusters));
}

}  // namespace

ClusterSelection::ClusterSelection(kube::Informer<api::MultiKueueConfig>& configs,
                                   kube::Informer<api::MultiKueueCluster>& clusters)
    : configs_(configs), clusters_(clusters) {
  configs_.on_change([this](const api::ObjectKey& key) {
    resolve(key.name);
    tell();
  });
  clusters_.on_transition([this](const auto&, const auto& before, const auto& after) {
    if (selected_.empty()) return;
    const bool same = before && after && before->metadata.labels == after->metadata.labels &&
                      before->metadata.deleting() == after->metadata.deleting();
    if (same) return;
    resolve_all();
    tell();
  });
}

ClusterSelection::Config ClusterSelection::config(const std::string& name) const {
  const auto found = selected_.find(name);
  return found == selected_.end() ? configs_.get(api::ObjectKey(name)) : found->second.config;
}

std::optional<std::string> ClusterSelection::problem(const std::string& name) const {
  const auto found = selected_.find(name);
  if (found == selected_.end() || found->second.problem.empty()) return std::nullopt;
  return found->second.problem;
}

void ClusterSelection::resolve(const std::string& name) {
  const Config config = configs_.get(api::ObjectKey(name));
  const std::string text = config ? selector_of(*config) : std::string();
  if (text.empty()) {
    selected_.erase(name);
    return;
  }
  const auto selector = api::Selector::parse(text);
  if (!selector) {
    selected_[name] = {config, selector.error().what()};
    return;
  }
  auto whole = std::make_shared<api::MultiKueueConfig>(*config);
  std::vector<std::string>& names = whole->spec.clusters;
  for (const auto& cluster : clusters_.list()) {
    const api::ObjectMeta& metadata = cluster->metadata;
    if (metadata.deleting() || !selector->matches(metadata.labels)) continue;
    if (!contains(config->spec.clusters, metadata.name)) names.push_back(metadata.name);
  }
  selected_[name] = {std::move(whole), {}};
}

void ClusterSelection::resolve_all() {
  for (const auto& config : configs_.list()) resolve(config->metadata.name);
}

void ClusterSelection::tell() const {
  for (const auto& handler : handlers_) handler();
}

}  // namespace regatta::clusters
