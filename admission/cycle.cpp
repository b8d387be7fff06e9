#include "admission/cycle.h"

#include "admission/entry.h"
#include "admission/leaving.h"
#include "admission/second_pass.h"
#include "lib/api/names.h"

#include <algorithm>
#include <optional>

namespace regatta::admission {
namespace {

constexpr std::string_view no_longer_fits =
    "Workload no longer fits after processing another workload";
constexpr std::string_view preemption_gated = "Workload requires preemption, but it's gated";
constexpr std::string_view waits_for_pods =
    "waiting for all admitted workloads to be in PodsReady condition";
constexpr std::string_view overlapping_targets =
    "Workload has overlapping preemption targets with another workload";
constexpr std::string_view will_fit =
    "Workload has overlapping preemption targets with another workload, but will fit after these "
    "preemptions complete";

class Cycle {
 public:
  Cycle(CycleAccess& access, TimePoint now) : access_(access), now_(now) {}

  CycleResult run() {
    CycleResult result;
    std::vector<WorkloadId> holders = access_.pop_second_passes();
    const std::vector<WorkloadId> heads = access_.pop_heads();
    if (heads.empty() && holders.empty()) return result;
    result.ran = true;
    result.cycle = access_.cycle();
    {
      Trial trial(access_);
      trial_ = &trial;
      second_pass_.emplace(trial, std::move(holders));
      second_pass_->place_all();
      entries_.reserve(heads.size());
      for (const WorkloadId id : heads) nominate(id);
      leaving_.emplace(trial);
      reserve_room_for_victims();
      EntryOrder order(trial, &*leaving_, &entries_);
      for (Entry* entry = order.next(); entry != nullptr; entry = order.next()) process(entry);
      leaving_.reset();
    }
    second_pass_->record(now_, &result);
    for (Entry* entry : admitted_) record_admitted(entry, &result);
    for (const Entry& entry : entries_) {
      if (entry.status != Entry::Status::assumed) put_back(entry, &result);
    }
    std::sort(result.pending.begin(), result.pending.end(),
              [](const auto& a, const auto& b) { return a.key < b.key; });
    result.preempted = std::move(preempted_);
    result.skipped_preemptors = std::move(skipped_preemptors_);
    result.recomputed = std::move(recomputed_);
    result.blocked = blocked_;
    return result;
  }

 private:
  void reject(Entry* entry, std::string_view reason, std::string message) {
    entry->status = Entry::Status::inadmissible;
    entry->reason = reason;
    entry->message = std::move(message);
  }

  void nominate(WorkloadId id) {
    const WorkloadEntry& workload = access_.workloads()[id];
    const LocalQueueInfo& local = access_.local_queue(workload.local_queue);
    const QueueInfo& queue = access_.queue(local.queue);
    Entry& entry = entries_.emplace_back();
    entry.id = id;
    entry.queue = queue.id;
    namespace reasons = api::reasons;
    const api::StringMap* labels = access_.namespace_labels(workload.key.ns);
    if (workload.failed_checks) {
      return reject(&entry, reasons::pending_evaluation,
                    "The workload has failed admission checks");
    }
    if (access_.forest().node(queue.node).cyclic) {
      return reject(&entry, reasons::suspended, "ClusterQueue " + queue.name + " is inactive");
    }
    if (labels == nullptr) {
      return reject(&entry, reasons::misconfigured,
                    "workload namespace \"" + workload.key.ns + "\" does not exist: namespaces \"" +
                        workload.key.ns + "\" not found");
    }
    if (!queue.namespaces || !queue.namespaces->matches(*labels)) {
      entry.requeue_reason = RequeueReason::namespace_mismatch;
      return reject(&entry, reasons::misconfigured,
                    "workload namespace doesn't match ClusterQueue selector");
    }
    if (!workload.shape->invalid.empty()) {
      return reject(&entry, reasons::misconfigured, workload.shape->invalid);
    }
    entry.status = Entry::Status::nominated;
    nominate_flavors(*trial_, &entry, nullptr, now_);
    remember_progress(entry);
  }

  void remember_progress(const Entry& entry) {
    access_.set_progress(entry.id, std::make_unique<ScanProgress>(entry.assignment.progress));
  }

  void forget_progress(const Entry& entry) { access_.set_progress(entry.id, nullptr); }

  void skip(Entry* entry, std::string_view message) {
    entry->status = Entry::Status::skipped;
    entry->reason = api::reasons::waiting_for_quota;
    entry->message = message;
  }

