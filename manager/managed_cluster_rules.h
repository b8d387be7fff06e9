#pragma once

#include "jobs/generic_job.h"
#include "placement/managed_clusters.h"

#include <string>

namespace regatta::manager {

/// What the configuration leaves out: the kinds of jobs that the hub sends, the namespace of its
/// manager, and how a kubeconfig is written.
placement::ManagedClusterRules complete(placement::ManagedClusterRules rules,
                                        const jobs::JobKinds& sent, std::string system_namespace);

}  // namespace regatta::manager
