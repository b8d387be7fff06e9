#include "controllers/place_claims.h"

#include "clusters/lean_objects.h"
#include "lib/api/placed.h"
#include "lifecycle/elastic_pods.h"

#include <set>
#include <utility>

namespace regatta::controllers {
namespace {

/// Index of workloads that take places: the job that their pods name.
constexpr const char* by_job_with_places = "job-with-places";

/// Pods of a job are bound one after another, and are looked at together.
constexpr Duration batch{1000};
constexpr Duration time_to_end{10000};

std::string job_of(const api::Workload& workload) {
  const std::string slice = lifecycle::slice_name(workload);
  return workload.metadata.ns + "/" + (slice.empty() ? workload.metadata.name : slice);
}

bool claims_place(const api::Pod& pod) {
  return !pod.spec.node_name.empty() && api::placed_by_topology(pod.metadata.annotations);
}

}  // namespace

PlaceClaims::PlaceClaims(clusters::LocalCluster& cluster, TaskScope& scope,
                         lifecycle::TakenForAPod taken_for,
                         std::function<void(const api::ObjectKey&)> changed)
    : cluster_(cluster),
      scope_(scope),
      taken_for_(std::move(taken_for)),
      changed_(std::move(changed)),
      queue_(cluster.clock, scope, {}, Intake::closed) {
  cluster_.workloads.add_index(by_job_with_places, [](const api::Workload& workload) {
    return lifecycle::takes_places(workload) ? std::vector<std::string>{job_of(workload)}
                                             : std::vector<std::string>();
  });
  cluster_.workloads.on_transition([this](const auto&, const auto& before, const auto& after) {
    const bool had = before && lifecycle::takes_places(*before);
    const bool has = after && lifecycle::takes_places(*after);
    if (had == has && (!had || before->status.admission == after->status.admission)) return;
    const std::string job = job_of(after ? *after : *before);
    if (cluster_.pods.keys_by_index(clusters::by_bound_workload, job).empty()) return;
    if (had && started_) places_lost_[job] = cluster_.clock.steady();
    queue_.add_after(job, had ? time_to_end : batch);
  });
  cluster_.pods.on_transition([this](const auto&, const auto& before, const auto& after) {
    const api::Pod& pod = after ? *after : *before;
    const std::string job = clusters::first_slice_of(pod);
    if (job.empty() || !claims_place(pod)) return;
    if (before && after && before->spec == after->spec) return;
    queue_.add_after(job, batch);
  });
}

void PlaceClaims::start() {
  started_ = true;
  queue_.open();
  for (const auto& pod : cluster_.pods.list()) {
    const std::string job = clusters::first_slice_of(*pod);
    if (!job.empty() && claims_place(*pod)) queue_.add(job);
  }
  scope_.spawn("place-claims", work());
}

std::optional<admission::PodAmounts> PlaceClaims::beyond(const api::Pod& pod) const {
  if (!claims_place(pod)) return std::nullopt;
  const std::string job = clusters::first_slice_of(pod);
  if (job.empty()) return admission::pod_amounts(pod.spec);
  const auto pods = beyond_.find(job);
  if (pods == beyond_.end()) return std::nullopt;
  const auto found = pods->second.find(pod.metadata.key());
  if (found == pods->second.end()) return std::nullopt;
  return found->second;
}

Task<> PlaceClaims::work() {
  for (;;) {
    const std::string job = co_await queue_.next();
    look(job);
    queue_.done(job);
  }
}

void PlaceClaims::look(const std::string& job) {
  // Pods are listed before nodes.
  if (!cluster_.nodes.has_synced()) return queue_.add_after(job, batch);
  if (const auto lost = places_lost_.find(job); lost != places_lost_.end()) {
    const Duration past = cluster_.clock.steady() - lost->second;
    if (past < time_to_end) return queue_.add_after(job, time_to_end - past);
    places_lost_.erase(lost);
  }
  std::vector<lifecycle::PodPtr> pods = cluster_.pods.by_index(clusters::by_bound_workload, job);
  std::erase_if(pods, [](const auto& pod) { return !claims_place(*pod); });
  const auto labels_of = [this](const std::string& node) -> const api::StringMap* {
    const auto found = cluster_.nodes.get(api::ObjectKey(node));
    return found ? &found->metadata.labels : nullptr;
  };
  set_beyond(job, lifecycle::beyond_places(cluster_.workloads.by_index(by_job_with_places, job),
                                           std::move(pods), labels_of, taken_for_));
}

void PlaceClaims::set_beyond(const std::string& job, PodsBeyond pods) {
  const PodsBeyond before = std::exchange(beyond_[job], pods);
  if (pods.empty()) beyond_.erase(job);
  std::set<api::ObjectKey> changed;
  for (const auto& [pod, amounts] : before) {
    const auto now = pods.find(pod);
    if (now == pods.end() || now->second != amounts) changed.insert(pod);
  }
  for (const auto& [pod, amounts] : pods) {
    if (!before.contains(pod)) changed.insert(pod);
  }
  for (const api::ObjectKey& pod : changed) changed_(pod);
}

}  // namespace regatta::controllers
