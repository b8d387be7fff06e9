#include "dispatch/admission_times.h"

#include "lib/api/names.h"

#include <algorithm>

namespace regatta::dispatch {

void AdmissionTimes::note(const std::string& cluster, const api::Workload& copy,
                          const api::Workload* original) {
  if (!original || original->spec.queue_name != copy.spec.queue_name) return;
  const api::Conditions& all = copy.status.conditions;
  const api::Condition* admitted = api::find_condition(all, api::conditions::admitted);
  const auto& made = copy.metadata.creation_timestamp;
  if (!made || !admitted || admitted->status != api::ConditionStatus::True) return;
  if (api::find_condition(all, api::conditions::evicted)) return;
  if (!learned_[copy.metadata.key()].insert(cluster).second) return;
  usual_[cluster][{copy.metadata.ns, copy.spec.queue_name}].add(
      std::max(Duration(0), admitted->last_transition_time - *made));
}

std::optional<Duration> AdmissionTimes::usual(const std::string& cluster,
                                              const api::ObjectKey& local_queue) const {
  const auto known = usual_.find(cluster);
  if (known == usual_.end()) return std::nullopt;
  const auto found = known->second.find(local_queue);
  return found == known->second.end() ? std::nullopt : found->second.value();
}

}  // namespace regatta::dispatch