  bool overlaps(const Entry& entry) const {
    const auto taken = [&](WorkloadId id) {
      return leaving_->contains(id) || replaced_.contains(id);
    };
    const WorkloadId replaces = access_.replaced_by(entry.id);
    if (replaces != no_id && leaving_->contains(replaces)) return true;
    return std::any_of(entry.targets.begin(), entry.targets.end(),
                       [&](const Target& target) { return taken(target.id); });
  }

  NodeId node_of(const Entry& entry) const { return access_.queue(entry.queue).node; }

  /// To be called when an earlier head of this cycle preempts the same workloads: nominates the
  /// entry again without them, for the same flavors.
  void recompute_overlapping(Entry* entry) {
    const Leaving::Gone gone(*leaving_, root_of(*entry));
    const Trial::Nested nested(*trial_);
    for (const WorkloadId id : leaving_with_places_) trial_->remove_places(id);
    nominate_again(entry);
    entry->assignment.deferred = entry->assignment.mode() == AssignmentMode::fit;
  }

  enum class Fit : std::uint8_t { fits, no_quota, no_places };

  /// Whether the entry fits when all victims of this cycle and its own targets are gone.
  Fit fits_now(const Entry& entry) {
    const auto places = entry.assignment.places();
    if (!has_quota(entry)) return Fit::no_quota;
    if (places.empty()) return Fit::fits;
    PlaceAmounts own;
    for (const Target& target : entry.targets) {
      if (!leaving_->contains(target.id)) add_places(&own, target);
    }
    return trial_->topologies().fits(places, leaving_places_, own) ? Fit::fits : Fit::no_places;
  }

  /// Returns whether there were any.
  bool add_places(PlaceAmounts* to, const Target& target) const {
    if (!target.held.has_places) return false;
    bool any = false;
    for (const auto& pod_set : access_.workloads()[target.id].reservation->pod_sets) {
      for (const PodPlaces& places : pod_set.places) add(to, places);
      any = any || !pod_set.places.empty();
    }
    return any;
  }

  /// Takes the quota and the places.
  void take(const Entry& entry) {
    trial_->add_usage(node_of(entry), entry.assignment.usage);
    take_places(entry);
  }
  void take_places(const Entry& entry) {
    for (const PodPlaces* places : entry.assignment.places()) trial_->topologies().add(*places);
  }

  /// If other heads of this cycle took the entry's places, looks for new ones in the same flavors.
  Fit replace_if_needed(Entry* entry) {
    const Fit fit = fits_now(*entry);
    if (fit != Fit::no_places || !access_.config().topology_recompute_in_cycle) return fit;
    {
      const Leaving::Back back(*leaving_, root_of(*entry));
      nominate_again(entry);
    }
    if (overlaps(*entry)) return Fit::no_places;
    return fits_now(*entry);
  }

  void nominate_again(Entry* entry) {
    forget_progress(*entry);
    const Assignment nominated = std::move(entry->assignment);
    nominate_flavors(*trial_, entry, &nominated, now_);
    remember_progress(*entry);
  }

  NodeId root_of(const Entry& entry) const { return trial_->forest().node(node_of(entry)).root; }

  bool has_quota(const Entry& entry) {
    const Leaving::Gone gone(*leaving_, root_of(entry));
    const Trial::Nested nested(*trial_);
    remove_usage(*trial_, entry.targets);
    const auto& usage = entry.assignment.usage;
    return std::all_of(usage.begin(), usage.end(), [&](const FrAmount& want) {
      return trial_->forest().available(node_of(entry), want.fr) >= want.amount;
    });
  }

  /// Keeps quota for a preemptor without victims, so that later heads do not forever take what it
  /// waits for. For a borrower beyond its limit the amount is negative: its ClusterQueue then
  /// counts as using less, which matters when a later search removes its workloads.
  void keep_quota_for(const Entry& entry) {
    const QuotaForest& forest = trial_->forest();
    const NodeId node = node_of(entry);
    for (const FrAmount& want : entry.assignment.usage) {
      const std::uint32_t index = forest.find(node, want.fr);
      if (index == no_cell) continue;
      const Cell& cell = forest.cell(node, index);
      const Amount used = plus(cell.usage, leaving_->missing(node, want.fr));
      Amount amount = want.amount;
      if (entry.assignment.borrowing == 0) {
        amount = std::max<Amount>(0, std::min(amount, minus(cell.nominal, used)));
      } else if (cell.borrowing_limit) {
        amount = std::min(amount, minus(plus(cell.nominal, *cell.borrowing_limit), used));
      }
      if (amount < 0) {
        leaving_->lower_own_usage(node, want.fr, -amount);
      } else {
        const FrAmount kept{want.fr, amount};
        trial_->add_usage(node, {&kept, 1});
      }
    }
    take_places(entry);
  }

