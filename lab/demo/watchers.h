#pragma once

#include "kubeconfig/connection.h"
#include "lab/demo/race.h"
#include "lab/federation/federation.h"
#include "lab/kinds/raced_kind.h"
#include "lib/kube/informer.h"
#include "lib/runtime/task_scope.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace regatta::lab {

/// Reports to a Race what happens on the hub and on every worker.
class Watchers {
 public:
  Watchers(FederationDeps deps, Race& race);

  /// Opens the watches; they end with `scope`.
  Status start(const Federation& federation, TaskScope& scope);
  Task<> wait_synced();

  kube::Client& client(const std::string& cluster) { return views_.at(cluster)->client(); }
  const kube::Informer<api::Workload>& hub_workloads() const;

  /// The number of objects from the hub that are still on workers.
  std::int64_t remote_objects() const;

 private:
  /// An object of a job of any kind.
  struct RacedJob {
    api::ObjectMeta metadata;
    api::ObjectKey job;
    JobSeen seen;
  };
  using Jobs = kube::ObjectInformer<RacedJob>;
  struct View {
    View(std::unique_ptr<kubeconfig::Connection> connection, const FederationDeps& deps,
         const std::vector<const RacedKind*>& kinds);
    kube::Client& client() { return connection->client(); }
    std::unique_ptr<kubeconfig::Connection> connection;
    kube::Informer<api::Workload> workloads;
    std::vector<std::unique_ptr<Jobs>> jobs;  ///< by kind
  };

  void follow_hub(View& view);
  void follow_worker(const std::string& name, View& view);

  FederationDeps deps_;
  Race& race_;
  std::string hub_;
  std::map<std::string, std::unique_ptr<View>> views_;
};

}  // namespace regatta::lab
