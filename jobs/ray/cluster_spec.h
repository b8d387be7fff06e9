#pragma once

#include "jobs/templated_job.h"

#include <string>
#include <vector>

/// The description of a Ray cluster, which all kinds of Ray have: its pod sets, and what webhooks
/// check of it.
namespace regatta::jobs::ray {

enum class Submission {
  none,     ///< by HTTP, or nothing is submitted
  pod,      ///< by a pod of its own
  sidecar,  ///< by a container in the head
};

/// Where a kind has the description of the cluster.
struct Place {
  Json::json_pointer path;  ///< "/spec/rayClusterSpec"
  std::string field;        ///< "spec.rayClusterSpec"
};

/// Pod sets as KubeRay makes pods of the description: the head has containers that the description
/// does not show.
std::vector<PodSlot> slots_of(const Json& job, const Place& place, Submission submission);

/// The groups of the slots get as many pods as `cluster`, a RayCluster that was made of them, says.
void take_sizes(const Json& cluster, std::vector<PodSlot>* slots);

/// Takes from the spec of a RayJob what deletes the job itself when it has ended; its cluster goes
/// in its place.
void keep_after_end(Json* spec);

/// What holds the pods of a cluster that may grow back: the description with their gates.
Json gated(Json cluster);

/// The number of groups, and their names.
void check_cluster(const Json& job, const Place& place, api::ErrorList* errors);
/// Pods of a cluster that may grow wait for the part of the quota that is theirs.
void check_elastic_gates(const Json& job, const Place& place, api::ErrorList* errors);

const Json& cluster_in(const Json& job, const Place& place);
bool autoscales(const Json& cluster);
/// The worker groups of a cluster (`copy`) with the sizes that the groups of the same names have in
/// `wanted`; null when they have them. Both are the spec of a cluster.
Json resized_groups(const Json& wanted, const Json& copy);
/// Whether a failed head finds its state again in Redis, which KubeRay cleans up in the end.
bool keeps_state(const Json& job, const Json& cluster);

}  // namespace regatta::jobs::ray