  /// Once a head waits for pods to be ready, all later heads wait too, even preemptors.
  bool held_back(Entry* entry) const {
    if (blocked_) entry->requeue_reason = RequeueReason::failed_after_nomination;
    return blocked_;
  }

  bool must_wait_for_pods() const {
    return access_.config().block_admission && access_.not_ready() + admitted_.size() > 0;
  }

  /// Nominates again if earlier heads took what the entry was nominated for, and says whether it
  /// fits.
  Fit refresh(Entry* entry) {
    if (entry->assignment.mode() == AssignmentMode::no_fit) return Fit::no_quota;
    if (!overlaps(*entry)) return replace_if_needed(entry);
    if (!access_.config().recompute_on_target_overlap) return Fit::no_quota;
    recompute_overlapping(entry);
    const Fit fit = overlaps(*entry) ? Fit::no_quota : fits_now(*entry);
    using Outcome = Recomputed::Outcome;
    const bool resolved = !entry->targets.empty() && fit == Fit::fits;
    recomputed_.push_back(
        {access_.queue(entry->queue).name, entry->assignment.mode() == AssignmentMode::deferred_fit
                                               ? Outcome::deferred_fit
                                           : resolved ? Outcome::new_targets
                                                      : Outcome::skipped});
    return fit;
  }

  void skip_preemptor(Entry* entry, std::string_view message) {
    skip(entry, message);
    skipped_preemptors_.push_back(access_.queue(entry->queue).name);
  }

  void process(Entry* entry) {
    if (held_back(entry)) return;
    const Fit fit = refresh(entry);
    const AssignmentMode mode = entry->assignment.mode();
    entry->reason = name_of(entry->assignment.reason());
    if (mode != AssignmentMode::fit) entry->message = entry->assignment.message(access_.names());
    if (mode == AssignmentMode::no_fit) {
      entry->requeue_reason = RequeueReason::no_fit;
      return;
    }
    if (mode == AssignmentMode::preempt && entry->targets.empty()) {
      entry->requeue_reason = RequeueReason::preemption_no_candidates;
      entry->reason = api::reasons::waiting_for_quota;
      const auto reclaim = access_.queue(entry->queue).spec.preemption.reclaim_within_cohort;
      if (reclaim != api::ReclaimPolicy::Any) keep_quota_for(*entry);
      return;
    }
    const bool gated = access_.config().preemption_gates && access_.workloads()[entry->id].gated;
    if (mode == AssignmentMode::preempt && gated) {
      entry->requeue_reason = RequeueReason::preemption_gated;
      entry->reason = api::reasons::admission_gated;
      entry->message = preemption_gated;
      return;
    }
    if (mode == AssignmentMode::deferred_fit) {
      entry->reason = api::reasons::waiting_for_preempted_workloads;
      entry->message = will_fit;
      entry->requeue_reason = RequeueReason::pending_preemption;
      forget_progress(*entry);
      take(*entry);
      return;
    }
    if (overlaps(*entry)) return skip_preemptor(entry, overlapping_targets);
    if (fit != Fit::fits) {
      return mode == AssignmentMode::preempt ? skip_preemptor(entry, no_longer_fits)
                                             : skip(entry, no_longer_fits);
    }
    for (const Target& target : entry->targets) {
      if (add_places(&leaving_places_, target)) leaving_with_places_.push_back(target.id);
    }
    leaving_->add(entry->targets);
    take(*entry);
    if (mode == AssignmentMode::preempt) {
      preempt(entry);
    } else if (must_wait_for_pods()) {
      blocked_ = true;
      skip(entry, waits_for_pods);
      entry->reason = api::reasons::waiting_for_pods_ready;
    } else {
      entry->status = Entry::Status::assumed;
      if (const WorkloadId replaces = access_.replaced_by(entry->id); replaces != no_id) {
        replaced_.insert(replaces);
      }
      admitted_.push_back(entry);
    }
  }

  void preempt(Entry* entry) {
    entry->status = Entry::Status::preempting;
    entry->reason = api::reasons::waiting_for_preempted_workloads;
    entry->message +=
        ". Pending the preemption of " + std::to_string(entry->targets.size()) + " workload(s)";
    entry->requeue_reason = RequeueReason::pending_preemption;
    forget_progress(*entry);
    const WorkloadEntry& workload = access_.workloads()[entry->id];
    const auto preemptor = std::make_shared<const PreemptingWorkload>(
        workload.key, workload.uid, access_.forest().path(node_of(*entry)));
    QueueId queue = no_id;
    std::string path;  // of `queue`
    for (const Target& target : entry->targets) {
      if (target.held.evicted) continue;  // its job is stopping already
      if (std::exchange(queue, target.held.queue) != target.held.queue) {
        path = access_.forest().path(access_.queue(queue).node);
      }
      const WorkloadEntry& victim = access_.workloads()[target.id];
      preempted_.push_back({victim.key, victim.uid, name_of(target.reason),
                            human_text(target.reason), preemptor, path});
    }
  }

