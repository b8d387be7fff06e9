#pragma once

#include "jobs/generic_job.h"

namespace regatta::jobs {

/// Every kind of job that Regatta knows. A new kind adds a line in integrations.cpp.
JobKinds all_kinds();

}  // namespace regatta::jobs
