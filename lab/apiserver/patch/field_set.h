#pragma once

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <string>
#include <string_view>
#include <vector>

namespace regatta::apiserver {

/// A set of field paths of an object, as server-side apply keeps it per manager: a trie whose edges
/// are path elements in the notation of FieldsV1:
///
///     f:name            a member of an object
///     k:{"name":"a"}    an element of a list, by its key fields (sorted by name)
///     v:"x"             an element of a list of scalars, by its value
///     i:0               an element of a list, by its index
///
/// Nodes are sorted by element. A path is in the set when the node at its end is a `member`; a node
/// that is neither a member nor has children does not exist.
struct FieldSet {
  struct Node;
  std::vector<Node> nodes;

  bool empty() const { return nodes.empty(); }
  const Node* find(std::string_view element) const;
  /// The node of `element`. When missing it is added, not as a member: the caller makes it one, or
  /// gives it children.
  Node& at(std::string_view element);
  /// Whether the path is a member.
  bool has(const std::vector<std::string>& path) const;
  void insert(const std::vector<std::string>& path);

  friend bool operator==(const FieldSet&, const FieldSet&) = default;
};

struct FieldSet::Node {
  std::string element;
  bool member = false;
  FieldSet children;
  friend bool operator==(const Node&, const Node&) = default;
};

/// Paths in `a` or `b`.
FieldSet united(const FieldSet& a, const FieldSet& b);
/// Paths in both `a` and `b`.
FieldSet intersection(const FieldSet& a, const FieldSet& b);
/// Paths of `a` that are not in `b`. A path below a member of `b` stays unless it is in `b` itself.
FieldSet difference(const FieldSet& a, const FieldSet& b);
/// Paths of `a` that are not in `b` nor below a member of `b`.
FieldSet recursive_difference(const FieldSet& a, const FieldSet& b);

/// FieldsV1. A member without children is `{}`; one with children has "." among them.
Json encode_field_set(const FieldSet& set);
Result<FieldSet> decode_field_set(const Json& fields);

/// The same operations on an encoded set in place, in time proportional to `change`; this makes the
/// tracking of ordinary writes cheap. `fields` must be as encode_field_set() writes it.
void subtract_encoded(Json* fields, const FieldSet& change);
void unite_encoded(Json* fields, const FieldSet& change);

/// `.spec.parts[name="a"].count`, one per member, in the order of the set.
std::vector<std::string> path_strings(const FieldSet& set);
/// `.name`, `[name="a",port=80]`, `[="x"]` or `[0]`.
std::string path_element_string(std::string_view element);

/// The element of member `name`.
std::string field_element(std::string_view name);

}  // namespace regatta::apiserver
