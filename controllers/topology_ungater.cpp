#include "controllers/topology_ungater.h"

#include "clusters/lean_objects.h"
#include "controllers/ungated.h"
#include "lib/api/codec.h"
#include "lib/api/names.h"
#include "lib/api/placed.h"
#include "lib/runtime/deadline.h"

#include <nlohmann/json.hpp>

namespace regatta::controllers {
namespace {

constexpr std::size_t patches_at_once = 16;

std::string ungate_patch(const lifecycle::Ungate& ungate) {
  Json patch = ungated(*ungate.pod, api::gates::topology);
  patch["spec"]["nodeSelector"] = ungate.node_selector;
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
    std::vector<Task<Status>> tasks;
    for (std::size_t i = done; i < end; ++i) {
      tasks.push_back(ungate(std::move((*plan)[i]), workload));
    }
    const auto outcomes =
        co_await answers_before(cluster_.clock, SteadyPoint::max(), std::move(tasks));
    for (const std::optional<Status>& outcome : outcomes) {
      if (outcome && !*outcome && first) first = *outcome;
    }
  }
  co_return first;
}

Task<Status> TopologyUngater::ungate(lifecycle::Ungate ungate,
                                     std::shared_ptr<const api::Workload> workload) {
  const api::ObjectKey key = ungate.pod->metadata.key();
  const Status written = co_await cluster_.patch_pod(key, ungate_patch(ungate));
  if (!written && written.error().code() == Errc::not_found) co_return ok();
  if (!written) co_return written.error().within("pod " + key.str());
  const api::Condition* admitted =
      api::find_condition(workload->status.conditions, api::conditions::admitted);
  if (!config_.on_ungated || !admitted) co_return ok();
  const bool group = !ungate.pod->metadata.label(std::string(api::labels::pod_group_name)).empty();
  config_.on_ungated({workload->status.admission->cluster_queue, group,
                      cluster_.clock.now() - admitted->last_transition_time});
  co_return ok();
}

}  // namespace regatta::controllers
