#pragma once

#include "lib/base/clock.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// One world, as its seed describes it: what there is, what is asked of it, and which kinds of
/// trouble it has. Pure.
namespace regatta::simtest {

/// A kind of thing that goes wrong, or that makes a world less simple.
enum class Trouble {
  crashes,           ///< managers end at any point and come back
  partitions,        ///< workers are cut off from the hub
  noise,             ///< links lose, delay and refuse
  late,              ///< writes arrive after their sender gave up
  deletions,         ///< Jobs are deleted on the hub
  vandals,           ///< copies and Jobs are deleted on workers
  standby,           ///< two managers on the hub, one of which leads
  deaf_standby,      ///< the watches of managers that do not lead are dead
  pauses,            ///< a manager of the hub is not scheduled for a while
  clocks,            ///< clocks differ by minutes
  clock_steps,       ///< clocks are set forward and back
  restores,          ///< a worker's API server goes back to an older state
  hub_restores,      ///< the hub's does
  preemption,        ///< Workloads of higher priority preempt on the hub
  deactivation,      ///< Workloads are deactivated on the hub and activated again
  stop_policies,     ///< the hub's queue is stopped and drained
  edits,             ///< priorities and sizes of Jobs change on the hub
  configs,           ///< what leads to workers is deleted and created again, Secrets vanish
  check_swaps,       ///< the MultiKueue check is taken off the queue and put back
  addresses,         ///< API servers move to another address
  external,          ///< another program nominates, sometimes nonsense
  other_checks,      ///< a second admission check, which changes its mind
  kinds,             ///< failing, Indexed and long Jobs
  two_hubs,          ///< two hubs with distinct origins share the workers
  equal_origins,     ///< two hubs with the same origin do
  refusals,          ///< a webhook of a worker refuses Jobs for a while
  lasting_refusals,  ///< and does so for ever
  namespaces,        ///< a worker gets the Jobs' namespace late
  out_of_sync,       ///< users change Jobs on workers
  foreign,           ///< users have Jobs of the same names on workers
  losses,            ///< a worker goes away until everything has ended
  worker_evictions,  ///< copies are deactivated on workers
  byzantine,         ///< a worker whose API server says anything at all
  recreations,       ///< Jobs are deleted on the hub and created again with the same name
  job_kinds,         ///< jobs of other kinds than batch/v1 Job
  rotations,         ///< workers refuse the tokens that hubs had
  pods,              ///< Jobs have Pods on workers, which take their time to end
  byzantine_keeps,   ///< a worker makes jobs up, and deletes none while there are faults
  status_refusals,   ///< a webhook of the hub refuses every other status of a job
  elastic,           ///< Jobs grow and shrink on the hub while they run
  newer_objects,     ///< objects of a newer version, which cannot be decoded, for a while
  garbage,           ///< a worker's API server answers anything at all
  second_names,      ///< a worker has two MultiKueueClusters for a while
  give_ups,          ///< the hub rejects what no worker admits in time, or what loses its workers
};

struct TroubleInfo {
  Trouble trouble;
  const char* name;
  double chance;  ///< that a world has it
  /// By random numbers of its own: worlds without it are the same as if there were no such trouble.
  bool drawn_by_itself = false;
};
const std::vector<TroubleInfo>& all_troubles();
const char* name_of(Trouble trouble);
/// nullopt when there is none of that name.
std::optional<Trouble> trouble_of(std::string_view name);

struct JobSpec {
  std::string kind = "Job";
  std::string name;   ///< jobs of different kinds may have the same
  Duration after{0};  ///< the one before
  Duration runs{0};
  int pods = 1;
  int completions = 1;
  bool indexed = false;
  bool fails = false;
  bool important = false;
  bool elastic = false;
  Duration leaves{0};  ///< the time in which its Pods end after they were asked to, if it has any
};

struct ScenarioOptions {
  std::uint64_t seed = 1;
  int jobs = 10;
  int workers = 3;
  std::string dispatcher;  ///< empty: drawn
  std::string job_kind;    ///< of every job in worlds with job_kinds; empty: drawn
  bool faults = true;
  Duration faults_end = std::chrono::seconds(90);
  std::set<Trouble> always;               ///< besides those that are drawn
  std::optional<std::set<Trouble>> only;  ///< no others are drawn
};

struct Scenario {
  std::uint64_t seed = 1;
  std::vector<std::string> workers;
  std::string liar;     ///< the last of them, which has no manager and makes things up; or empty
  std::string garbled;  ///< the one whose API server answers anything; or empty
  std::vector<std::string> hubs{"hub"};
  std::map<std::string, std::string> origins;        ///< by hub
  std::map<std::string, std::vector<JobSpec>> jobs;  ///< by hub
  std::map<std::string, Duration> clock_offsets;     ///< by cluster
  std::string dispatcher;
  Duration head_start{0};
  bool gates = false;
  int hub_cpus = 14, worker_cpus = 6;
  Duration worker_lost_timeout = std::chrono::seconds(30);
  Duration round = std::chrono::seconds(20);
  Duration give_up_after{0};      ///< 0: never
  std::int32_t attempts_max = 0;  ///< 0: any number
  Duration gc_interval = std::chrono::seconds(20);
  Duration faults_end{0};
  std::set<Trouble> troubles;

  /// More workers than a MultiKueueConfig can name, and more jobs than can be looked at in each
  /// step.
  bool large() const { return workers.size() > 20; }
  bool has(Trouble trouble) const { return troubles.contains(trouble); }
  /// When everything has ended at the latest, counted from the first Job.
  Duration progress_bound() const;
};

Scenario draw_scenario(const ScenarioOptions& options);

}  // namespace regatta::simtest
