#include "lab/demo/race.h"

#include "lib/api/names.h"
#include "lib/base/joined.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace regatta::lab {
Phase Runner::phase() const {
  if (finished) return failed ? Phase::failed : Phase::succeeded;
  if (!running_on.empty()) return Phase::running;
  if (!winner.empty()) return Phase::won;
  return copies.empty() ? Phase::pending : Phase::racing;
}

std::string describe(const Runner& runner) {
  switch (runner.phase()) {
    case Phase::pending:
      return "pending";
    case Phase::racing:
      return "racing on " + joined(runner.copies);
    case Phase::won:
      return "won by " + runner.winner;
    case Phase::running:
      return "running on " + joined(runner.running_on);
    case Phase::failed:
      return "failed on " + joined(runner.ran_on);
    case Phase::succeeded:
      break;
  }
  return runner.ran_on.empty() ? "finished" : "finished on " + joined(runner.ran_on);
}

Race::Race(std::vector<std::string> workers, std::map<std::string, Capacity> capacities)
    : workers_(std::move(workers)), capacities_(std::move(capacities)) {}

void Race::submitted(DemoJob job, TimePoint now) {
  const api::ObjectKey key = job.key;
  Runner& runner = runners_[key];
  runner.job = std::move(job);
  runner.submitted = now;
}

Runner* Race::runner_of_workload(const api::ObjectKey& workload) {
  const auto job = jobs_.find(workload);
  if (job == jobs_.end()) return nullptr;
  const auto found = runners_.find(job->second);
  return found == runners_.end() ? nullptr : &found->second;
}

void Race::hub_workload(const api::Workload& workload, TimePoint now) {
  const api::ObjectKey key = workload.metadata.key();
  if (const api::OwnerReference* owner = workload.metadata.controller()) {
    jobs_[key] = api::ObjectKey(key.ns, owner->name);
  } else {
    jobs_[key] = key;  // that of a group has its name
  }
  Runner* runner = runner_of_workload(key);
  if (!runner) return;
  if (const auto early = early_.find(key); early != early_.end()) {
    runner->copies.merge(early->second);
    early_.erase(early);
  }
  runner->winner = workload.status.cluster_name.value_or("");
  const bool admitted = api::is_true(workload.status.conditions, api::conditions::admitted);
  if (admitted && !runner->admitted) runner->admitted = now;
}

void Race::hub_job(const api::ObjectKey& key, const std::string& object, const JobSeen& seen,
                   TimePoint now) {
  const auto found = runners_.find(key);
  if (found == runners_.end() || !(seen.complete || seen.failed)) return;
  Runner& runner = found->second;
  if (runner.finished || !runner.ended.insert(object).second) return;
  runner.failed = runner.failed || seen.failed;
  if (runner.ended.size() < runner.job.objects.size()) return;
  runner.finished = now;
  ++finished_;
}

void Race::worker_copy(const std::string& worker, const api::ObjectKey& workload, bool there) {
  Runner* runner = runner_of_workload(workload);
  std::set<std::string>& copies = runner ? runner->copies : early_[workload];
  if (there) {
    copies.insert(worker);
  } else {
    copies.erase(worker);
  }
}

void Race::worker_job(const std::string& worker, const api::ObjectKey& key,
                      const std::string& object, const JobSeen* seen) {
  const auto found = runners_.find(key);
  if (found == runners_.end()) return;
  Runner& runner = found->second;
  std::set<std::string>& running = runner.running[worker];
  if (seen && seen->started) runner.ran_on.insert(worker);
  if (seen && seen->started && !seen->complete && !seen->failed) {
    running.insert(object);
  } else {
    running.erase(object);
  }
  if (running.empty()) {
    runner.running_on.erase(worker);
  } else {
    runner.running_on.insert(worker);
  }
}

std::map<std::string, Lane> Race::lanes() const {
  std::map<std::string, Lane> lanes;
  for (const std::string& worker : workers_) {
    const auto capacity = capacities_.find(worker);
    if (capacity != capacities_.end()) lanes[worker].capacity = capacity->second;
  }
  for (const auto& [key, runner] : runners_) {
    for (const std::string& worker : runner.running_on) {
      lanes[worker].used.cpu_milli += runner.job.cpu_milli;
      lanes[worker].used.accelerators += runner.job.accelerators;
    }
  }
  return lanes;
}

bool Race::over() const {
  return !runners_.empty() && finished_ == runners_.size();
}

}  // namespace regatta::lab
