#include "jobs/integrations/integrations.h"

#include "jobs/batch/kind.h"

namespace regatta::jobs {

JobKinds all_kinds() {
  return JobKinds({
      batch_job_kind(),
  });
}

JobPtr job_of(api::Job job) {
  return generic(std::move(job));
}

const api::Job* batch_job_in(const GenericJob& job) {
  return typed(job);
}

}  // namespace regatta::jobs
