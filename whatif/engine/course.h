#pragma once

#include "jobs/generic_job.h"
#include "lib/api/batch.h"
#include "lib/api/workload.h"
#include "lib/manifest/behaviour.h"

#include <cstdint>
#include <optional>
#include <string>

namespace regatta::whatif {

/// What a job does while it runs.
struct Work {
  manifest::Behaviour behaviour;
  Duration ready{0};
  bool resume = false;
  Duration checkpoint{0};  ///< 0: it can stop anywhere
  // Of a Job; a bare workload runs all its pods once.
  bool is_job = false;
  std::int32_t completions = 1;
  std::int32_t backoff_limit = 6;
  std::optional<Duration> deadline;
};

Work work_of(const api::Job& job, const manifest::Behaviour& otherwise);
Work work_of(const api::Workload& workload, const manifest::Behaviour& otherwise);

/// How one attempt goes when it is not interrupted.
struct Attempt {
  Duration length{0};  ///< from ready pods to the end
  bool succeeds = true;
  std::string message;  ///< of the end
  /// When the last pods begin to run, and how many others are not needed any more.
  std::optional<Duration> reclaim_after;
  std::int32_t reclaimable = 0;
};

/// `pods` run at once; `done` is the part of the work that is behind it.
Attempt attempt_of(const Work& work, std::int32_t pods, double done);

/// What an interruption after `ran` leaves.
struct Interrupted {
  double done = 0;   ///< the part of all work that need not be done again
  Duration lost{0};  ///< of this attempt
};
Interrupted interrupt(const Work& work, std::int32_t pods, double done_before, Duration ran);

enum class CoursePhase : std::uint8_t {
  waiting,   ///< without quota
  reserved,  ///< with quota; admission checks are open
  running,   ///< its pods start or run, here or on a worker
  stopping,  ///< with quota, on its way out
  over,
};

/// A workload on its way through one cluster.
struct Course {
  std::uint32_t id = 0;
  api::Workload workload;
  jobs::JobId job;  ///< without a kind for a bare workload
  Work work;
  CoursePhase phase = CoursePhase::waiting;
  std::uint32_t epoch = 0;                ///< grows when what was planned is void
  std::size_t record = SIZE_MAX;          ///< in the recorder; none for a copy on a worker
  std::optional<std::size_t> preemption;  ///< its record, until it stopped
  bool copy = false;                      ///< of a hub's workload: the hub starts it
  bool started = false;  ///< its pods run, or will, or are ending; of a hub's: on a worker
  bool has_job = false;  ///< of a copy: the hub made a Job for it
  bool deleting = false;
  bool dispatched = false;  ///< runs on a worker, if anywhere
  double done = 0;          ///< part of the work that is behind it
  Duration lost{0};         ///< of the last attempt that was interrupted
  TimePoint ready_at{};     ///< its pods work since, or will
  std::int32_t pods = 0;
  // When it is looked at again anyway: what comes later need not be planned.
  std::optional<TimePoint> look_at;  ///< by its cluster, while the epoch is `look_epoch`
  std::uint32_t look_epoch = 0;
  std::optional<TimePoint> dispatch_at;  ///< by the federation
};

/// Of all pod sets, as admitted.
std::int32_t admitted_pods(const api::Workload& workload);

}  // namespace regatta::whatif
