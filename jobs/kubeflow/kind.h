#pragma once

#include "jobs/generic_job.h"

#include <memory>
#include <vector>

/// The kinds of Kubeflow that run roles of replicas: the trainers of kubeflow.org/v1 (TFJob,
/// PyTorchJob, XGBoostJob, PaddleJob, JAXJob) and MPIJob. A pod set for each role.
namespace regatta::jobs {

std::vector<std::shared_ptr<const JobKind>> kubeflow_kinds();

}  // namespace regatta::jobs
