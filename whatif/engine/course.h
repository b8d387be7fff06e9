#pragma once

#include "jobs/generic_job.h"
#include "lib/api/batch.h"
#include "lib/api/workload.h"
#include "lib/manifest/behaviour.h"

#include <cstdint>
#include <optional>
#include <string>

namespace regatta::whatif {

/// For tables that are looked into at every step and never listed.
struct KeyHash {
  std::size_t operator()(const api::ObjectKey& key) const {
    const std::hash<std::string> hash;
    return hash(key.ns) * 31 + hash(key.name);
  }
  std::size_t operator()(const jobs::JobId& id) const {
    return (*this)(id.key) ^ std::hash<const jobs::JobKind*>()(id.kind);
  }
};

/// How a job behaves while it runs.
struct Work {
  manifest::Behaviour behaviour;
  Duration ready{0};
  bool resume = false;
  Duration checkpoint{0};  ///< 0: the job can resume from any moment
  // The fields of a Job. A bare workload runs all its pods once.
  bool is_job = false;
  std::int32_t completions = 1;
  std::int32_t backoff_limit = 6;
  std::optional<Duration> deadline;
};

Work work_of(const api::Job& job, const manifest::Behaviour& otherwise);
Work work_of(const api::Workload& workload, const manifest::Behaviour& otherwise);

/// How one attempt proceeds when it is not interrupted.
struct Attempt {
  Duration length{0};  ///< from ready pods to the end
  bool succeeds = true;
  std::string message;  ///< of the Finished condition
  /// When the last pods begin to run, and how many pods are no longer needed then.
  std::optional<Duration> reclaim_after;
  std::int32_t reclaimable = 0;
};

/// `pods` run at once; `done` is the part of the work that earlier attempts did.
Attempt attempt_of(const Work& work, std::int32_t pods, double done);

/// What is left of an attempt after an interruption.
struct Interrupted {
  double done = 0;   ///< the part of all work that is not repeated
  Duration lost{0};  ///< work of this attempt that is repeated
};
Interrupted interrupt(const Work& work, std::int32_t pods, double done_before, Duration ran);

enum class CoursePhase : std::uint8_t {
  waiting,   ///< without quota
  reserved,  ///< with quota; admission checks are open
  running,   ///< its pods start or run, here or on a worker
  stopping,  ///< with quota; its pods are ending
  over,
};

/// A workload on its way through one cluster.
struct Course {
  std::uint32_t id = 0;
  api::Workload workload;
  jobs::JobId job;  ///< without a kind for a bare workload
  Work work;
  CoursePhase phase = CoursePhase::waiting;
  std::uint32_t epoch = 0;                ///< grows when its planned wakes become void
  std::size_t record = SIZE_MAX;          ///< index in Records; none for a copy
  std::optional<std::size_t> preemption;  ///< index in Records, until the job stopped
  bool copy = false;                      ///< of a hub's workload: the hub starts it
  bool started = false;                   ///< its pods start, run or end (of a hub's: on a worker)
  bool has_job = false;                   ///< the hub made a Job for this copy
  bool deleting = false;
  bool dispatched = false;  ///< runs on a worker, not here
  double done = 0;          ///< part of the work that is not repeated
  Duration lost{0};         ///< in the last attempt that was interrupted
  TimePoint ready_at{};     ///< when its pods are ready and begin to work
  std::int32_t pods = 0;
  // When the course is looked at again in any case. A later look need not be planned.
  std::optional<TimePoint> look_at;  ///< by its cluster, while the epoch is `look_epoch`
  std::uint32_t look_epoch = 0;
  std::optional<TimePoint> dispatch_at;  ///< by the federation
};

/// The number of pods in all pod sets, as admitted.
std::int32_t admitted_pods(const api::Workload& workload);

}  // namespace regatta::whatif
