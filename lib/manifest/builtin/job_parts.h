#pragma once

#include "lib/manifest/strategy.h"

#include <string>
#include <string_view>

namespace regatta::manifest::builtin {

/// Checks the spec of a Job on create and update.
void validate_job_spec(const Json& job, FieldErrors* errors);
/// Checks the fields that decide about failed and succeeded indexes and pods.
void validate_job_policies(const Json& spec, FieldErrors* errors);
/// Checks which fields changed: some must not, others only together.
void validate_job_spec_update(const Json& job, const Json& old, FieldErrors* errors);
/// Checks what a write of the status changed.
FieldErrors validate_job_status(const Json& job, const Json& old);

/// What is wrong with a list of indexes ("1,3-5,7") of a job with so many completions, or empty.
/// Sets `total` to the number of indexes in the list.
std::string index_list_error(std::string_view text, std::int64_t completions, std::int64_t* total);

}  // namespace regatta::manifest::builtin
