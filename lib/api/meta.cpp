#include "lib/api/meta.h"

#include "lib/base/limited_text.h"

#include <algorithm>

namespace regatta::api {
namespace {

const std::string& value_or_empty(const StringMap& map, const std::string& key) {
  static const std::string empty;
  const auto it = map.find(key);
  return it == map.end() ? empty : it->second;
}

}  // namespace

const OwnerReference* ObjectMeta::controller() const {
  for (const OwnerReference& owner : owner_references) {
    if (owner.controller.value_or(false)) return &owner;
  }
  return nullptr;
}

bool ObjectMeta::has_finalizer(std::string_view finalizer) const {
  return std::find(finalizers.begin(), finalizers.end(), finalizer) != finalizers.end();
}

const std::string& ObjectMeta::label(const std::string& key) const {
  return value_or_empty(labels, key);
}

const std::string& ObjectMeta::annotation(const std::string& key) const {
  return value_or_empty(annotations, key);
}

const Condition* find_condition(const Conditions& conditions, std::string_view type) {
  for (const Condition& condition : conditions) {
    if (condition.type == type) return &condition;
  }
  return nullptr;
}

bool is_true(const Conditions& conditions, std::string_view type) {
  const Condition* found = find_condition(conditions, type);
  return found && found->status == ConditionStatus::True;
}

bool is_false(const Conditions& conditions, std::string_view type) {
  const Condition* found = find_condition(conditions, type);
  return found && found->status == ConditionStatus::False;
}

bool set_condition(Conditions* conditions, Condition wanted, TimePoint now) {
  wanted.message = limited_text(std::move(wanted.message), condition_message_max);
  wanted.last_transition_time = std::chrono::floor<std::chrono::seconds>(now);
  for (Condition& condition : *conditions) {
    if (condition.type != wanted.type) continue;
    if (condition.status == wanted.status) {
      wanted.last_transition_time = condition.last_transition_time;
    }
    if (condition == wanted) return false;
    condition = std::move(wanted);
    return true;
  }
  conditions->push_back(std::move(wanted));
  return true;
}

}  // namespace regatta::api
