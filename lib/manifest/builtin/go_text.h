#pragma once

#include "lib/base/json.h"

#include <string>

namespace regatta::manifest::builtin {

/// A pod spec or template as the API server prints it in a message: its internal type, every field
/// by its Go name in declaration order.
std::string go_pod_spec(const Json& spec);
std::string go_pod_template(const Json& pod_template);

}  // namespace regatta::manifest::builtin
