#pragma once

#include "jobs/integrations/job_webhook.h"
#include "lab/conformance/job_world.h"

namespace regatta::lab {

/// One step of a scenario of jobs, with what the whole scenario says.
struct JobStep {
  const Json& scenario;
  const Json& step;
  jobs::JobKinds kinds;  ///< that are enabled
  jobs::JobWebhookConfig config;
  bool admission_gates = true;
  bool name_by_annotation = true;  ///< WorkloadIdentifierAnnotations
  TimePoint now{};
  bool external_adapters = true;  ///< MultiKueueAdaptersForCustomJobs
  bool runtimes = true;           ///< kinds of runtimes are served

  const Json& input(const char* name) const;
  const std::string& op() const;
  /// The objects of the scenario and of the step.
  JobWorld world() const;
};

/// Operations of MultiKueue adapters; `unavailable` for one that is not implemented.
Result<Json> play_remote(const JobStep& step);

/// The kind of jobs of a folder of the corpus; null when there is none yet.
const jobs::JobKind* kind_of_folder(const jobs::JobKinds& kinds, std::string_view folder);

}  // namespace regatta::lab
