#pragma once

#include "lib/api/resource.h"

/// Resources that more than one source of this folder reads.
namespace regatta::operate {

inline constexpr const char* kueue_group = "kueue.x-k8s.io";

inline constexpr api::ResourceInfo accounts{"", "v1", "ServiceAccount", "serviceaccounts", true};
inline constexpr api::ResourceInfo local_queues{kueue_group, "v1beta2", "LocalQueue", "localqueues",
                                                true};
inline constexpr api::ResourceInfo workload_classes{kueue_group, "v1beta2", "WorkloadPriorityClass",
                                                    "workloadpriorityclasses", false};
inline constexpr api::ResourceInfo pod_classes{"scheduling.k8s.io", "v1", "PriorityClass",
                                               "priorityclasses", false};

}  // namespace regatta::operate
