#pragma once

#include "lib/base/json.h"

#include <string>

namespace regatta::jobs {

/// Eight hexadecimal digits that are the same for pods that ask for the same: requests and ports of
/// containers, and what the scheduler looks at. Kueue's, to the letter: it is kept in annotations.
/// What tells pods of one shape: the fields of the spec that decide where a pod may run and what it
/// asks for. Absent fields are null.
Json pod_shape(const Json& pod_spec);

std::string role_hash(const Json& pod_spec);

}  // namespace regatta::jobs
