#pragma once

#include "jobs/generic_job.h"

/// trainer.kubeflow.org TrainJob: its pods are those of a runtime, TrainingRuntime or
/// ClusterTrainingRuntime, with what the job changes of it.
namespace regatta::jobs {

std::shared_ptr<const JobKind> train_job_kind();

}  // namespace regatta::jobs
