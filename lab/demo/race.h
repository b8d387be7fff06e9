#pragma once

#include "lab/demo/job_mix.h"
#include "lib/api/workload.h"
#include "lib/base/clock.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regatta::lab {

enum class Phase { pending, racing, won, running, succeeded, failed };

/// What the status of one object of a job says.
struct JobSeen {
  bool started = false;
  bool complete = false;
  bool failed = false;
};

/// One Job on its way through the race.
struct Runner {
  DemoJob job;
  TimePoint submitted{};
  std::set<std::string> copies;      ///< workers that hold a copy of its Workload
  std::set<std::string> running_on;  ///< workers where it runs now
  std::set<std::string> ran_on;      ///< workers where it ever ran
  /// Names of its objects that run, by worker, and of those that have ended on the hub.
  std::map<std::string, std::set<std::string>> running;
  std::set<std::string> ended;
  std::string winner;
  std::optional<TimePoint> admitted;  ///< on the hub
  std::optional<TimePoint> finished;
  bool failed = false;

  Phase phase() const;
};

struct Capacity {
  std::int64_t cpu_milli = 0;
  std::int64_t accelerators = 0;
};

struct Lane {
  Capacity capacity;
  Capacity used;
};

/// The observations of a race, added event by event, from whatever source.
class Race {
 public:
  Race(std::vector<std::string> workers, std::map<std::string, Capacity> capacities);

  void submitted(DemoJob job, TimePoint now);
  void hub_workload(const api::Workload& workload, TimePoint now);
  /// One of the objects of that job, by its name.
  void hub_job(const api::ObjectKey& key, const std::string& object, const JobSeen& seen,
               TimePoint now);
  /// A copy of a Workload was created or deleted.
  void worker_copy(const std::string& worker, const api::ObjectKey& workload, bool there);
  /// The same on a worker; null when it is gone.
  void worker_job(const std::string& worker, const api::ObjectKey& key, const std::string& object,
                  const JobSeen* seen);

  const std::map<api::ObjectKey, Runner>& runners() const { return runners_; }
  const std::vector<std::string>& workers() const { return workers_; }
  std::map<std::string, Lane> lanes() const;
  bool over() const;
  std::size_t finished() const { return finished_; }

 private:
  Runner* runner_of_workload(const api::ObjectKey& workload);

  std::vector<std::string> workers_;
  std::map<std::string, Capacity> capacities_;
  std::map<api::ObjectKey, Runner> runners_;
  std::map<api::ObjectKey, api::ObjectKey> jobs_;  ///< by Workload
  /// Copies that were seen before their Workload on the hub.
  std::map<api::ObjectKey, std::set<std::string>> early_;
  std::size_t finished_ = 0;
};

/// "racing on a100, cpu"
std::string describe(const Runner& runner);

}  // namespace regatta::lab
