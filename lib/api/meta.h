#pragma once

#include "lib/api/resource.h"
#include "lib/base/clock.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace regatta::api {

using StringMap = std::map<std::string, std::string>;

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  std::optional<bool> controller;
  std::optional<bool> block_owner_deletion;
  friend bool operator==(const OwnerReference&, const OwnerReference&) = default;
};

/// metav1.ObjectMeta without managedFields, which Regatta never reads.
struct ObjectMeta {
  std::string name;
  std::string generate_name;
  std::string ns;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  std::optional<TimePoint> creation_timestamp;
  std::optional<TimePoint> deletion_timestamp;
  std::optional<std::int64_t> deletion_grace_period_seconds;
  StringMap labels;
  StringMap annotations;
  std::vector<OwnerReference> owner_references;
  std::vector<std::string> finalizers;

  ObjectKey key() const { return ObjectKey(ns, name); }
  bool deleting() const { return deletion_timestamp.has_value(); }
  /// The owner with controller=true, or null.
  const OwnerReference* controller() const;
  bool has_finalizer(std::string_view finalizer) const;
  /// The value, or empty.
  const std::string& label(const std::string& key) const;
  const std::string& annotation(const std::string& key) const;
  friend bool operator==(const ObjectMeta&, const ObjectMeta&) = default;
};

enum class ConditionStatus { True, False, Unknown };

/// metav1.Condition.
struct Condition {
  std::string type;
  ConditionStatus status = ConditionStatus::Unknown;
  std::int64_t observed_generation = 0;
  TimePoint last_transition_time{};
  std::string reason;
  std::string message;
  friend bool operator==(const Condition&, const Condition&) = default;
};

using Conditions = std::vector<Condition>;

/// The condition of that type, or null.
const Condition* find_condition(const Conditions& conditions, std::string_view type);
bool is_true(const Conditions& conditions, std::string_view type);
bool is_false(const Conditions& conditions, std::string_view type);

/// Longest condition message the API accepts, in bytes.
constexpr std::size_t condition_message_max = 32 * 1024;

/// Adds or replaces the condition of `wanted.type`, as meta.SetStatusCondition does: the transition
/// time moves to `now` only when the status changes. The message is cut to its limit. Returns
/// whether anything changed.
bool set_condition(Conditions* conditions, Condition wanted, TimePoint now);

}  // namespace regatta::api
