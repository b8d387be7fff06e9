#pragma once

#include <string>

/// Certainty before destruction: nothing that may run is removed, retried or released because a
/// cache lacks an object, unless the cache is known to be as new as its server in this, or the one
/// object was read. docs/decisions/certainty.md has the whole idea.
namespace regatta::dispatch {

/// What a cache knows about an object.
enum class Certainty {
  /// The cache has the object, or the object was seen to go, or the server was asked for it.
  certain,
  /// The cache lacks the object and never saw it go, or does not know how its own last write ended.
  /// Reading the object tells.
  unconfirmed,
  /// The object exists and cannot be decoded. Nothing is known about it until it can be.
  unreadable,
};

/// The worse of the two.
constexpr Certainty worse(Certainty a, Certainty b) {
  return a < b ? b : a;
}

struct GroupView;
struct Plan;

/// The plan as far as it rests on certain facts. Actions that destroy are left out when they rest
/// on an object that cannot be read. When they rest on objects that are unconfirmed, the plan is to
/// read these, and nothing else. This is the only place that judges it.
Plan only_certain(Plan plan, const GroupView& group);

}  // namespace regatta::dispatch
