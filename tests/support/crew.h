#pragma once

#include "jobs/generic_job.h"

namespace regatta::test_support {

/// A kind of job that is made up for tests: a Crew (example.dev/v1) has a captain, one pod, and so
/// many sailors, each with a template of its own. What handles jobs knows nothing of it.
///
///   spec:   suspend, managedBy, sailors, captain (template), sailor (template)
///   status: running (pods), ready (pods), result ("Succeeded", "Failed: why")
std::shared_ptr<const jobs::JobKind> crew_kind();

}  // namespace regatta::test_support
