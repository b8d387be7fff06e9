#include "lab/apiserver/patch/typed.h"

#include <nlohmann/json.hpp>

#include <map>

namespace regatta::apiserver {
namespace {

/// The changes at and below one place. Equal parts allocate nothing, and path elements are made
/// only on the way up from a difference.
struct Delta {
  Comparison below;
  bool changed = false;
  bool removed = false;
  bool any() const { return changed || removed || !below.empty(); }
};

void adopt(Delta* parent, const std::string& element, Delta&& child) {
  if (child.changed || !child.below.changed.empty()) {
    FieldSet::Node& node = parent->below.changed.at(element);
    node.member = child.changed;
    node.children = std::move(child.below.changed);
  }
  if (child.removed || !child.below.removed.empty()) {
    FieldSet::Node& node = parent->below.removed.at(element);
    node.member = child.removed;
    node.children = std::move(child.below.removed);
  }
}

bool is_hollow(const Json* value) {
  return !value || value->empty();
}

Delta leaf_delta(const Json* before, const Json* after) {
  Delta delta;
  delta.removed = !after;
  delta.changed = !before || (after && *before != *after);
  return delta;
}

/// Structures that a built-in type always has, although its JSON leaves them out when empty. Their
/// appearing or disappearing is not a change.
bool always_present(std::string_view name, const Schema* schema) {
  if (!schema || !schema->ref_name.starts_with("io.k8s.")) return false;
  return name == "metadata" || name == "spec" || name == "status" || name == "template" ||
         name == "strategy";
}

Delta delta_of(const Json* before, const Json* after, const Schema* schema,
               const FieldSet* skipped = nullptr);

Delta member_delta(const std::string& name, const Json* before, const Json* after,
                   const Schema* schema, const FieldSet* skipped) {
  static const Json nothing = Json::object();
  if (skipped) {
    const FieldSet::Node* node = skipped->find(field_element(name));
    if (node && node->children.empty()) return {};
    skipped = node ? &node->children : nullptr;
  }
  const Schema* below = member_type(schema, name).schema;
  if ((!before || !after) && always_present(name, below)) {
    return delta_of(before ? before : &nothing, after ? after : &nothing, below, skipped);
  }
  return delta_of(before, after, below, skipped);
}

Delta map_delta(const Json* before, const Json* after, const Schema* schema,
                const FieldSet* skipped) {
  static const Json nothing = Json::object();
  const Json& a = before && before->is_object() ? *before : nothing;
  const Json& b = after && after->is_object() ? *after : nothing;
  Delta delta;
  auto compare_member = [&](const std::string& name, const Json* x, const Json* y) {
    Delta child = member_delta(name, x, y, schema, skipped);
    if (child.any()) adopt(&delta, field_element(name), std::move(child));
  };
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() || j != b.end()) {
    int order = i == a.end() ? 1 : j == b.end() ? -1 : i.key().compare(j.key());
    if (order < 0) {
      compare_member(i.key(), &*i, nullptr);
    } else if (order > 0) {
      compare_member(j.key(), nullptr, &*j);
    } else {
      compare_member(i.key(), &*i, &*j);
    }
    if (order <= 0) ++i;
    if (order >= 0) ++j;
  }
  return delta;
}

bool same_item(const Schema& list, const Json& a, const Json& b) {
  if (list.list_type != ListType::map) return a == b;
  if (!a.is_object() || !b.is_object()) return false;
  for (const std::string& key : list.list_map_keys) {
    auto i = a.find(key);
    auto j = b.find(key);
    if (i == a.end() || j == b.end()) return false;
    if (*i != *j) return false;
  }
  return true;
}

/// Items that pair up by position, which is the usual case: no path elements are needed.
bool same_items(const Schema& list, const Json& a, const Json& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!same_item(list, a[i], b[i])) return false;
  }
  return true;
}

struct Occurrences {
  std::vector<const Json*> before, after;
};

Delta occurrence_delta(const Occurrences& found, const Schema* item) {
  if (found.before.size() <= 1 && found.after.size() <= 1) {
    return delta_of(found.before.empty() ? nullptr : found.before[0],
                    found.after.empty() ? nullptr : found.after[0], item);
  }
  // Duplicates are owned together.
  Delta delta;
  auto equal = [](const Json* a, const Json* b) { return *a == *b; };
  delta.removed = found.after.empty();
  delta.changed = !delta.removed && !std::equal(found.before.begin(), found.before.end(),
                                                found.after.begin(), found.after.end(), equal);
  return delta;
}

Delta list_delta(const Json* before, const Json* after, const Schema& schema) {
  static const Json nothing = Json::array();
  const Json& a = before && before->is_array() ? *before : nothing;
  const Json& b = after && after->is_array() ? *after : nothing;
  const Schema* item = schema.items.get();
  Delta delta;
  if (a == b) return delta;
  if (same_items(schema, a, b)) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      Delta child = delta_of(&a[i], &b[i], item);
      if (!child.any()) continue;
      Result<std::string> element = item_element(schema, a[i]);
      if (element) adopt(&delta, *element, std::move(child));
    }
    return delta;
  }
  std::map<std::string, Occurrences> items;
  for (const Json& value : a) {
    Result<std::string> element = item_element(schema, value);
    if (element) items[*element].before.push_back(&value);
  }
  for (const Json& value : b) {
    Result<std::string> element = item_element(schema, value);
    if (element) items[*element].after.push_back(&value);
  }
  for (const auto& [element, found] : items) {
    Delta child = occurrence_delta(found, item);
    if (child.any()) adopt(&delta, element, std::move(child));
  }
  return delta;
}

Delta delta_of(const Json* before, const Json* after, const Schema* schema,
               const FieldSet* skipped) {
  if (!before && !after) return {};
  // Null has the form of its counterpart.
  const Json& typical = !after || (after->is_null() && before) ? *before : *after;
  Shape shape = shape_of(schema, typical);
  bool alike =
      !before || !after || before->is_null() || after->is_null() || before->type() == after->type();
  if (shape == Shape::leaf || !alike || (is_hollow(before) && is_hollow(after))) {
    return leaf_delta(before, after);
  }
  Delta delta = shape == Shape::map ? map_delta(before, after, schema, skipped)
                                    : list_delta(before, after, *schema);
  delta.changed = !before;
  delta.removed = !after;
  return delta;
}

}  // namespace

Comparison compare(const Json& before, const Json& after, const Schema* schema,
                   const FieldSet* skipped) {
  Delta delta = delta_of(&before, &after, schema, skipped);
  return std::move(delta.below);
}

}  // namespace regatta::apiserver
