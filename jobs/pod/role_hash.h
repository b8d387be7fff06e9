#pragma once

#include "lib/base/json.h"

#include <string>

namespace regatta::jobs {

/// Eight hexadecimal digits that are the same for pods that ask for the same: requests and ports of
/// containers, and what the scheduler looks at. Kueue's, to the letter: it is kept in annotations.
std::string role_hash(const Json& pod_spec);

}  // namespace regatta::jobs
