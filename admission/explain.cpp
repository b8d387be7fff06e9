#include "admission/explain.h"

#include "admission/entry.h"
#include "admission/explain_flavors.h"
#include "lib/api/names.h"

#include <algorithm>
#include <array>

namespace regatta::admission {
namespace {

/// While it lives, the workload has no ScanProgress.
class ForgottenProgress {
 public:
  ForgottenProgress(CycleAccess& access, WorkloadId id)
      : access_(access), id_(id), progress_(access.take_progress(id)) {}
  ~ForgottenProgress() { access_.set_progress(id_, std::move(progress_)); }
  ForgottenProgress(const ForgottenProgress&) = delete;
  ForgottenProgress& operator=(const ForgottenProgress&) = delete;

 private:
  CycleAccess& access_;
  WorkloadId id_;
  std::unique_ptr<ScanProgress> progress_;
};

std::optional<api::Condition> condition(const api::Workload& workload, std::string_view type,
                                        api::ConditionStatus status) {
  const api::Condition* found = api::find_condition(workload.status.conditions, type);
  if (found == nullptr || found->status != status) return std::nullopt;
  return *found;
}

std::optional<TimePoint> since(const api::Workload& workload, std::string_view type) {
  const auto found = condition(workload, type, api::ConditionStatus::True);
  return found ? std::optional(found->last_transition_time) : std::nullopt;
}

std::string why_cyclic(const QuotaForest& forest, NodeId queue) {
  if (forest.leads_into_circle(queue)) return "the parents of its Cohort lead into a circle";
  return "in the tree of its Cohort more than " + std::to_string(cohorts_in_a_row_max) +
         " Cohorts stand one below another";
}

class Explainer {
 public:
  Explainer(State& state, const api::Workload& workload, TimePoint now)
      : access_(state),
        reader_(state.reader()),
        workload_(workload),
        now_(now),
        id_(reader_.workloads().find(workload.metadata.key())) {}

  Explanation run() {
    read_workload();
    read_queues();
    out_.standing = standing();
    if (out_.standing < Standing::no_local_queue) return std::move(out_);
    read_line();
    const bool may_have_turn = out_.standing >= Standing::backoff;
    if (may_have_turn) nominate();
    return std::move(out_);
  }

 private:
  const WorkloadEntry* entry() const { return id_ == no_id ? nullptr : &access_.workloads()[id_]; }
  const QueueInfo* queue() const { return access_.find_queue(out_.cluster_queue); }
  const LocalQueueInfo* local_queue() const {
    if (id_ == no_id || entry()->local_queue == no_id) return nullptr;
    return &access_.local_queue(entry()->local_queue);
  }

  void read_workload() {
    const auto read = [&](std::string_view type, api::ConditionStatus status) {
      return condition(workload_, type, status);
    };
    using api::ConditionStatus;
    namespace conditions = api::conditions;
    out_.key = workload_.metadata.key();
    out_.priority = workload_.spec.priority.value_or(0);
    out_.created = workload_.metadata.creation_timestamp;
    out_.local_queue = workload_.spec.queue_name;
    out_.end = read(conditions::finished, ConditionStatus::True);
    out_.last_pending = read(conditions::quota_reserved, ConditionStatus::False);
    out_.last_eviction = read(conditions::evicted, ConditionStatus::True);
    out_.last_preemption = read(conditions::preempted, ConditionStatus::True);
    out_.reserved_at = since(workload_, conditions::quota_reserved);
    out_.admitted_at = since(workload_, conditions::admitted);
    if (workload_.status.requeue_state) {
      out_.requeue_at = workload_.status.requeue_state->requeue_at;
      out_.requeues = workload_.status.requeue_state->count.value_or(0);
    }
    read_checks();
    read_held();
  }

  void read_checks() {
    for (const std::string& name : reader_.required_checks(workload_)) {
      CheckView& check = out_.checks.emplace_back();
      check.name = name;
      const api::AdmissionCheckState* known = api::find_check(workload_.status, name);
      if (known == nullptr) continue;
      check.state = known->state;
      check.message = known->message;
      if (known->last_transition_time != TimePoint{}) check.since = known->last_transition_time;
      check.requeue_after_seconds = known->requeue_after_seconds;
      check.retries = known->retry_count.value_or(0);
    }
  }

