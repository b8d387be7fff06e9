#include "lab/apiserver/patch/strategic_merge.h"

#include "lab/terms.h"
#include "lib/manifest/fields/go_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>

namespace regatta::apiserver {
namespace {

constexpr std::string_view directive = "$patch";
constexpr std::string_view retain_keys = "$retainKeys";
constexpr std::string_view element_order_prefix = "$setElementOrder/";
constexpr std::string_view delete_prefix = "$deleteFromPrimitiveList/";

/// Ends a merge from any depth. It is caught in this file and becomes the answer.
struct Refused {
  PatchFailure failure;
};

[[noreturn]] void refuse_bad_request(std::string message) {
  throw Refused{bad_patch(std::move(message))};
}

[[noreturn]] void refuse_as_error(std::string message) {
  throw Refused{failed_patch(std::move(message))};
}

[[noreturn]] void refuse_missing_key(const Json& item, const std::string& key) {
  refuse_as_error("map: " + go_plain(item) + " does not contain declared merge key: " + key);
}

[[noreturn]] void refuse_directive(const Json& value, const Json& map) {
  refuse_as_error("unknown patch type: " + go_plain(value) + " in map: " + go_plain(map));
}

/// The patch strategy of one member of an object.
struct Strategy {
  bool merge = false;
  bool replace = false;
  std::string merge_key;
  const Schema* schema = nullptr;
};

Strategy strategy_of(const Schema* parent, std::string_view name) {
  Strategy strategy;
  strategy.schema = parent ? parent->member(name) : nullptr;
  if (!strategy.schema) return strategy;
  const std::string& text = strategy.schema->patch_strategy;
  strategy.merge = text.find("merge") != std::string::npos;
  strategy.replace = text.find("replace") != std::string::npos;
  strategy.merge_key = strategy.schema->patch_merge_key;
  return strategy;
}

const Schema* item_schema(const Strategy& strategy) {
  return strategy.schema ? strategy.schema->items.get() : nullptr;
}

Json merge_map(Json original, Json patch, const Schema* schema);

bool has_directive(const Json& value) {
  return value.is_object() && value.contains(directive);
}

/// A new value is not merged: its nulls remove nothing, and objects with a $patch directive in it
/// are dropped.
Json without_directives(Json value) {
  if (value.is_array()) {
    Json kept = Json::array();
    for (Json& item : value) {
      if (!has_directive(item)) kept.push_back(without_directives(std::move(item)));
    }
    return kept;
  }
  if (!value.is_object()) return value;
  Json kept = Json::object();
  for (auto& [name, item] : value.items()) {
    bool special = name == directive || name == retain_keys ||
                   name.starts_with(element_order_prefix) || name.starts_with(delete_prefix);
    if (special || item.is_null() || has_directive(item)) continue;
    kept[name] = without_directives(std::move(item));
  }
  return kept;
}

/// Whether `a` and `b` are the same item: by merge key, or by value when there is none.
bool same_element(const Json& a, const Json& b, const std::string& key) {
  if (key.empty() || !a.is_object() || !b.is_object()) return a == b;
  auto i = a.find(key);
  auto j = b.find(key);
  return i != a.end() && j != b.end() && *i == *j;
}

/// The index of an item in a list; -1 when it is not there.
int place_of(const Json& item, const Json& list, const std::string& key) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (same_element(list[i], item, key)) return static_cast<int>(i);
  }
  return -1;
}

/// Sorts items in the order of a list; items that the list does not have stay in front.
void sort_by(std::vector<Json>* items, const Json& order, const std::string& key) {
  std::vector<std::pair<int, std::size_t>> places;
  for (std::size_t i = 0; i < items->size(); ++i) {
    places.emplace_back(place_of((*items)[i], order, key), i);
  }
  std::sort(places.begin(), places.end());
  std::vector<Json> sorted;
  sorted.reserve(items->size());
  for (const auto& [place, index] : places) sorted.push_back(std::move((*items)[index]));
  *items = std::move(sorted);
}

