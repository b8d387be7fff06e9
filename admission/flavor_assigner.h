#pragma once

/// Which flavors a workload gets.
///
/// Pod sets are looked at in order, those of one group together. All resources of one resource
/// group get the same flavor: the first in the ClusterQueue's order whose taints and labels suit
/// the pods and whose quota is good enough. What is good enough, and what is better, is
/// flavorFungibility. A flavor is as good as its worst resource:
///
///   no_fit < no_candidates < preempt < reclaim < fit
///
/// The search remembers how far it came (ScanProgress), so that a workload that could preempt in
/// one flavor tries the next ones in later cycles.

#include "admission/trial.h"

#include <functional>
#include <string>
#include <vector>

namespace regatta::admission {

enum class Mode : std::uint8_t {
  no_fit,
  no_candidates,  ///< preemption is allowed but finds nobody
  preempt,        ///< preempts in its own ClusterQueue
  reclaim,        ///< preempts in others only
  fit,
};

enum class AssignmentMode : std::uint8_t { no_fit, preempt, deferred_fit, fit };

/// Why a pod set has no flavor, worst last: it becomes the reason of QuotaReserved=False.
enum class NoFitReason : std::uint8_t {
  topology_placement_failed,
  waiting_for_quota,
  exceeds_max_quota,
  no_matching_flavor
};
std::string_view name_of(NoFitReason reason);

/// One sentence about one flavor, written out only when somebody will read it.
struct FlavorNote {
  enum class Kind : std::uint8_t {
    unavailable_resource,
    flavor_not_found,
    not_nominated,
    topology_only,
    no_topology,
    no_topology_level,
    no_topology_known,
    no_places,  ///< `text` says why
    untolerated_taint,
    node_affinity,
    exceeds_max,
    insufficient,
    other_slice,  ///< `text` names the flavor of the workload it replaces
  };
  Kind kind = Kind::flavor_not_found;
  FlavorId flavor = 0;
  ResourceId resource = 0;
  Amount before = 0;   ///< exceeds_max: what earlier pod sets take
  Amount amount = 0;   ///< exceeds_max: the request; insufficient: what is missing
  Amount maximum = 0;  ///< exceeds_max
  const api::Taint* taint = nullptr;
  std::string text;
};

struct FlavorPick {
  ResourceId resource = 0;
  FlavorId flavor = 0;
  Mode mode = Mode::fit;
  int borrow = 0;  ///< height of the subtree it borrows from; 0: none
  int tried = -1;
};

/// A flavor that was looked at and is not simply good: it does not fit now, or only by borrowing.
struct FlavorAttempt {
  FlavorId flavor = 0;
  Mode mode = Mode::no_fit;
  int borrow = 0;
  std::vector<FlavorNote> notes;
};

struct PodSetPlan {
  const PodSetShape* shape = nullptr;
  std::int32_t count = 0;
  std::vector<ResourceAmount> requests;
  std::vector<FlavorPick> picks;
  std::vector<FlavorNote> notes;  ///< empty: fits
  std::string error;              ///< cannot be decided: the flavors contradict its topology
  NoFitReason reason = NoFitReason::no_matching_flavor;
  /// Per resource group: the flavor it got and the least reason of those passed over.
  std::vector<std::pair<FlavorId, NoFitReason>> passed_over;
  /// Of resource groups whose flavor fits.
  std::vector<FlavorAttempt> attempts;
  std::optional<PodPlaces> places;
  bool topology_delayed = false;  ///< gets its places later

  AssignmentMode mode() const;
};

struct Assignment {
  std::vector<PodSetPlan> pod_sets;
  std::vector<FrAmount> usage;  ///< what it is charged for
  std::vector<FrAmount> held;   ///< of a workload that replaces another: with what that holds
  int borrowing = 0;
  bool deferred = false;  ///< fits once preemptions that others asked for are complete
  std::vector<TopologyRequest> topology;  ///< of pod sets that need places now
  std::optional<AssignmentMode> placed;   ///< what places turned the mode into
  ScanProgress progress;

  AssignmentMode mode() const;
  NoFitReason reason() const;
  std::string message(const Names& names) const;
  /// What there is to say of the flavors that were looked at, for an assignment that fits. Empty
  /// when all got the first flavor, of their ClusterQueue's own quota.
  std::string considered(const Names& names) const;
  /// The pairs that need preemption, sorted.
  std::vector<FrId> frs_to_preempt(Names* names) const;
  std::unique_ptr<Reservation> reserve(QueueId queue, TimePoint now) const;
  std::vector<const PodPlaces*> places() const;
};

/// Whether preemption can make room for one request, and how high the ClusterQueue would borrow
/// afterwards.
class PreemptionOracle {
 public:
  struct Answer {
    Mode mode = Mode::no_candidates;
    int borrow = 0;
  };
  virtual ~PreemptionOracle() = default;
  virtual Answer simulate(FrId fr, Amount value) = 0;
};

class FlavorAssigner {
 public:
  FlavorAssigner(Trial& trial, WorkloadId workload, QueueId queue, PreemptionOracle& oracle);

