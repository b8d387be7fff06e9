#include "jobs/integrations/integrations.h"

#include "jobs/appwrapper/kind.h"
#include "jobs/batch/kind.h"
#include "jobs/deployment/kind.h"
#include "jobs/jobset/kind.h"
#include "jobs/kubeflow/kind.h"
#include "jobs/leaderworkerset/kind.h"
#include "jobs/pod/kind.h"
#include "jobs/ray/kind.h"
#include "jobs/spark/kind.h"
#include "jobs/statefulset/kind.h"
#include "jobs/trainer/kind.h"

#include <algorithm>

namespace regatta::jobs {

JobKinds all_kinds(bool names_in_labels) {
  std::vector<std::shared_ptr<const JobKind>> kinds = {
      batch_job_kind(),         jobset_kind(),    appwrapper_kind(),
      spark_application_kind(), train_job_kind(), pod_kind(names_in_labels)};
  for (auto& family : {kubeflow_kinds(), ray_kinds(), stateful_set_kinds(),
                       leader_worker_set_kinds(), deployment_kinds()}) {
    kinds.insert(kinds.end(), family.begin(), family.end());
  }
  return JobKinds(std::move(kinds));
}

JobKinds enabled_kinds(const std::vector<std::string>& frameworks, bool names_in_labels) {
  const JobKinds all = all_kinds(names_in_labels);
  // What acts through Pods needs them.
  const bool pods = std::any_of(all.all().begin(), all.all().end(), [&](const auto& kind) {
    const bool named =
        std::find(frameworks.begin(), frameworks.end(), kind->framework()) != frameworks.end();
    return named && kind->acts_through_pods();
  });
  std::vector<std::shared_ptr<const JobKind>> kinds;
  for (const auto& kind : all.all()) {
    const bool named =
        std::find(frameworks.begin(), frameworks.end(), kind->framework()) != frameworks.end();
    const bool needed = kind == batch_job_kind() || (pods && kind == pod_kind(names_in_labels));
    if (named || needed) kinds.push_back(kind);
  }
  return JobKinds(std::move(kinds));
}

JobPtr job_of(api::Job job) {
  return generic(std::move(job));
}

const api::Job* batch_job_in(const GenericJob& job) {
  return typed(job);
}

}  // namespace regatta::jobs