  void reserve_room_for_victims() {
    std::size_t most = 0;
    for (const Entry& entry : entries_) most += entry.targets.size();
    preempted_.reserve(most);
  }

  void record_admitted(Entry* entry, CycleResult* result) {
    const QueueInfo& queue = access_.queue(entry->queue);
    auto reservation = entry->assignment.reserve(entry->queue, now_);
    AdmittedWorkload& admitted = result->admitted.emplace_back();
    admitted.key = access_.workloads()[entry->id].key;
    admitted.uid = access_.workloads()[entry->id].uid;
    admitted.generation = access_.workloads()[entry->id].generation;
    admitted.cluster_queue = queue.name;
    admitted.admission = to_api(*reservation, queue.name, access_.names(), access_.topologies());
    if (!queue.spec.admission_checks.empty()) {
      std::set<std::string> flavors;
      for (const auto& pod_set : admitted.admission.pod_set_assignments) {
        for (const auto& [resource, flavor] : pod_set.flavors) flavors.insert(flavor);
      }
      admitted.checks = required_checks(queue.spec, &flavors);
    }
    if (const WorkloadId replaces = access_.replaced_by(entry->id); replaces != no_id) {
      admitted.replaces = access_.workloads()[replaces].key;
    }
    admitted.considered = entry->assignment.considered(access_.names());
    reservation->admitted = admitted.checks.empty();
    access_.assume(entry->id, std::move(reservation));
  }

  void put_back(const Entry& entry, CycleResult* result) {
    const WorkloadEntry& workload = access_.workloads()[entry.id];
    RequeueReason why = entry.requeue_reason;
    if (entry.status == Entry::Status::skipped && why == RequeueReason::generic) {
      why = RequeueReason::failed_after_nomination;
    }
    const QueueInfo& queue = access_.queue(entry.queue);
    const bool strict = queue.spec.queueing_strategy == api::QueueingStrategy::StrictFIFO;
    const bool immediate = strict ? why != RequeueReason::namespace_mismatch
                                  : why == RequeueReason::failed_after_nomination ||
                                        why == RequeueReason::pending_preemption;
    const bool park_alike =
        why == RequeueReason::no_fit || why == RequeueReason::preemption_no_candidates;
    access_.requeue(entry.id, immediate, park_alike, now_, entry.reason);
    if (why == RequeueReason::pending_preemption && !strict) access_.make_sticky(entry.id);
    if (entry.reason.empty()) return;  // held back: the cycle decided nothing about it
    PendingWorkload& pending = result->pending.emplace_back();
    pending.key = workload.key;
    pending.uid = workload.uid;
    pending.cluster_queue = queue.name;
    pending.reason = entry.reason;
    pending.message = entry.message;
    pending.immediate = is_waiting(workload);
    pending.gated = why == RequeueReason::preemption_gated;
  }

  CycleAccess& access_;
  TimePoint now_;
  Trial* trial_ = nullptr;
  std::vector<Entry> entries_;
  bool blocked_ = false;
  std::optional<SecondPass> second_pass_;
  std::vector<Entry*> admitted_;
  std::set<WorkloadId> replaced_;  ///< by admitted heads; they can no longer be preempted
  std::optional<Leaving> leaving_;
  PlaceAmounts leaving_places_;  ///< places of the victims
  std::vector<WorkloadId> leaving_with_places_;
  std::vector<PreemptedWorkload> preempted_;
  std::vector<std::string> skipped_preemptors_;
  std::vector<Recomputed> recomputed_;
};

}  // namespace

CycleResult run_cycle(State& state, TimePoint now) {
  CycleAccess access(state);
  return Cycle(access, now).run();
}

std::string preemption_message(const PreemptedWorkload& preempted, const std::string& job_uid) {
  const auto known = [](const std::string& text) {
    return text.empty() ? std::string("UNKNOWN") : text;
  };
  return "Preempted to accommodate a workload (UID: " + known(preempted.preemptor->uid) +
         ", JobUID: " + known(job_uid) + ") due to " + std::string(preempted.human_reason) +
         "; preemptor path: " + known(preempted.preemptor->path) +
         "; preemptee path: " + known(preempted.preemptee_path);
}

std::string quota_reserved_message(const std::string& cluster_queue) {
  return "Quota reserved in ClusterQueue " + cluster_queue;
}

}  // namespace regatta::admission
