#pragma once

#include "lib/manifest/strategy.h"

#include <string>
#include <string_view>

namespace regatta::manifest::builtin {

/// spec of a Job on create and update.
void validate_job_spec(const Json& job, FieldErrors* errors);
/// What of it decides about failed and succeeded indexes and pods.
void validate_job_policies(const Json& spec, FieldErrors* errors);
/// What may not change, and what only together.
void validate_job_spec_update(const Json& job, const Json& old, FieldErrors* errors);
/// What a write of the status may and may not do.
FieldErrors validate_job_status(const Json& job, const Json& old);

/// What is wrong with a list of indexes ("1,3-5,7") of a job with so many completions, or empty;
/// `total` is how many they are.
std::string index_list_error(std::string_view text, std::int64_t completions, std::int64_t* total);

}  // namespace regatta::manifest::builtin
