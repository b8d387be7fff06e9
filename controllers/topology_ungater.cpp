#include "controllers/topology_ungater.h"

#include "clusters/lean_objects.h"
#include "lib/api/codec.h"
#include "lib/api/names.h"
#include "lib/api/placed.h"
#include "lib/kube/status.h"
#include "lib/runtime/deadline.h"

#include <nlohmann/json.hpp>

namespace regatta::controllers {
namespace {

constexpr std::size_t patches_at_once = 16;

std::string ungate_patch(const lifecycle::Ungate& ungate) {
  const api::Pod& pod = *ungate.pod;
  Json gates = Json::array();
  for (const std::string& gate : pod.spec.scheduling_gates) {
    if (gate != api::gates::topology) gates.push_back({{"name", gate}});
  }
  Json patch = Json::object();
  patch["metadata"] = {{"uid", pod.metadata.uid},
                       {"resourceVersion", pod.metadata.resource_version}};
  patch["spec"] = {{"schedulingGates", std::move(gates)}, {"nodeSelector", ungate.node_selector}};
  return dump_json(patch);
}

/// "namespace/name" as a key.
std::optional<api::ObjectKey> key_of(const std::string& workload) {
  const std::size_t slash = workload.find('/');
  if (slash == std::string::npos) return std::nullopt;
  return api::ObjectKey(workload.substr(0, slash), workload.substr(slash + 1));
}

}  // namespace

TopologyUngater::TopologyUngater(clusters::LocalCluster& cluster, TaskScope& scope,
                                 TopologyUngaterConfig config)
    : cluster_(cluster),
      scope_(scope),
      config_(std::move(config)),
      log_(cluster.log.named("ungater")),
      queue_(cluster.clock, scope, Backoff{Duration(50), std::chrono::seconds(30)},
             Intake::closed) {
  cluster_.workloads.on_transition([this](const auto& key, const auto&, const auto& after) {
    if (after && lifecycle::has_places(*after)) queue_.add(key);
  });
  cluster_.pods.on_transition([this](const auto&, const auto& before, const auto& after) {
    const api::Pod& pod = after ? *after : *before;
    if (!api::placed_by_topology(pod.metadata.annotations)) return;
    if (const auto key = key_of(clusters::workload_of(pod))) queue_.add_after(*key, config_.batch);
  });
}

void TopologyUngater::start() {
  queue_.open();
  for (const auto& workload : cluster_.workloads.list()) {
    if (lifecycle::has_places(*workload)) queue_.add(workload->metadata.key());
  }
  for (int i = 0; i < config_.workers; ++i) scope_.spawn("ungater", work());
}

Task<> TopologyUngater::work() {
  for (;;) {
    api::ObjectKey key = co_await queue_.next();
    const Status done = co_await reconcile(key);
    if (queue_.finish(key, done)) {
      log_.warning("pods not ungated", {{"workload", key.str()}, {"error", done.error().what()}});
    }
  }
}

Task<Status> TopologyUngater::reconcile(api::ObjectKey key) {
  const auto workload = cluster_.workloads.get(key);
  if (!workload || !lifecycle::has_places(*workload)) co_return ok();
  const auto pods = cluster_.pods.by_index(clusters::by_pods_workload, key.str());
  Result<std::vector<lifecycle::Ungate>> plan = lifecycle::plan_ungating(*workload, pods);
  if (!plan) co_return plan.error();
  Status first = ok();
  for (std::size_t done = 0; done < plan->size(); done += patches_at_once) {
    const std::size_t end = std::min(plan->size(), done + patches_at_once);
    std::vector<Status> outcomes(end - done, ok());
    std::vector<Task<>> tasks;
    for (std::size_t i = done; i < end; ++i) {
      tasks.push_back(ungate(std::move((*plan)[i]), workload, &outcomes[i - done]));
    }
    co_await all_of(std::move(tasks));
    for (const Status& outcome : outcomes) {
      if (!outcome && first) first = outcome;
    }
  }
  co_return first;
}

Task<> TopologyUngater::ungate(lifecycle::Ungate ungate,
                               std::shared_ptr<const api::Workload> workload, Status* outcome) {
  api::ObjectKey key = ungate.pod->metadata.key();
  std::string patch = ungate_patch(ungate);
  auto written =
      co_await cluster_.client.patch<api::Pod>(key, kube::PatchType::merge, std::move(patch));
  if (!written) {
    if (written.error().code() == Errc::not_found) co_return;
    *outcome = written.error().within("pod " + key.str());
    const bool unsure =
        written.error().code() == Errc::conflict || kube::may_have_happened(written.error());
    if (unsure) co_await refresh(std::move(key));
    co_return;
  }
  cluster_.pods.observe(std::move(*written));
  const api::Condition* admitted =
      api::find_condition(workload->status.conditions, api::conditions::admitted);
  if (!config_.on_ungated || !admitted) co_return;
  const bool group = !ungate.pod->metadata.label(std::string(api::labels::pod_group_name)).empty();
  config_.on_ungated({workload->status.admission->cluster_queue, group,
                      cluster_.clock.now() - admitted->last_transition_time});
}

/// Reads a pod that is outdated in the store, or may be, so that the next decision sees it as it
/// is.
Task<> TopologyUngater::refresh(api::ObjectKey pod) {
  auto current = co_await cluster_.client.get<api::Pod>(std::move(pod));
  if (!current) co_return;
  const bool ended = current->status.phase == "Succeeded" || current->status.phase == "Failed";
  if (!ended) cluster_.pods.observe(std::move(*current));
}

}  // namespace regatta::controllers
