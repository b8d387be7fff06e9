#pragma once

#include "lib/api/multikueue.h"
#include "lib/kube/informer.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regatta::clusters {

/// MultiKueueConfigs as they count. The API lets spec.clusters name 20 workers; the annotation
/// multikueue.regatta.dev/select-clusters, a label selector, adds every MultiKueueCluster that it
/// matches, in the order of their names, after those that are named.
class ClusterSelection {
 public:
  using Config = std::shared_ptr<const api::MultiKueueConfig>;

  /// Follows both informers, which must outlive it and do not run yet. Its handlers come before
  /// those that are added later, so that they find what the change has led to.
  ClusterSelection(kube::Informer<api::MultiKueueConfig>& configs,
                   kube::Informer<api::MultiKueueCluster>& clusters);
  ClusterSelection(const ClusterSelection&) = delete;

  /// Null when there is none. Its spec.clusters has those that are selected, too.
  Config config(const std::string& name) const;
  /// Why the annotation of that config cannot be read: nothing is selected then. nullopt: it can.
  std::optional<std::string> problem(const std::string& name) const;
  /// `handler` runs when a config, or what it selects, changed.
  void on_change(std::function<void()> handler) { handlers_.push_back(std::move(handler)); }

 private:
  struct Selected {
    Config config;  ///< null: its selector cannot be read, and `problem` says why
    std::string problem;
  };
  void resolve(const std::string& name);
  void resolve_all();
  void tell() const;

  kube::Informer<api::MultiKueueConfig>& configs_;
  kube::Informer<api::MultiKueueCluster>& clusters_;
  std::map<std::string, Selected> selected_;  ///< configs with the annotation
  std::vector<std::function<void()>> handlers_;
};

}  // namespace regatta::clusters
