#pragma once

#include "clusters/local_cluster.h"
#include "lib/api/placements.h"
#include "lib/runtime/wakeup.h"
#include "lib/runtime/work_queue.h"
#include "placement/choose.h"
#include "placement/decisions.h"
#include "placement/ledger.h"
#include "placement/reference.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace regatta::controllers {

struct PlacementConfig {
  /// Placements choose the workers of every workload of MultiKueue. Otherwise only of those with an
  /// admission check that names one.
  bool every_workload = false;
  placement::ChooseConfig choose;
  placement::LedgerConfig ledger;
  int workers = 4;
};

/// Where it reads, and how it writes: in the manager, or beside another program that dispatches.
struct PlacementDeps {
  kube::Informer<api::Workload>& workloads;
  kube::Informer<api::LocalQueue>& local_queues;
  kube::Informer<api::ClusterQueue>& cluster_queues;
  kube::Informer<api::AdmissionCheck>& checks;
  kube::Informer<api::MultiKueueCluster>& multikueue_clusters;
  clusters::ClusterSelection& selection;
  kube::InformerDeps informers;  ///< for those of its own
  kube::EventRecorder& events;
  TaskScope& scope;
  Log log;
  std::string system_namespace;
  /// The annotations of the job that owns the Workload; may be null.
  std::function<api::StringMap(const api::Workload&)> job_annotations;
  std::function<Task<Status>(api::ObjectKey, clusters::Wanted<api::WorkloadStatus>)> write_workload;
  std::function<Task<Status>(api::AdmissionCheck, api::AdmissionCheck)> write_check;
};

/// Lets Placements choose the workers of workloads: it writes status.nominatedClusterNames as they
/// decide, makes the checks of open-cluster-management.io/placement Ready with it, and keeps the
/// Active condition of those checks, unless OCM's add-on does. A workload that has a cluster is
/// never touched.
///
/// It watches nothing and makes no request before such a check exists, if `every_workload` is not
/// set, and no Placements before the cluster serves them.
class PlacementController {
 public:
  PlacementController(PlacementDeps deps, PlacementConfig config);
  void start();
  bool idle() const { return checks_.idle() && workloads_.idle(); }

 private:
  /// What a workload is to become, and what is said about it.
  struct Outcome {
    std::optional<api::WorkloadStatus> status;
    placement::Chosen chosen;
    bool nominated = false;  ///< the nominations change
    std::string text;        ///< of an Event; empty: there is nothing to say
  };

  Task<> run();
  Task<> follow_placements();
  Task<> follow_keys();
  Task<> until_served(std::string path, std::optional<bool>* served);
  Task<Result<bool>> serves(std::string path);
  Task<> make_room();
  Task<> work_on_checks();
  Task<> work_on_workloads();
  Task<Status> reconcile_check(std::string name);
  Task<Status> reconcile(api::ObjectKey key);
  void watch();
  void watch_decisions();

  const placement::Verdict& verdict_of(const placement::Reference& reference);
  placement::DecisionView view_of(const placement::Reference& reference) const;
  Result<std::vector<placement::Reference>> references_of(const api::Workload& workload) const;
  Outcome leave_on_hub(const api::Workload& workload) const;
  Outcome decide(const api::Workload& workload);
  Outcome refuse(const api::Workload& workload, std::string why) const;
  placement::ChooseInput input_of(const api::Workload& workload, const std::string& check,
                                  const std::vector<placement::Reference>& references,
                                  std::vector<std::string>* unknown);
  std::vector<placement::Member> members() const;
  /// The state of the workload's check of MultiKueue; null when there is none.
  const api::AdmissionCheckState* multikueue_check(const api::Workload& workload) const;
  bool is_of_other(const api::Workload& workload) const;
  bool goes_with_others(const api::Workload& workload) const;
  bool wants_clusters(const api::Workload& workload) const;
  bool waits(const api::Workload& workload) const;
  void say(const api::Workload& workload, const Outcome& outcome);
  void let_go(const api::ObjectKey& key);
  void wake_waiting(const std::vector<std::string>& freed);
  void decisions_changed();
  void remember(const api::PlacementDecision& decision);
  void concerns_all();

  PlacementDeps deps_;
  PlacementConfig config_;
  Clock& clock_;
  kube::Client& client_;
  kube::Informer<api::Placement> placements_;
  kube::Informer<api::PlacementDecision> decisions_;
  kube::Informer<api::ProfilePlacementDecision> profile_decisions_;
  std::set<std::string> ours_;  ///< checks that name Placements
  std::optional<bool> placements_served_, keys_served_;
  bool started_ = false;
  std::map<placement::Reference, placement::Verdict> verdicts_;  ///< until anything changes
  std::map<placement::Reference, std::vector<std::string>> last_known_;
  placement::Ledger ledger_;
  std::map<api::ObjectKey, std::string> told_;  ///< the last warning about a workload
  WorkQueue<std::string> checks_;
  WorkQueue<api::ObjectKey> workloads_;
  Wakeup wake_, waiting_;
};

}  // namespace regatta::controllers