/// Sorts the items that `patch_order` names in that order, among the others, which keep their order
/// on the server. New items come first.
Json ordered(const Json& merged, const Json& patch_order, const Json& server_order,
             const std::string& key) {
  std::vector<Json> patched, others;
  for (const Json& item : merged) {
    (place_of(item, patch_order, key) >= 0 ? patched : others).push_back(item);
  }
  sort_by(&patched, patch_order, key);
  sort_by(&others, server_order, key);
  Json result = Json::array();
  auto i = others.begin();
  auto j = patched.begin();
  while (i != others.end() || j != patched.end()) {
    bool take_other = j == patched.end();
    if (!take_other && i != others.end()) {
      int left = place_of(*i, server_order, key);
      int right = place_of(*j, server_order, key);
      take_other = left >= 0 && right >= 0 && left < right;
    }
    result.push_back(std::move(take_other ? *i++ : *j++));
  }
  return result;
}

void check_list(const Json& list) {
  for (const Json& item : list) {
    if (item.is_array()) {
      throw Refused{PatchFailure{422, "Invalid", "lists of lists are not supported", true, {}}};
    }
  }
}

Json merge_scalars(const Json& original, const Json& patch) {
  Json merged = Json::array();
  for (const Json* list : {&original, &patch}) {
    for (const Json& item : *list) {
      if (place_of(item, merged, "") < 0) merged.push_back(item);
    }
  }
  return merged;
}

struct ListPatch {
  Json items = Json::array();  ///< without directives
  bool replace = false;
};

/// Carries out the directives among the items of a patch. Deletions are applied to `original` at
/// once.
ListPatch take_list_directives(Json* original, const Json& patch, const std::string& key) {
  ListPatch result;
  for (const Json& item : patch) {
    if (!item.is_object()) refuse_bad_request("invalid JSON document");
    auto found = item.find(directive);
    if (found == item.end()) {
      result.items.push_back(item);
    } else if (*found == "delete") {
      if (!item.contains(key)) refuse_missing_key(item, key);
      Json kept = Json::array();
      for (Json& old : *original) {
        if (!same_element(old, item, key)) kept.push_back(std::move(old));
      }
      *original = std::move(kept);
    } else if (*found == "replace") {
      result.replace = true;
    } else if (*found == "merge") {
      refuse_as_error("merging lists cannot yet be specified in the patch");
    } else {
      refuse_directive(*found, item);
    }
  }
  return result;
}

Json merge_list(Json original, const Json& patch, const Strategy& strategy) {
  if (!strategy.merge) return without_directives(patch);
  if (original.empty() && patch.empty()) return original;
  check_list(original);
  check_list(patch);
  const Json& sample = original.empty() ? patch[0] : original[0];
  if (!sample.is_object()) return ordered(merge_scalars(original, patch), patch, original, "");
  const std::string& key = strategy.merge_key;
  if (key.empty()) refuse_as_error("cannot merge lists without merge key");
  ListPatch wanted = take_list_directives(&original, patch, key);
  if (wanted.replace) return without_directives(wanted.items);
  Json merged = original;
  for (const Json& item : wanted.items) {
    if (!item.contains(key)) refuse_missing_key(item, key);
    int place = place_of(item, merged, key);
    if (place < 0) {
      merged.push_back(without_directives(item));
    } else {
      Json& old = merged[static_cast<std::size_t>(place)];
      old = merge_map(std::move(old), item, item_schema(strategy));
    }
  }
  return ordered(merged, wanted.items, original, key);
}

/// Drops the members of the original that are not to be retained.
void retain(Json* original, Json* patch) {
  auto found = patch->find(retain_keys);
  if (found == patch->end()) return;
  Json keys = std::move(*found);
  patch->erase(found);
  if (!keys.is_array()) refuse_bad_request("invalid patch format of retainKeys");
  for (const auto& [name, value] : patch->items()) {
    bool special = name.starts_with(element_order_prefix) || name.starts_with(delete_prefix);
    if (!special && place_of(name, keys, "") < 0) {
      refuse_bad_request("invalid patch format of retainKeys");
    }
  }
  Json kept = Json::object();
  for (auto& [name, value] : original->items()) {
    if (place_of(name, keys, "") >= 0) kept[name] = std::move(value);
  }
  *original = std::move(kept);
}

