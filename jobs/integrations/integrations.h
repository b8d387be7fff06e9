#pragma once

#include "jobs/generic_job.h"
#include "lib/api/batch.h"

namespace regatta::jobs {

/// Every kind of job that Regatta knows. A new kind adds a line in integrations.cpp.
/// `names_in_labels`: Pods name their groups in labels alone (gate WorkloadIdentifierAnnotations).
JobKinds all_kinds(bool names_in_labels = false);

/// Those whose frameworks are named, and batch/job in any case. Unknown names are passed over.
JobKinds enabled_kinds(const std::vector<std::string>& frameworks, bool names_in_labels = false);

/// What JobKind::decode() makes of the same Job without a pool, for callers that hold it as an
/// object.
JobPtr job_of(api::Job job);
/// What job_of() was given, or null for a job of another kind.
const api::Job* batch_job_in(const GenericJob& job);

}  // namespace regatta::jobs
