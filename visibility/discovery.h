#pragma once

#include "lib/base/json.h"

#include <string>
#include <string_view>

namespace regatta::visibility {

// The discovery documents of the group.

Json group_list();                               ///< /apis
Json group_discovery();                          ///< /apis, aggregated
Json group_document();                           ///< /apis/visibility.kueue.x-k8s.io
Json resource_list(const std::string& version);  ///< /apis/visibility.kueue.x-k8s.io/v1beta2

/// The one that clients should use comes first.
inline constexpr const char* versions[] = {"v1beta2", "v1beta1"};
bool known_version(std::string_view version);

}  // namespace regatta::visibility
