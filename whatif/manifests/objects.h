#pragma once

#include "lib/api/batch.h"
#include "lib/api/core.h"
#include "lib/api/kueue.h"

#include <string>
#include <variant>

namespace regatta::whatif {

/// Any object that matters to a simulation. The order of kinds is the order in which objects of one
/// moment are applied: objects to which others refer come first.
using Object =
    std::variant<api::Namespace, api::PriorityClass, api::WorkloadPriorityClass, api::LimitRange,
                 api::RuntimeClass, api::Node, api::Topology, api::ResourceFlavor, api::Cohort,
                 api::MultiKueueCluster, api::MultiKueueConfig, api::AdmissionCheck,
                 api::ClusterQueue, api::LocalQueue, api::Pod, api::Workload, api::Job>;

/// "ClusterQueue fleet", "Job team-a/train".
std::string describe(const Object& object);

struct ObjectName {
  std::string kind;
  api::ObjectKey key;
  friend bool operator==(const ObjectName&, const ObjectName&) = default;
};
ObjectName name_of(const Object& object);

}  // namespace regatta::whatif
