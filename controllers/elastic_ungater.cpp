#include "controllers/elastic_ungater.h"

#include "controllers/ungated.h"
#include "lib/api/codec.h"
#include "lib/api/names.h"
#include "lib/kube/status.h"
#include "lifecycle/elastic_pods.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace regatta::controllers {
namespace {

/// Index of pods and of workloads: "namespace/name" of the first slice.
constexpr const char* by_slice = "slice";

std::string slice_of(const api::Pod& pod) {
  const std::string& name =
      pod.metadata.annotation(std::string(api::annotations::workload_slice_name));
  return name.empty() ? name : pod.metadata.ns + "/" + name;
}

kube::InformerOptions pods_of_jobs() {
  kube::InformerOptions options;
  options.label_selector = std::string(api::labels::pod_set);
  options.field_selector = "status.phase!=Succeeded,status.phase!=Failed";
  return options;
}

/// Keeps the gates of pods of elastic jobs, and only the metadata that names them for other pods.
void keep_gate(api::Pod& pod) {
  const bool elastic = !slice_of(pod).empty();
  api::PodSpec spec;
  if (elastic) spec.scheduling_gates = std::move(pod.spec.scheduling_gates);
  pod.spec = std::move(spec);
  pod.status = {std::move(pod.status.phase), {}, {}, {}, {}};
  if (elastic) return;
  pod.metadata.labels.clear();
  pod.metadata.annotations.clear();
}

}  // namespace

ElasticUngater::ElasticUngater(clusters::LocalCluster& cluster, kube::InformerDeps deps,
                               TaskScope& scope)
    : cluster_(cluster),
      scope_(scope),
      client_(deps.client),
      log_(cluster.log.named("elastic-ungater")),
      pods_(std::move(deps), pods_of_jobs(), keep_gate),
      queue_(cluster.clock, scope, Backoff{Duration(50), std::chrono::seconds(30)}, Intake::closed),
      wake_(scope.executor()) {
  pods_.add_index(by_slice, [](const api::Pod& pod) {
    const std::string slice = slice_of(pod);
    return slice.empty() ? std::vector<std::string>() : std::vector<std::string>{slice};
  });
  pods_.on_transition([this](const auto& key, const auto& before, const auto& after) {
    const api::Pod& pod = after ? *after : *before;
    const std::string& name =
        pod.metadata.annotation(std::string(api::annotations::workload_slice_name));
    if (!name.empty()) queue_.add(api::ObjectKey(key.ns, name));
  });
  cluster_.workloads.add_index(by_slice, [](const api::Workload& workload) {
    const std::string name = lifecycle::slice_name(workload);
    return name.empty() ? std::vector<std::string>()
                        : std::vector<std::string>{workload.metadata.ns + "/" + name};
  });
  cluster_.workloads.on_transition([this](const auto& key, const auto& before, const auto& after) {
    if (after && lifecycle::grants_pods(*after)) {
      needed_ = true;
      wake_.notify_all();
      queue_.add(api::ObjectKey(key.ns, lifecycle::slice_name(*after)));
    } else if (before && lifecycle::grants_pods(*before)) {
      // Another slice may decide on the pods now.
      queue_.add(api::ObjectKey(key.ns, lifecycle::slice_name(*before)));
    }
  });
}

void ElasticUngater::start() {
  queue_.open();
  for (const auto& workload : cluster_.workloads.list()) {
    if (!lifecycle::grants_pods(*workload)) continue;
    queue_.add(api::ObjectKey(workload->metadata.ns, lifecycle::slice_name(*workload)));
  }
  scope_.spawn("elastic-ungater", run());
}

Task<> ElasticUngater::run() {
  while (!needed_) co_await wake_.wait();
  scope_.spawn("informer pods of jobs", pods_.run());
  co_await pods_.wait_synced();
  for (int i = 0; i < 4; ++i) scope_.spawn("elastic-ungater", work());
}

Task<> ElasticUngater::work() {
  for (;;) {
    api::ObjectKey slice = co_await queue_.next();
    const Status done = co_await reconcile(slice);
    if (queue_.finish(slice, done)) {
      log_.warning("pods not ungated", {{"slice", slice.str()}, {"error", done.error().what()}});
    }
  }
}

Task<Status> ElasticUngater::reconcile(api::ObjectKey slice) {
  const auto workload = lifecycle::newest_grant(cluster_.workloads.by_index(by_slice, slice.str()));
  if (!workload) co_return ok();
  const auto pods = pods_.by_index(by_slice, slice.str());
  for (const lifecycle::PodPtr& pod : lifecycle::pods_to_release(*workload, pods)) {
    const api::ObjectKey key = pod->metadata.key();
    auto written = co_await client_.patch<api::Pod>(
        key, kube::PatchType::merge, dump_json(ungated(*pod, api::gates::elastic_job)));
    if (written) {
      pods_.observe(std::move(*written));
      continue;
    }
    // A pod that is gone needs no more. One that changed is decided on again when the watch shows
    // it.
    if (written.error().code() == Errc::not_found) continue;
    co_return written.error().within("pod " + key.str());
  }
  co_return ok();
}

}  // namespace regatta::controllers
