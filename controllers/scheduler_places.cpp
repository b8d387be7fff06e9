// The part of the scheduler that deals with topologies: nodes and pods on the way in; on the way
// out, places for the pods of workloads that have quota already.

#include "controllers/scheduler.h"
#include "lib/api/names.h"
#include "lib/kube/status.h"
#include "lifecycle/lifecycle.h"

#include <algorithm>

namespace regatta::controllers {
namespace {

bool same_for_placement(const api::Node& a, const api::Node& b) {
  return a.metadata.labels == b.metadata.labels && a.spec == b.spec && a.status == b.status;
}

bool same_for_placement(const api::Pod& a, const api::Pod& b) {
  return a.metadata.deletion_timestamp == b.metadata.deletion_timestamp && a.spec == b.spec &&
         a.status == b.status && a.metadata.annotations == b.metadata.annotations &&
         a.metadata.labels == b.metadata.labels;
}

/// Places are decided on for what the Workload had and had lost by then.
bool same_places(const api::Workload& a, const api::Workload& b) {
  return a.status.admission == b.status.admission &&
         a.status.unhealthy_nodes == b.status.unhealthy_nodes;
}

/// A node may have come back since the workload was decided on; then there may be places for it.
bool has_lost(const api::Workload& workload, const std::vector<std::string>& nodes) {
  const std::vector<std::string>& lost = workload.status.unhealthy_nodes;
  return std::all_of(nodes.begin(), nodes.end(), [&](const std::string& node) {
    return std::find(lost.begin(), lost.end(), node) != lost.end();
  });
}

}  // namespace

void Scheduler::watch_places() {
  Clock& clock = cluster_.clock;
  cluster_.topologies.on_transition([this](const auto& key, const auto&, const auto& after) {
    after ? state_.upsert(*after) : state_.erase_topology(key.name);
    changed();
  });
  cluster_.nodes.on_transition(
      [this, &clock](const auto& key, const auto& before, const auto& after) {
        if (before && after && same_for_placement(*before, *after)) return;
        after ? state_.upsert(*after, clock.now()) : state_.erase_node(key.name, clock.now());
        changed();
      });
  cluster_.pods.on_transition(
      [this, &clock](const auto& key, const auto& before, const auto& after) {
        if (before && after && same_for_placement(*before, *after)) return;
        after ? count(*after) : state_.erase_pod(key, clock.now());
        changed();
      });
}

void Scheduler::count(const api::Pod& pod) {
  const TimePoint now = cluster_.clock.now();
  const auto beyond = claims_.beyond(pod);
  beyond ? state_.upsert(pod, *beyond, now) : state_.upsert(pod, now);
}

void Scheduler::apply_places(const admission::CycleResult& result) {
  for (const admission::AdmittedWorkload& placed : result.placed) {
    ++writing_;
    scope_.spawn("place", place(placed, cluster_.workloads.get(placed.key)));
  }
  for (const admission::EvictedWorkload& evicted : result.evicted) {
    ++writing_;
    scope_.spawn("evict", evict_unplaced(evicted));
  }
  for (const admission::PendingWorkload& unplaced : result.unplaced) {
    note(unplaced.key, true, std::string(api::events::second_pass_failed), unplaced.message);
  }
}

Task<> Scheduler::place(admission::AdmittedWorkload placed, WorkloadPtr decided_on) {
  const TimePoint now = cluster_.clock.now();
  bool admitted = false;
  bool done = false;
  std::string version;
  const clusters::Wanted<api::WorkloadStatus> wanted =
      [&](const api::Workload& workload) -> std::optional<api::WorkloadStatus> {
    done = admitted = false;
    version = workload.metadata.resource_version;
    if (!holds_its_quota(workload, placed.uid)) return {};
    if (!decided_on || !same_places(workload, *decided_on)) return {};
    api::WorkloadStatus status = lifecycle::place(workload, placed.admission, now);
    admitted = !lifecycle::is_admitted(workload) &&
               api::is_true(status.conditions, api::conditions::admitted);
    done = true;
    return status;
  };
  const Status written = co_await write_until_known(placed.key, wanted, version);
  --writing_;
  co_await settle({placed.key, placed.uid, placed.decision, done, "PlacesNotWritten"}, version,
                  written);
  const auto stored = cluster_.workloads.get(placed.key);
  if (!written || !admitted || !stored) co_return;
  const auto* reserved =
      api::find_condition(stored->status.conditions, api::conditions::quota_reserved);
  const Duration waited = reserved ? now - reserved->last_transition_time : Duration(0);
  note(placed.key, false, "Admitted", lifecycle::admitted_message(placed.cluster_queue, waited));
  if (config_.on_reserved) config_.on_reserved(*stored, true);
}

Task<> Scheduler::evict_unplaced(admission::EvictedWorkload evicted) {
  const TimePoint now = cluster_.clock.now();
  std::vector<lifecycle::Note> notes;
  std::string version;
  const auto wanted = [&](const api::Workload& workload) -> std::optional<api::WorkloadStatus> {
    notes.clear();
    version = workload.metadata.resource_version;
    if (!holds_its_quota(workload, evicted.uid) || !has_lost(workload, evicted.lost)) return {};
    lifecycle::StatusChange change =
        lifecycle::evict(workload, evicted.reason, evicted.message, now);
    notes = std::move(change.notes);
    return std::move(change.status);
  };
  const Status written = co_await cluster_.update_status(evicted.key, wanted);
  --writing_;
  co_await settle({evicted.key, evicted.uid, evicted.decision, true, "EvictionNotWritten"}, version,
                  written);
  if (!written) co_return;
  for (lifecycle::Note& one : notes) note(evicted.key, one.warning, one.reason, one.message);
}

Task<> Scheduler::settle(PlacesDecided decided, std::string version, Status written) {
  Duration pause{0};
  if (written) {
    failures_.erase(decided.uid);
  } else {
    log_.warning("what was decided about places is not written",
                 {{"workload", decided.key.str()}, {"error", written.error().what()}});
    pause = co_await pause_after(decided.key, decided.uid, std::move(version), written.error(),
                                 decided.event);
  }
  const auto known = cluster_.workloads.get(decided.key);
  if (known && (!written || !decided.done)) {
    state_.give_up_places(*known, decided.decision, cluster_.clock.now());
    changed();
  }
  if (pause > Duration(0)) co_await sit_out(decided.key, pause);
  // The state follows the API's object, also when nothing was written.
  const auto stored = cluster_.workloads.get(decided.key);
  if (stored) state_.settle_places(*stored, decided.decision, cluster_.clock.now());
  changed();
}

}  // namespace regatta::controllers
