#pragma once

#include "lib/api/batch.h"
#include "lib/manifest/behaviour.h"

#include <optional>
#include <string>
#include <vector>

namespace regatta::lab {

/// The view of one pod of a Job.
struct PodView {
  enum class Phase { pending, running, succeeded, failed };
  std::string name;
  Phase phase = Phase::pending;
  std::optional<std::int32_t> index;     ///< completion index
  std::optional<TimePoint> started;      ///< status.startTime
  std::optional<TimePoint> end_request;  ///< when it was asked to end
  bool waits = false;                    ///< a gate holds it, or no node has room
  bool lost = false;                     ///< its node is gone or not ready

  bool over() const { return phase == Phase::succeeded || phase == Phase::failed; }
};

/// The next actions, in this order. The status is right once everything before it is done.
struct JobActions {
  struct Finish {
    std::string pod;
    bool succeeded = true;
  };
  std::vector<Finish> finish;
  std::vector<std::string> start;                   ///< pending pods that start to run
  std::vector<std::string> end;                     ///< delete, with grace
  std::vector<std::string> ended;                   ///< delete now: the grace period is over
  std::vector<std::optional<std::int32_t>> create;  ///< pods that run at once, by completion index
  std::optional<api::JobStatus> status;             ///< to be written
  bool remove = false;                              ///< ttlSecondsAfterFinished has passed
  std::optional<TimePoint> again;                   ///< when time alone changes the result
};

/// One step of a Job with Pod objects:
///  1. a finished Job is left alone until its TTL removes it;
///  2. pods that have run their time end, as the annotations say; pods asked to end are gone after
///     their share of the grace period, those of a lost node at once;
///  3. a suspended Job ends its pods, loses its start time and says so;
///  4. too many failures, or the active deadline, make it fail; enough successes make it complete;
///     either is final once no pod is left;
///  5. otherwise pods are created up to the parallelism, and surplus ones ended.
JobActions plan_job(const api::Job& job, const std::vector<PodView>& pods,
                    const manifest::Behaviour& how, TimePoint now);

/// The same without Pod objects, from the status and the time alone: the pods of a Job run in waves
/// of its parallelism. Writes the status at the start, after each wave, and at the end.
JobActions plan_job_without_pods(const api::Job& job, const manifest::Behaviour& how,
                                 TimePoint now);

/// "0-2,5": the completion indexes in the form of status.completedIndexes; sorted.
std::string format_indexes(const std::vector<std::int32_t>& indexes);

}  // namespace regatta::lab
