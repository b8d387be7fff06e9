#pragma once

#include <string_view>

namespace regatta::webhooks {

// What API types look like: the name of a type, then in the lines below it each of its members, as
// `name:type`, in the order in which Kubernetes writes them. Behind the name stands `?` where an
// empty value is left out, and `!` where a zero one is. A type is a scalar, a type of the listing,
// `*T` when it can be absent, `[]T` for a list and `{}T` for a map.

extern const std::string_view core_shapes;
extern const std::string_view kueue_shapes;
extern const std::string_view config_shapes;

}  // namespace regatta::webhooks