  /// Prefers an assumed reservation of State, which is newer than the object that was read.
  void read_held() {
    std::optional<api::Admission> admission = workload_.status.admission;
    if (id_ != no_id && entry()->reservation != nullptr) {
      const Reservation& held = *entry()->reservation;
      if (held.queue != no_id && held.assumed) {
        admission =
            to_api(held, access_.queue(held.queue).name, access_.names(), access_.topologies());
        out_.reserved_at = held.reserved_at;
      }
    }
    if (!admission) return;
    out_.cluster_queue = admission->cluster_queue;
    for (const api::PodSetAssignment& assignment : admission->pod_set_assignments) {
      PodSetHeld& held = out_.held.emplace_back();
      held.name = assignment.name;
      held.count = assignment.count.value_or(0);
      held.flavors = assignment.flavors;
      held.usage = assignment.resource_usage;
      if (assignment.topology_assignment) {
        Result<TopologyDomains> places = expand(*assignment.topology_assignment);
        if (places) held.places = std::move(*places);
      }
    }
  }

  void read_queues() {
    const api::ObjectKey key(workload_.metadata.ns, workload_.spec.queue_name);
    const LocalQueueInfo* local = local_queue();
    if (local != nullptr && local->exists) {
      out_.local_queue_activity = reader_.local_queue_activity(key);
      if (out_.cluster_queue.empty()) out_.cluster_queue = local->spec.cluster_queue;
    }
    const QueueInfo* found = queue();
    if (found == nullptr) return;
    out_.queue_activity = reader_.activity(found->name);
    out_.strict_fifo = found->spec.queueing_strategy == api::QueueingStrategy::StrictFIFO;
    out_.preemption = found->spec.preemption;
    if (!access_.forest().node(found->node).cyclic) out_.path = access_.forest().path(found->node);
  }

  Standing standing() {
    if (out_.end) return Standing::finished;
    const bool assumed = id_ != no_id && entry()->place == Place::reserved;
    if (assumed || out_.reserved_at) {
      if (out_.last_eviction) return Standing::evicted;
      const bool admitted = assumed && entry()->reservation->admitted;
      return admitted || out_.admitted_at ? Standing::admitted : Standing::waits_for_checks;
    }
    const auto held_back = standing_of_object();
    if (held_back) return *held_back;
    const auto no_queue = standing_of_queues();
    if (no_queue) return *no_queue;
    if (const auto refused = standing_of_nomination()) return *refused;
    const bool later = out_.requeue_at && *out_.requeue_at > now_;
    return later || entry()->requeued_false ? Standing::backoff : Standing::fits;
  }

  std::optional<Standing> standing_of_object() {
    if (!workload_.spec.active) return Standing::inactive;
    if (out_.last_pending && out_.last_pending->reason == api::reasons::on_hold) {
      return Standing::on_hold;
    }
    out_.detail = workload_.metadata.annotation(std::string(api::annotations::admission_gated_by));
    if (!out_.detail.empty()) return Standing::gated;
    const bool replacing =
        api::is_true(workload_.status.conditions, api::conditions::waiting_for_replacement_pods);
    if (replacing) return Standing::waits_for_replacement_pods;
    return std::nullopt;
  }

  std::optional<Standing> standing_of_queues() {
    const LocalQueueInfo* local = local_queue();
    if (local == nullptr || !local->exists) return Standing::no_local_queue;
    if (local->spec.stop_policy != api::StopPolicy::None) return Standing::local_queue_stopped;
    const QueueInfo* found = queue();
    if (found == nullptr) return Standing::no_cluster_queue;
    if (access_.forest().node(found->node).cyclic) {
      out_.detail = why_cyclic(access_.forest(), found->node);
      return Standing::cluster_queue_inactive;
    }
    if (!found->active) return Standing::cluster_queue_inactive;
    return std::nullopt;
  }

  /// Checks what a cycle checks before it searches for flavors.
  std::optional<Standing> standing_of_nomination() {
    const WorkloadEntry& workload = *entry();
    if (workload.failed_checks) return Standing::failed_checks;
    const api::StringMap* labels = access_.namespace_labels(workload.key.ns);
    if (labels == nullptr) return Standing::namespace_missing;
    if (!queue()->namespaces || !queue()->namespaces->matches(*labels)) {
      out_.detail = queue()->namespaces ? queue()->namespaces->str() : "";
      return Standing::namespace_mismatch;
    }
    if (!workload.shape->invalid.empty()) {
      out_.detail = workload.shape->invalid;
      return Standing::misconfigured;
    }
    return std::nullopt;
  }

  void read_line() {
    const QueueInfo* found = queue();
    if (found == nullptr || id_ == no_id) return;
    const PendingQueue& pending = found->pending;
    out_.sticky = pending.sticky() == id_;
    out_.parked = is_parked(*entry());
    const api::ObjectKey* like = out_.parked ? pending.parked_by(*entry()) : nullptr;
    if (like != nullptr && *like != out_.key) out_.parked_like = *like;
    if (entry()->place != Place::queued && entry()->place != Place::delayed) return;
    bool met = false;
    LinePlace whole, local;
    for (const WorkloadId id : pending.all_in_order()) {
      const WorkloadEntry& other = access_.workloads()[id];
      const bool same_local = other.local_queue == entry()->local_queue;
      ++whole.of;
      local.of += same_local;
      if (met) continue;
      ++whole.place;
      local.place += same_local;
      met = id == id_;
      if (!met && out_.ahead.size() < explain_names_max) out_.ahead.push_back(other.key);
    }
    out_.in_cluster_queue = whole;
    out_.in_local_queue = local;
  }