  /// Restricts every resource to the flavor another assignment gave it.
  void pin(const Assignment* pinned) { pinned_ = pinned; }
  /// The reservation of the workload it takes the place of: same flavors, and only the difference
  /// is charged.
  void replace(const Reservation* replaced) { replaced_ = replaced; }
  /// With these counts; empty: all of every pod set.
  Assignment assign(const std::vector<std::int32_t>& counts = {});

 private:
  struct Group {
    std::vector<std::size_t> pod_sets;  ///< indices
    std::vector<ResourceAmount> requests;
  };
  struct Quality {
    Mode mode = Mode::no_fit;
    int borrow = 0;
  };
  /// One flavor of a search, its notes from `notes_begin` to where the next one's begin.
  struct Look {
    FlavorId flavor = 0;
    Quality quality;
    std::size_t notes_begin = 0;
  };
  /// What a search is for: requests of some pod sets, after what was assigned to others.
  struct Wanted {
    const Group& group;
    const std::vector<ResourceAmount>& requests;
    const Assignment& assignment;
  };
  /// What came of one flavor.
  struct Tried {
    Quality quality;
    std::vector<FlavorPick> picks;                                ///< none when it does not fit
    NoFitReason reason = NoFitReason::topology_placement_failed;  ///< the worst of all resources
    int most_borrowed = 0;
  };
  struct Search {
    std::vector<FlavorPick> picks;
    std::vector<FlavorNote> notes;
    std::optional<NoFitReason> reason;  ///< the least of all flavors passed over
    std::vector<FlavorAttempt> attempts;
  };

  std::vector<Group> group_pod_sets(const Assignment& assignment) const;
  /// False when some resource got no flavor: the search ends there.
  bool assign_group(const Group& group, Assignment* assignment);
  Search find_flavor(const QueueInfo::Group& resources, const Group& group, ResourceId first,
                     const Assignment& assignment);
  Tried try_flavor(FlavorId flavor, const Wanted& wanted, Search* search);
  static std::vector<FlavorAttempt> attempts_of(const std::vector<Look>& looks,
                                                std::vector<FlavorNote> notes);
  Quality check_quota(FrId fr, Amount before, Amount request, Search* search, NoFitReason* reason);
  bool suits(FlavorId flavor, const QueueInfo::Group& resources, const Group& group,
             std::vector<FlavorNote>* notes) const;
  bool topology_suits(const FlavorInfo& flavor, const QueueInfo::Group& resources,
                      const PodSetShape& pod_set, FlavorNote* note) const;
  void share_topology_flavors(const Group& group, const std::vector<FlavorPick>& picks,
                              Assignment* assignment) const;
  void request_places(Assignment* assignment) const;
  std::optional<FlavorId> only_topology_flavor(PodSetPlan* plan) const;
  void place(Assignment* assignment) const;
  const PodSetReservation* replaced_pod_set(std::size_t index) const;
  /// What the replaced workload uses of it; absent: in another flavor, which `other` names.
  std::optional<Amount> replaced_usage(const Group& group, FlavorId flavor, ResourceId resource,
                                       std::string* other) const;
  bool pinned_elsewhere(const Group& group, ResourceId resource, FlavorId flavor) const;
  bool preferred(Quality a, Quality b) const;
  bool try_next(Quality quality) const;
  std::size_t first_to_try(std::size_t pod_set, ResourceId resource) const;

  Trial& trial_;
  const WorkloadEntry& workload_;
  const QueueInfo& queue_;
  PreemptionOracle& oracle_;
  const ScanProgress* progress_ = nullptr;
  const Assignment* pinned_ = nullptr;
  const Reservation* replaced_ = nullptr;
};

/// Finds places for the assignment's pods in the trial as it is, or in an empty cluster, and
/// keeps those it found.
void reserve_places(Trial& trial, Assignment* assignment, bool empty);

/// Whether the flavor's taints and labels suit the pod set; otherwise `note` says why not.
bool flavor_suits(const FlavorInfo& flavor, const PodSetShape& pod_set, FlavorNote* note);

std::string render(const FlavorNote& note, const Names& names);

}  // namespace regatta::admission
