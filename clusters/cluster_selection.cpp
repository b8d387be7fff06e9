#include "clusters/cluster_selection.h"

#include "lib/api/selected_clusters.h"

namespace regatta::clusters {

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
  if (!config || !api::selects_clusters(*config)) {
    selected_.erase(name);
    return;
  }
  const auto clusters = clusters_.list();
  std::vector<const api::ObjectMeta*> all;
  for (const auto& cluster : clusters) all.push_back(&cluster->metadata);
  auto names = api::listed_clusters(*config, all);
  if (!names) {
    selected_[name] = {nullptr, names.error().what()};
    return;
  }
  auto whole = std::make_shared<api::MultiKueueConfig>(*config);
  whole->spec.clusters = std::move(*names);
  selected_[name] = {std::move(whole), {}};
}

void ClusterSelection::resolve_all() {
  for (const auto& config : configs_.list()) resolve(config->metadata.name);
}

void ClusterSelection::tell() const {
  for (const auto& handler : handlers_) handler();
}

}  // namespace regatta::clusters
