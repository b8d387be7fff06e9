#pragma once

#include "lib/base/json.h"

#include <string>

namespace regatta::jobs {

/// What pods of one shape share: the fields of the spec that decide where a pod may run, and what
/// it asks for. Absent fields are null.
Json pod_shape(const Json& pod_spec);

/// Eight hexadecimal digits that are the same for pods of one shape. Kueue's, to the letter: it is
/// kept in annotations.
std::string role_hash(const Json& pod_spec);

}  // namespace regatta::jobs
