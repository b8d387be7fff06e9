#include "jobs/integrations/integrations.h"

#include "jobs/batch/kind.h"

namespace regatta::jobs {

JobKinds all_kinds() {
  return JobKinds({
      batch_job_kind(),
  });
}

}  // namespace regatta::jobs