  void nominate() {
    const ForgottenProgress forgotten(access_, id_);
    Trial trial(access_);
    Entry found;
    found.id = id_;
    found.queue = queue()->id;
    nominate_flavors(trial, &found, nullptr, now_);
    access_.set_progress(id_, nullptr);
    const ExplainContext context{trial, id_, *queue(), now_};
    out_.tries = try_flavors(context, found.assignment);
    read_outcome(found);
  }

  void read_outcome(const Entry& found) {
    const AssignmentMode mode = found.assignment.mode();
    std::int32_t wanted = 0;
    std::int32_t given = 0;
    for (const PodSetPlan& plan : found.assignment.pod_sets) {
      wanted += plan.shape->count;
      given += plan.count;
    }
    if (given < wanted) out_.fewer_pods = given;
    for (const Target& target : found.targets) {
      out_.victims.push_back({holder_of(access_, target.id, std::nullopt), target.reason});
    }
    if (mode != AssignmentMode::fit) {
      out_.reason = name_of(found.assignment.reason());
      out_.message = found.assignment.message(access_.names());
    }
    if (mode == AssignmentMode::preempt) out_.reason = api::reasons::waiting_for_quota;
    if (out_.standing == Standing::fits) out_.standing = standing_of(found);
  }

  static bool lacks_places(const Entry& found) {
    for (const PodSetPlan& plan : found.assignment.pod_sets) {
      for (const FlavorNote& note : plan.notes) {
        if (note.kind == FlavorNote::Kind::no_places) return true;
      }
    }
    return false;
  }

  Standing standing_of(const Entry& found) const {
    const AssignmentMode mode = found.assignment.mode();
    if (mode == AssignmentMode::fit && access_.config().block_admission &&
        access_.not_ready() > 0) {
      return Standing::waits_for_pods_ready;
    }
    if (mode == AssignmentMode::fit || mode == AssignmentMode::deferred_fit) return Standing::fits;
    if (mode == AssignmentMode::preempt) {
      if (found.targets.empty()) {
        return lacks_places(found) ? Standing::topology_placement_failed
                                   : Standing::waits_for_quota;
      }
      const bool all_leave =
          std::all_of(out_.victims.begin(), out_.victims.end(),
                      [](const Victim& victim) { return victim.holder.evicted; });
      return all_leave ? Standing::waits_for_preempted : Standing::preempts;
    }
    switch (found.assignment.reason()) {
      case NoFitReason::topology_placement_failed:
        return Standing::topology_placement_failed;
      case NoFitReason::waiting_for_quota:
        return Standing::waits_for_quota;
      case NoFitReason::exceeds_max_quota:
        return Standing::exceeds_quota;
      case NoFitReason::no_matching_flavor:
        break;
    }
    return Standing::no_flavor;
  }

  CycleAccess access_;
  StatusReader reader_;
  const api::Workload& workload_;
  TimePoint now_;
  WorkloadId id_;
  Explanation out_;
};

}  // namespace

std::string_view name_of(Standing standing) {
  static constexpr std::array<std::string_view, 25> names = {
      "finished",
      "evicted",
      "admitted",
      "waits_for_checks",
      "inactive",
      "on_hold",
      "gated",
      "waits_for_replacement_pods",
      "no_local_queue",
      "local_queue_stopped",
      "no_cluster_queue",
      "cluster_queue_inactive",
      "failed_checks",
      "namespace_missing",
      "namespace_mismatch",
      "misconfigured",
      "backoff",
      "fits",
      "preempts",
      "waits_for_preempted",
      "waits_for_quota",
      "exceeds_quota",
      "no_flavor",
      "topology_placement_failed",
      "waits_for_pods_ready",
  };
  return names[static_cast<std::size_t>(standing)];
}

std::string_view name_of(FlavorVerdict verdict) {
  static constexpr std::array<std::string_view, 15> names = {
      "fits",
      "borrows",
      "reclaims",
      "preempts",
      "no_candidates",
      "short_of_quota",
      "exceeds_maximum",
      "untolerated_taint",
      "affinity_mismatch",
      "topology_only",
      "no_topology",
      "no_level",
      "topology_full",
      "not_found",
      "not_looked_at",
  };
  return names[static_cast<std::size_t>(verdict)];
}

Explanation explain(State& state, const api::Workload& workload, TimePoint now) {
  return Explainer(state, workload, now).run();
}

}  // namespace regatta::admission
