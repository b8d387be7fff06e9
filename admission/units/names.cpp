#include "admission/units/names.h"

#include "lib/base/fnv.h"

namespace regatta::admission {
std::uint32_t Interner::intern(std::string_view name) {
  if (const auto it = ids_.find(name); it != ids_.end()) return it->second;
  const auto id = static_cast<std::uint32_t>(names_.size());
  names_.emplace_back(name);
  ids_.emplace(names_.back(), id);
  return id;
}

std::optional<std::uint32_t> Interner::find(std::string_view name) const {
  const auto it = ids_.find(name);
  if (it == ids_.end()) return std::nullopt;
  return it->second;
}

bool Names::before(ResourceId a, ResourceId b) const {
  const std::string& left = resources.name(a);
  const std::string& right = resources.name(b);
  const std::uint64_t hash_left = fnv1a(left);
  const std::uint64_t hash_right = fnv1a(right);
  return hash_left != hash_right ? hash_left < hash_right : left < right;
}

FrId Names::pair(FlavorId flavor, ResourceId resource) {
  const auto key = (static_cast<std::uint64_t>(flavor) << 32U) | resource;
  const auto [it, added] = ids_.emplace(key, static_cast<FrId>(pairs_.size()));
  if (added) pairs_.push_back({flavor, resource});
  return it->second;
}

}  // namespace regatta::admission
