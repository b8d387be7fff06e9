#pragma once

#include <string>
#include <vector>

/// What a hub needs on a worker, as rules of RBAC. Whatever grants it (`regatta register-worker`,
/// ClusterPermissions of Open Cluster Management) takes it from here. Pure.
namespace regatta::api {

struct WorkerRule {
  std::string group;
  std::string resource;  ///< with its subresource
  std::vector<std::string> verbs;
};

/// The group and the resource of a kind of jobs.
struct FrameworkResource {
  std::string group, plural;
};

/// What is read everywhere.
std::vector<WorkerRule> worker_reads(const std::vector<FrameworkResource>& jobs);
/// What is written where jobs run.
std::vector<WorkerRule> worker_writes(const std::vector<FrameworkResource>& jobs);
/// What dispatchers that compare workers look at.
const std::vector<WorkerRule>& worker_looks();
/// What a hub needs that creates what is lacking (placement/provide.h).
const std::vector<WorkerRule>& worker_provisions();

}  // namespace regatta::api
