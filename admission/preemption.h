#pragma once

/// Which workloads must be preempted so that another fits: classical preemption over the Cohort
/// tree, and preemption with fair sharing. Both only try: they leave the trial as it was.

#include "admission/fair_share.h"
#include "admission/flavor_assigner.h"
#include "admission/trial.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace regatta::admission {

enum class PreemptionReason : std::uint8_t {
  in_cluster_queue,
  in_cohort_reclamation,
  in_cohort_fair_sharing,
  in_cohort_reclaim_while_borrowing,
};
std::string_view name_of(PreemptionReason reason);
/// The text in messages: "reclamation within the cohort".
std::string_view human_text(PreemptionReason reason);

struct Target {
  WorkloadId id = no_id;
  PreemptionReason reason = PreemptionReason::in_cluster_queue;
  Holding held;
};
/// Removes the usage of all targets, but not their places.
void remove_usage(Trial& trial, std::span<const Target> targets);

/// A workload that needs preemption, and what it needs.
struct Preemptor {
  WorkloadId id = no_id;
  QueueId queue = no_id;
  std::vector<FrId> frs;        ///< those that need preemption, sorted
  std::vector<FrAmount> usage;  ///< everything it asks for
  /// Pod sets that need places, too.
  const std::vector<TopologyRequest>* topology = nullptr;
  friend bool operator==(const Preemptor&, const Preemptor&) = default;
};

/// The victims in the order chosen; empty when preemption cannot help.
std::vector<Target> find_targets(Trial& trial, const Preemptor& preemptor, TimePoint now);

/// Answers the flavor search's questions for one workload.
class SimulatedPreemption final : public PreemptionOracle {
 public:
  SimulatedPreemption(Trial& trial, WorkloadId id, QueueId queue, TimePoint now)
      : trial_(trial), id_(id), queue_(queue), now_(now) {}
  Answer simulate(FrId fr, Amount value) override;
  /// find_targets() without a second search for what simulate() searched. The trial must be as it
  /// was then.
  std::vector<Target> targets(const Preemptor& preemptor);

 private:
  struct Found {
    Preemptor preemptor;
    std::vector<Target> targets;
  };

  Trial& trial_;
  WorkloadId id_;
  QueueId queue_;
  TimePoint now_;
  std::vector<Found> found_;
};

// Parts for both kinds of preemption.

std::vector<Target> find_classical_targets(Trial& trial, const Preemptor& preemptor, TimePoint now);
std::vector<Target> find_fair_targets(Trial& trial, const Preemptor& preemptor, TimePoint now);
/// Which workloads the policy of the preemptor's ClusterQueue allows it to preempt.
class VictimRule {
 public:
  /// within_queue(): in the preemptor's own ClusterQueue. reclaim(): in others.
  static VictimRule within_queue(const QueueInfo& queue, const WorkloadEntry& preemptor);
  static VictimRule reclaim(const QueueInfo& queue, const WorkloadEntry& preemptor);

  bool allows_none() const { return allows_none_; }
  bool allows(const WorkloadEntry& candidate) const {
    if (candidate.priority != most_ || !newer_) return candidate.priority <= most_;
    return order_time_ < candidate.order_time;
  }
  bool allows(const WorkloadTable& table, const VictimKey& candidate) const {
    if (candidate.priority != most_ || !newer_) return candidate.priority <= most_;
    return allows(table[candidate.id]);
  }
  /// Whether it allows no workload of that priority or above.
  bool stops_at(std::int64_t priority) const { return priority > most_; }

 private:
  std::int64_t most_ = INT64_MAX;  ///< highest priority of a victim
  bool newer_ = false;             ///< one of that priority must be newer than the preemptor
  bool allows_none_ = false;
  TimePoint order_time_{};
};

/// Reads possible victims of one ClusterQueue lazily, in the order of preemption.
class VictimStream {
 public:
  VictimStream() = default;  ///< an empty stream
  VictimStream(const CycleAccess& access, const Preemptor& preemptor, const VictimRule& rule,
               std::span<const VictimKey> keys, bool by_priority)
      : access_(&access),
        preemptor_(&preemptor),
        rule_(&rule),
        replaced_(access.replaced_by(preemptor.id)),
        keys_(keys),
        by_priority_(by_priority) {
    settle();
  }
  /// Whether priorities never fall along the stream.
  bool by_priority() const { return by_priority_; }
  bool empty() const { return keys_.empty(); }
  const VictimKey& front() const { return keys_.front(); }
  void advance() {
    keys_ = keys_.subspan(1);
    settle();
  }

 private:
  void settle();

  const CycleAccess* access_ = nullptr;
  const Preemptor* preemptor_ = nullptr;
  const VictimRule* rule_ = nullptr;
  WorkloadId replaced_ = no_id;  ///< runs on under the preemptor
  std::span<const VictimKey> keys_;
  bool by_priority_ = true;
};

bool fits(Trial& trial, const Preemptor& preemptor, bool allow_borrowing);
/// Restores the targets that turned out not to be needed and takes them off the list, the last
/// chosen first.
void fill_back(Trial& trial, const Preemptor& preemptor, bool allow_borrowing,
               std::vector<Target>* targets);

}  // namespace regatta::admission
