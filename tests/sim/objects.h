#pragma once

#include "lib/api/resource.h"
#include "lib/base/json.h"

#include <string>
#include <vector>

/// What the simulation reads in objects and writes as a user, as plain JSON: it must not share the
/// types, and the mistakes, of what it tests.
namespace regatta::simtest {

inline constexpr const char* team = "team";
/// The resource of Workloads, as stores name it; kinds.h has those of jobs.
inline constexpr const char* workloads = "workloads.kueue.x-k8s.io";
inline constexpr api::ResourceInfo config_resource{"kueue.x-k8s.io", "v1beta2", "MultiKueueConfig",
                                                   "multikueueconfigs", false};
inline constexpr api::ResourceInfo cluster_resource{
    "kueue.x-k8s.io", "v1beta2", "MultiKueueCluster", "multikueueclusters", false};
inline constexpr api::ResourceInfo queue_resource{"kueue.x-k8s.io", "v1beta2", "ClusterQueue",
                                                  "clusterqueues", false};

bool condition_true(const Json& object, const char* type);
std::string condition_reason(const Json& object, const char* type);
bool being_deleted(const Json& object);
/// It has a condition whose status only a newer version knows, so that this one cannot decode it.
bool is_newer(const Json& object);
inline constexpr const char* newer_condition = "Newer";
std::string uid_of(const Json& object);
/// Value of the origin label.
std::string origin_of(const Json& object);
/// The Workload that a worker's Job names.
std::string prebuilt_of(const Json& job);
/// A job, or a Workload of one, whose size may change while it runs.
bool is_elastic(const Json& object);
/// Kind, name and UID of the owner, or empty.
std::string owner_kind_of(const Json& object);
std::string owner_of(const Json& object);
std::string owner_uid_of(const Json& object);
/// The worker that is recorded, whichever of its names was used; empty: none.
std::string cluster_name_of(const Json& workload);
/// Another name of that worker, and the worker of either.
std::string second_name_of(const std::string& worker);
std::string worker_of(std::string name);
/// A check of that name sends workloads to workers.
bool sends_to_workers(const std::string& check);
/// The one in the Workload's status that sent it, or would send it; empty when there is none.
std::string sending_check(const Json& workload);
/// The important parts of an object's state, in a few words.
std::string summary(const Json& object);

Json make_object(const char* api_version, const char* kind, const std::string& name,
                 const std::string& ns = "");
Json make_kueue(const char* kind, const std::string& name, Json spec, const std::string& ns = "");
Json make_secret(const std::string& cluster, const std::string& host, const std::string& ca,
                 int generation);
/// The token of that generation, and the one in such a Secret.
std::string token_of(int generation);
std::string token_in(const Json& secret);
/// Large fleets are selected by a label.
inline constexpr const char* select_clusters = "multikueue.regatta.dev/select-clusters";
/// A MultiKueueCluster of that name with the kubeconfig in its Secret.
Json make_cluster(const std::string& name);
Json make_check(const std::string& name, const std::string& controller);
/// The checks that send workloads to workers: the one that the queue has, and the one that it is
/// exchanged for.
inline constexpr const char* multikueue_checks[] = {"multikueue", "exchanged"};
Json multikueue_check(const char* name = multikueue_checks[0]);

struct QueueOptions {
  int cpus = 0;
  std::vector<std::string> checks;
  bool preempting = false;
  bool with_namespace = true;
  std::string pool;  ///< the nodes of the flavor have this label; empty: any node
};
/// A ClusterQueue, the LocalQueue that leads to it and what they need.
std::vector<Json> make_queues(const QueueOptions& options);

}  // namespace regatta::simtest
