#pragma once

#include "jobs/generic_job.h"

/// sparkoperator.k8s.io SparkApplication: a driver, and executors that the driver starts.
namespace regatta::jobs {

std::shared_ptr<const JobKind> spark_application_kind();

}  // namespace regatta::jobs
