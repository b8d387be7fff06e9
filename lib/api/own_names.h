#pragma once

#include <string_view>

/// Well-known strings of Regatta's own, in a domain of its own. Kueue's are in names.h.
namespace regatta::api {

namespace annotations {
/// On copies and jobs on workers: the UID of the namespace kube-system of the hub that made them.
constexpr std::string_view hub_uid = "multikueue.regatta.dev/hub-uid";
/// On a MultiKueueCluster: the UID of another hub whose objects there are this hub's from now on.
constexpr std::string_view adopt_hub = "multikueue.regatta.dev/adopt-hub";
/// On a MultiKueueCluster: so many workloads that the hub lacks may be removed there.
constexpr std::string_view remove_vanished = "multikueue.regatta.dev/remove-vanished";
}  // namespace annotations

/// Condition types of a MultiKueueCluster, and their reasons.
namespace conditions {
constexpr std::string_view removals_held = "RemovalsHeld";
constexpr std::string_view origin_shared = "OriginShared";
}  // namespace conditions

namespace reasons {
constexpr std::string_view vanished_on_hub = "VanishedOnHub";
constexpr std::string_view other_hub = "OtherHub";
constexpr std::string_view resolved = "Resolved";
}  // namespace reasons

}  // namespace regatta::api
