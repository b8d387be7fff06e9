#pragma once

#include "lib/base/json.h"

#include <string_view>

namespace regatta::kube {

/// The part of `object` that a manager applied last, found by its entry in metadata.managedFields
/// (operation Apply, that subresource). Null when there is no such entry. An apply by that manager
/// which leaves any of it out gives those fields up, so a writer that shares the manager's name has
/// to repeat them.
Json applied_part(const Json& object, std::string_view manager, std::string_view subresource);

}  // namespace regatta::kube
