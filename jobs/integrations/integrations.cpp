#include "jobs/integrations/integrations.h"

#include "jobs/batch/kind.h"
#include "jobs/jobset/kind.h"
#include "jobs/kubeflow/kind.h"

#include <algorithm>

namespace regatta::jobs {

JobKinds all_kinds() {
  std::vector<std::shared_ptr<const JobKind>> kinds = {batch_job_kind(), jobset_kind()};
  for (auto& kind : kubeflow_kinds()) kinds.push_back(std::move(kind));
  return JobKinds(std::move(kinds));
}

JobKinds enabled_kinds(const std::vector<std::string>& frameworks) {
  const JobKinds all = all_kinds();
  std::vector<std::shared_ptr<const JobKind>> kinds;
  for (const auto& kind : all.all()) {
    const bool named =
        std::find(frameworks.begin(), frameworks.end(), kind->framework()) != frameworks.end();
    if (named || kind == batch_job_kind()) kinds.push_back(kind);
  }
  return JobKinds(std::move(kinds));
}

bool known_framework(std::string_view framework) {
  const JobKinds all = all_kinds();
  return std::any_of(all.all().begin(), all.all().end(),
                     [&](const auto& kind) { return kind->framework() == framework; });
}

JobPtr job_of(api::Job job) {
  return generic(std::move(job));
}

const api::Job* batch_job_in(const GenericJob& job) {
  return typed(job);
}

}  // namespace regatta::jobs
