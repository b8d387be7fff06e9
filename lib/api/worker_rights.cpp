#include "lib/api/worker_rights.h"

namespace regatta::api {
namespace {

constexpr const char* of_kueue = "kueue.x-k8s.io";

/// These verbs for each kind of job.
std::vector<WorkerRule> rules_of_jobs(const std::vector<FrameworkResource>& jobs,
                                      const std::vector<std::string>& verbs) {
  std::vector<WorkerRule> all;
  for (const FrameworkResource& kind : jobs) all.push_back({kind.group, kind.plural, verbs});
  return all;
}

}  // namespace

std::vector<WorkerRule> worker_reads(const std::vector<FrameworkResource>& jobs) {
  std::vector<WorkerRule> all = rules_of_jobs(jobs, {"get", "list", "watch"});
  all.push_back({of_kueue, "workloads", {"get", "list", "watch"}});
  return all;
}

std::vector<WorkerRule> worker_writes(const std::vector<FrameworkResource>& jobs) {
  std::vector<WorkerRule> all = rules_of_jobs(jobs, {"create", "delete"});
  // Their sizes follow those of the hub.
  const auto scaled = [](const WorkerRule& rule) {
    return rule.resource == "leaderworkersets" || rule.resource == "jobs" ||
           rule.resource == "rayclusters";
  };
  for (WorkerRule& rule : all) {
    if (scaled(rule)) rule.verbs.push_back("patch");
  }
  all.push_back({of_kueue, "workloads", {"create", "delete", "patch"}});
  all.push_back({of_kueue, "workloads/status", {"patch"}});
  return all;
}

const std::vector<WorkerRule>& worker_looks() {
  static const std::vector<WorkerRule> all = {{of_kueue, "clusterqueues", {"list", "watch"}},
                                              {of_kueue, "localqueues", {"list", "watch"}},
                                              {of_kueue, "cohorts", {"list", "watch"}}};
  return all;
}

const std::vector<WorkerRule>& worker_provisions() {
  static const std::vector<WorkerRule> all = {
      {"", "namespaces", {"create", "list"}},
      {of_kueue, "localqueues", {"create"}},
      {of_kueue, "workloadpriorityclasses", {"create", "list", "patch"}}};
  return all;
}

}  // namespace regatta::api
