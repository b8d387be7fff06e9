#pragma once

/// Finds the flavors of a workload.
///
/// Pod sets get flavors in order, pod sets of one group together. All resources of one resource
/// group get the same flavor: the first in the ClusterQueue's order whose taints and labels suit
/// the pods and whose quota is good enough. flavorFungibility says what is good enough, and what is
/// better. A flavor is as good as its worst resource:
///
///   no_fit < no_candidates < preempt < reclaim < fit
///
/// The search remembers how far it came (ScanProgress), so that a workload that could preempt in
/// one flavor tries the next flavors in later cycles.

#include "admission/trial.h"

#include <functional>
#include <string>
#include <vector>

namespace regatta::admission {

enum class Mode : std::uint8_t {
  no_fit,
  no_candidates,  ///< preemption is allowed, but finds no victims
  preempt,        ///< preempts in its own ClusterQueue
  reclaim,        ///< preempts in others only
  fit,
};

enum class AssignmentMode : std::uint8_t { no_fit, preempt, deferred_fit, fit };

/// Why a pod set has no flavor, the worst last. The worst becomes the reason of
/// QuotaReserved=False.
enum class NoFitReason : std::uint8_t {
  topology_placement_failed,
  waiting_for_quota,
  exceeds_max_quota,
  no_matching_flavor
};
std::string_view name_of(NoFitReason reason);

/// One sentence about one flavor. render() writes it out when it is needed.
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

/// A flavor that was tried and does not fit now, or fits only by borrowing.
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
  std::string error;              ///< the flavors contradict its topology
  NoFitReason reason = NoFitReason::no_matching_flavor;
  /// For each resource group: the flavor it got, and the least reason of the flavors that were
  /// passed over.
  std::vector<std::pair<FlavorId, NoFitReason>> passed_over;
  /// Attempts of resource groups whose flavor fits.
  std::vector<FlavorAttempt> attempts;
  std::optional<PodPlaces> places;
  bool topology_delayed = false;  ///< it gets its places later

  AssignmentMode mode() const;
};

struct Assignment {
  std::vector<PodSetPlan> pod_sets;
  std::vector<FrAmount> usage;  ///< what is charged
  std::vector<FrAmount> held;   ///< for a workload that replaces another: its whole usage
  int borrowing = 0;
  bool deferred = false;                  ///< fits when the preemptions of other heads are complete
  std::vector<TopologyRequest> topology;  ///< for pod sets that need places now
  std::optional<AssignmentMode> placed;   ///< the mode after a search for places
  ScanProgress progress;

  AssignmentMode mode() const;
  NoFitReason reason() const;
  std::string message(const Names& names) const;
  /// For an assignment that fits: a text about the flavors that were tried. Empty when all
  /// resources got the first flavor, without borrowing.
  std::string considered(const Names& names) const;
  /// The (flavor, resource) pairs that need preemption, sorted.
  std::vector<FrId> frs_to_preempt(Names* names) const;
  std::unique_ptr<Reservation> reserve(QueueId queue, TimePoint now) const;
  std::vector<const PodPlaces*> places() const;
};

/// Answers whether preemption can make room for one request, and at which height the ClusterQueue
/// would borrow afterwards.
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

  /// Restricts every resource to the flavor that another assignment gave it.
  void pin(const Assignment* pinned) { pinned_ = pinned; }
  /// The reservation of the workload that it replaces: flavors must be the same, and only the
  /// difference is charged.
  void replace(const Reservation* replaced) { replaced_ = replaced; }
  /// Assigns flavors for these counts of pods; empty: for all pods of every pod set.
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
  /// One flavor of a search. Its notes are those from `notes_begin` to the `notes_begin` of the
  /// next flavor.
  struct Look {
    FlavorId flavor = 0;
    Quality quality;
    std::size_t notes_begin = 0;
  };
  /// What a search is for: requests of some pod sets, after the assignment to earlier ones.
  struct Wanted {
    const Group& group;
    const std::vector<ResourceAmount>& requests;
    const Assignment& assignment;
  };
  /// The outcome for one flavor.
  struct Tried {
    Quality quality;
    std::vector<FlavorPick> picks;                                ///< empty when it does not fit
    NoFitReason reason = NoFitReason::topology_placement_failed;  ///< the worst of all resources
    int most_borrowed = 0;
  };
  struct Search {
    std::vector<FlavorPick> picks;
    std::vector<FlavorNote> notes;
    std::optional<NoFitReason> reason;  ///< the least of all flavors that were passed over
    std::vector<FlavorAttempt> attempts;
  };

  std::vector<Group> group_pod_sets(const Assignment& assignment) const;
  /// False when some resource got no flavor, which ends the search.
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
  /// What the replaced workload uses of the flavor. Absent when it uses another flavor, which
  /// becomes `other`.
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

/// Finds places for the assignment's pods in the present trial, or in an empty cluster, and keeps
/// the places it found.
void reserve_places(Trial& trial, Assignment* assignment, bool empty);

/// Whether the flavor's taints and labels suit the pod set; otherwise `note` says why not.
bool flavor_suits(const FlavorInfo& flavor, const PodSetShape& pod_set, FlavorNote* note);

std::string render(const FlavorNote& note, const Names& names);

}  // namespace regatta::admission
