#include "lifecycle/elastic_pods.h"

#include "jobs/elastic.h"
#include "lib/api/names.h"
#include "lifecycle/lifecycle.h"

#include <algorithm>
#include <map>

namespace regatta::lifecycle {
namespace {

bool gated(const api::Pod& pod) {
  const auto& gates = pod.spec.scheduling_gates;
  return std::find(gates.begin(), gates.end(), api::gates::elastic_job) != gates.end();
}

bool over(const api::Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
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

std::shared_ptr<const api::Workload> newest_grant(
    const std::vector<std::shared_ptr<const api::Workload>>& slices) {
  std::vector<std::shared_ptr<const api::Workload>> granting;
  for (const auto& slice : slices) {
    if (grants_pods(*slice)) granting.push_back(slice);
  }
  granting = jobs::by_age(std::move(granting), slices);
  return granting.empty() ? nullptr : granting.back();
}

}  // namespace regatta::lifecycle
