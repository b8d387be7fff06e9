#pragma once

#include "apiserver/strategy.h"

namespace regatta::apiserver::builtin {

/// spec of a Job on create and update.
void validate_job_spec(const Json& job, FieldErrors* errors);
/// What may not change, and what only together.
void validate_job_spec_update(const Json& job, const Json& old, FieldErrors* errors);
/// What a write of the status may and may not do.
FieldErrors validate_job_status(const Json& job, const Json& old);

}  // namespace regatta::apiserver::builtin
