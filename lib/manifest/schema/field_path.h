#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace regatta::manifest {

/// Where in an object a walk is: a list on the stack of the walk, made into text only for an error.
/// The root is a FieldPath without key.
struct FieldPath {
  const FieldPath* parent = nullptr;
  std::string_view key;  ///< of a property or a map member
  std::size_t index = 0;
  enum class Kind { root, property, map_key, item } kind = Kind::root;

  FieldPath property(std::string_view name) const { return {this, name, 0, Kind::property}; }
  FieldPath map_key(std::string_view name) const { return {this, name, 0, Kind::map_key}; }
  FieldPath item(std::size_t at) const { return {this, {}, at, Kind::item}; }

  /// `spec.podSets[0].name`. Map members are `limits.cpu`, or with `bracket_keys` `limits[cpu]`.
  /// Empty for the root.
  std::string text(bool bracket_keys = false) const;
};

/// `prefix.rest`, either of which may be empty; `rest` may begin with an index.
std::string join_path(std::string_view prefix, std::string_view rest);

}  // namespace regatta::manifest
