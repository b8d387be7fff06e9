#pragma once

#include "dispatch/plan.h"
#include "lib/api/resource.h"
#include "lib/base/clock.h"

#include <map>
#include <optional>
#include <string>

namespace regatta::dispatch {

/// How long the worker that gets a workload's first copy keeps the only one: as long as such
/// workers usually take until they admit a copy or have no room for it. A head start that is over
/// before the worker can answer costs a copy, and its removal, on each of the others.
///
/// The estimate for a worker is the smoothed time plus four times its smoothed deviation, as TCP
/// estimates when an answer is late (RFC 6298); never less than `least`, nor more than ten times
/// that. How long it takes to answer the request for the copy is estimated likewise.
///
/// A worker that does not answer that request, refuses it, or says nothing, three times in a row,
/// begins anew, and is passed over: others get the first copies. After a minute it is tried again.
///
/// Knows what this process saw. Deterministic; the caller tells the time.
class HeadStarts {
 public:
  explicit HeadStarts(Duration least) : least_(least) {}

  /// The workload's head start begins, unless it has begun. `cluster` has the first copy; empty if
  /// that is not known.
  void begin(const api::ObjectKey& workload, const std::string& cluster, SteadyPoint now);
  /// How long the answer to the request for a first copy is waited for.
  Duration patience(const std::string& cluster) const;
  /// That was in vain: the others get their copies. The worker was asked at `asked`.
  void give_up(const api::ObjectKey& workload, const std::string& cluster, SteadyPoint asked,
               SteadyPoint now);
  /// The worker has made the copy, or refuses to.
  void answered(const std::string& cluster, bool copied, Duration took, SteadyPoint now);
  /// The attempt is over.
  void end(const api::ObjectKey& workload) { races_.erase(workload); }
  /// Learns from what the workers show, and adds to the view since when and for how long the first
  /// worker is alone, and which workers are passed over. `now` and `moment` are the same instant.
  void add_to(GroupView* group, const api::ObjectKey& workload, TimePoint now, SteadyPoint moment);

 private:
  struct Race {
    SteadyPoint since{};
    std::string cluster;
    bool said = false, missed = false;
  };
  struct Usual {
    Duration time{0}, deviation{0};
    int missed = 0;  ///< in a row
    bool known = false;

    void add(Duration took);
    /// What is later than that is late; between `least` and `most`.
    Duration until(Duration least, Duration most) const;
  };

  Duration most() const;
  Duration of(const std::string& cluster) const;
  void learn(Race* race, const GroupView& group, SteadyPoint moment);
  void miss(const std::string& cluster, Usual* usual, SteadyPoint moment);

  const Duration least_;
  std::map<api::ObjectKey, Race> races_;
  std::map<std::string, Usual> usual_;    ///< from the copy to the worker's word
  std::map<std::string, Usual> answers_;  ///< from the request to the copy
  std::map<std::string, SteadyPoint> passed_over_;
};

}  // namespace regatta::dispatch
