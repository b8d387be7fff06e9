#include "jobs/integrations/integrations.h"

#include "jobs/batch/kind.h"
#include "jobs/jobset/kind.h"

#include <algorithm>

namespace regatta::jobs {

JobKinds all_kinds() {
  return JobKinds({
      batch_job_kind(),
      jobset_kind(),
  });
}

JobKinds enabled_kinds(const std::vector<std::string>& frameworks) {
  std::vector<std::shared_ptr<const JobKind>> kinds;
  for (const auto& kind : all_kinds().all()) {
    const bool named =
        std::find(frameworks.begin(), frameworks.end(), kind->framework()) != frameworks.end();
    if (named || kind == batch_job_kind()) kinds.push_back(kind);
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
