#pragma once

#include "jobs/generic_job.h"

/// v1 Pod that is a job by itself, and groups of Pods. A Pod is held back by a scheduling gate, and
/// ended by deletion.
namespace regatta::jobs {

/// `names_in_labels`: Pods name their groups in labels alone.
std::shared_ptr<const JobKind> pod_kind(bool names_in_labels = false);

/// Groups have the keys of their Workloads. No API serves them.
std::shared_ptr<const JobKind> pod_group_kind();

}  // namespace regatta::jobs
