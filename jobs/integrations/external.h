#pragma once

#include "jobs/generic_job.h"

#include <memory>
#include <string>

namespace regatta::jobs {

/// A kind of job that something else manages: its Workloads are made by a controller of its own.
/// Regatta knows it as an owner of other jobs, and if it is `dispatched` sends it to workers, where
/// the field spec.managedBy says so, and brings its whole status home. `name` is
/// "Kind.version.group".
Result<std::shared_ptr<const JobKind>> external_kind(const std::string& name, bool dispatched);

}  // namespace regatta::jobs