/// The items of a patch must come in the requested order.
void check_order(const Json& patch, const Json& order, const std::string& key) {
  int last = -1;
  for (const Json& item : patch) {
    if (item.is_object() && item.contains(directive)) continue;
    int place = place_of(item, order, key);
    if (place < last || place < 0) {
      refuse_as_error("The order in patch list:\n" + go_plain(patch) +
                      "\n doesn't match $setElementOrder list:\n" + go_plain(order) + "\n");
    }
    last = place;
  }
}

/// Merges the list `name` and sorts it in the requested order.
void apply_order(Json* original, Json* patch, const std::string& name, const Json& order,
                 const Schema* schema) {
  if (!order.is_array()) refuse_bad_request("invalid patch format of setElementOrder list");
  auto patch_list = patch->find(name);
  auto old_list = original->find(name);
  bool patched = patch_list != patch->end() && patch_list->is_array();
  bool exists = old_list != original->end() && old_list->is_array();
  if (patch_list != patch->end() && !patched) return;
  if (!patched && !exists) return;
  Strategy strategy = strategy_of(schema, name);
  if (patched) check_order(*patch_list, order, strategy.merge_key);
  Json old = exists ? *old_list : Json::array();
  Json merged = old;
  if (patched) {
    merged = exists ? merge_list(old, *patch_list, strategy) : without_directives(*patch_list);
  }
  (*original)[name] = ordered(merged, order, old, strategy.merge_key);
  if (patched) patch->erase(name);
}

void apply_orders(Json* original, Json* patch, const Schema* schema) {
  std::vector<std::string> names;
  for (const auto& [name, value] : patch->items()) {
    if (name.starts_with(element_order_prefix)) names.push_back(name);
  }
  for (const std::string& name : names) {
    Json order = std::move((*patch)[name]);
    patch->erase(name);
    apply_order(original, patch, name.substr(element_order_prefix.size()), order, schema);
  }
}

void delete_scalars(Json* original, const std::string& name, const Json& doomed) {
  if (!doomed.is_array()) refuse_bad_request("invalid patch format of primitive list");
  auto list = original->find(name);
  if (list == original->end() || !list->is_array()) return;
  Json kept = Json::array();
  for (Json& item : *list) {
    if (place_of(item, doomed, "") < 0) kept.push_back(std::move(item));
  }
  *list = std::move(kept);
}

void merge_member(Json* original, const std::string& name, Json value, const Schema* schema) {
  if (value.is_null()) {
    original->erase(name);
    return;
  }
  auto found = original->find(name);
  if (found == original->end() || found->type() != value.type()) {
    if (has_directive(value)) return;
    (*original)[name] = without_directives(std::move(value));
    return;
  }
  Strategy strategy = strategy_of(schema, name);
  if (value.is_object() && !strategy.replace) {
    *found = merge_map(std::move(*found), std::move(value), strategy.schema);
  } else if (value.is_array()) {
    *found = merge_list(std::move(*found), value, strategy);
  } else {
    *found = std::move(value);
  }
}

Json merge_map(Json original, Json patch, const Schema* schema) {
  auto found = patch.find(directive);
  if (found != patch.end()) {
    if (*found == "delete") return Json::object();
    if (*found != "replace") refuse_directive(*found, patch);
    return without_directives(std::move(patch));
  }
  retain(&original, &patch);
  apply_orders(&original, &patch, schema);
  for (auto& [name, value] : patch.items()) {
    if (name.starts_with(delete_prefix)) {
      delete_scalars(&original, name.substr(delete_prefix.size()), value);
    } else {
      merge_member(&original, name, std::move(value), schema);
    }
  }
  return original;
}

}  // namespace

PatchAnswer<Json> strategic_merge(const Json& original, const Json& patch, const Schema* schema) {
  if (!patch.is_object()) return bad_patch("invalid JSON document");
  try {
    return merge_map(original.is_object() ? original : Json::object(), patch, schema);
  } catch (const Refused& refused) {
    return refused.failure;
  }
}

}  // namespace regatta::apiserver
