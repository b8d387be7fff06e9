#include "controllers/elastic_ungater.h"

#include "controllers/lifecycle.h"
#include "jobs/elastic.h"
#include "lib/api/codec.h"
#include "lib/api/names.h"
#include "lib/kube/status.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace regatta::controllers {
namespace {

/// Index of pods and of workloads: "namespace/name" of the first slice.
constexpr const char* by_slice = "slice";

bool gated(const api::Pod& pod) {
  const auto& gates = pod.spec.scheduling_gates;
  return std::find(gates.begin(), gates.end(), api::gates::elastic_job) != gates.end();
}

bool over(const api::Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

std::string slice_of(const api::Pod& pod) {
  const std::string& name =
      pod.metadata.annotation(std::string(api::annotations::workload_slice_name));
  return name.empty() ? name : pod.metadata.ns + "/" + name;
}

std::string release_patch(const api::Pod& pod) {
  Json gates = Json::array();
  for (const std::string& gate : pod.spec.scheduling_gates) {
    if (gate != api::gates::elastic_job) gates.push_back({{"name", gate}});
  }
  Json patch = Json::object();
  patch["metadata"] = {{"uid", pod.metadata.uid},
                       {"resourceVersion", pod.metadata.resource_version}};
  patch["spec"] = {{"schedulingGates", std::move(gates)}};
  return dump_json(patch);
}

kube::InformerOptions pods_of_jobs() {
  kube::InformerOptions options;
  options.label_selector = std::string(api::labels::pod_set);
  options.field_selector = "status.phase!=Succeeded,status.phase!=Failed";
  return options;
}

/// Of other pods nothing is kept but their names.
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

std::string slice_name(const api::Workload& workload) {
  if (workload.metadata.annotation(std::string(api::annotations::elastic_job)) != "true") return {};
  const std::string& first =
      workload.metadata.annotation(std::string(api::annotations::workload_slice_name));
  return first.empty() ? workload.metadata.name : first;
}

bool grants_pods(const api::Workload& workload) {
  return !slice_name(workload).empty() && is_reserved(workload) && is_admitted(workload) &&
         !is_finished(workload) && !is_evicted(workload);
}

std::vector<PodPtr> pods_to_release(const api::Workload& workload,
                                    const std::vector<PodPtr>& pods) {
  std::map<std::string, std::int64_t> room;
  for (const api::PodSet& pod_set : workload.spec.pod_sets) room[pod_set.name] = pod_set.count;
  const std::string label(api::labels::pod_set);
  std::vector<PodPtr> waiting;
  for (const PodPtr& pod : pods) {
    if (over(*pod)) continue;
    if (gated(*pod)) {
      if (!pod->metadata.deleting()) waiting.push_back(pod);
    } else {
      --room[pod->metadata.label(label)];
    }
  }
  std::sort(waiting.begin(), waiting.end(), [](const PodPtr& a, const PodPtr& b) {
    return std::pair(a->metadata.creation_timestamp, a->metadata.name) <
           std::pair(b->metadata.creation_timestamp, b->metadata.name);
  });
  std::erase_if(waiting, [&](const PodPtr& pod) { return --room[pod->metadata.label(label)] < 0; });
  return waiting;
}

ElasticUngater::ElasticUngater(clusters::LocalCluster& cluster, kube::InformerDeps deps,
                               TaskScope& scope)
    : cluster_(cluster),
      scope_(scope),
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
    const std::string name = slice_name(workload);
    return name.empty() ? std::vector<std::string>()
                        : std::vector<std::string>{workload.metadata.ns + "/" + name};
  });
  cluster_.workloads.on_transition([this](const auto& key, const auto& before, const auto& after) {
    if (after && grants_pods(*after)) {
      needed_ = true;
      wake_.notify_all();
      queue_.add(api::ObjectKey(key.ns, slice_name(*after)));
    } else if (before && grants_pods(*before)) {
      // Another slice may be the one that counts now.
      queue_.add(api::ObjectKey(key.ns, slice_name(*before)));
    }
  });
}

void ElasticUngater::start() {
  queue_.open();
  for (const auto& workload : cluster_.workloads.list()) {
    if (!grants_pods(*workload)) continue;
    queue_.add(api::ObjectKey(workload->metadata.ns, slice_name(*workload)));
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

std::shared_ptr<const api::Workload> newest_grant(
    const std::vector<std::shared_ptr<const api::Workload>>& slices) {
  std::vector<std::shared_ptr<const api::Workload>> granting;
  for (const auto& slice : slices) {
    if (grants_pods(*slice)) granting.push_back(slice);
  }
  jobs::sort_by_age(&granting, slices);
  return granting.empty() ? nullptr : granting.back();
}

Task<Status> ElasticUngater::reconcile(api::ObjectKey slice) {
  const auto workload = newest_grant(cluster_.workloads.by_index(by_slice, slice.str()));
  if (!workload) co_return ok();
  const auto pods = pods_.by_index(by_slice, slice.str());
  for (const PodPtr& pod : pods_to_release(*workload, pods)) {
    const api::ObjectKey key = pod->metadata.key();
    auto written =
        co_await cluster_.client.patch<api::Pod>(key, kube::PatchType::merge, release_patch(*pod));
    if (written) {
      pods_.observe(std::move(*written));
      continue;
    }
    // One that is gone, or changed meanwhile, is decided on anew when the watch has told.
    if (written.error().code() == Errc::not_found) continue;
    co_return written.error().within("pod " + key.str());
  }
  co_return ok();
}

}  // namespace regatta::controllers
