#include "lab/apiserver/patch/managed_fields.h"
#include "lab/apiserver/patch/typed.h"
#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <tuple>

/// Every ordinary write is tracked, so tracking works on the encoded sets in place: it costs one
/// comparison of the two objects plus the size of the changes.
namespace regatta::apiserver {
namespace {

constexpr std::size_t update_managers_max = 10;
constexpr const char* ancient_manager = "ancient-changes";

const Json* entries_of(const Json& object) {
  const Json* metadata = object_at(object, "metadata");
  if (!metadata) return nullptr;
  auto found = metadata->find("managedFields");
  return found != metadata->end() && found->is_array() ? &*found : nullptr;
}

/// Removes the entries from the object and returns them; unset when it had none.
std::optional<Json> take_entries(Json* object) {
  auto metadata = object->find("metadata");
  if (metadata == object->end() || !metadata->is_object()) return std::nullopt;
  auto found = metadata->find("managedFields");
  if (found == metadata->end()) return std::nullopt;
  std::optional<Json> taken = std::move(*found);
  metadata->erase(found);
  return taken->is_array() ? std::move(taken) : std::nullopt;
}

bool is_reset(const Json& sent) {
  return sent.empty() || (sent.size() == 1 && sent[0].is_object() && sent[0].empty());
}

/// The entries before the write, in canonical form.
Json starting_entries(Json* object, const Json& live, const Writer& writer) {
  const Json* kept = entries_of(live);
  std::optional<Json> sent = take_entries(object);
  Json of_live = Json::array();
  if (sent && writer.subresource.empty() && !(kept && *sent == *kept)) {
    if (is_reset(*sent)) return of_live;
    Result<ManagedEntries> entries = decode_managed_fields(*sent);
    if (entries && !entries->empty()) return encode_managed_fields(*entries);
  } else if (sent && kept && *sent == *kept) {
    return std::move(*sent);
  }
  return kept ? *kept : of_live;
}

bool is_own(const Json& entry, const Writer& writer) {
  return text_at(entry, "manager") == writer.manager && text_at(entry, "operation") == "Update" &&
         text_at(entry, "apiVersion") == writer.api_version &&
         text_at(entry, "subresource") == writer.subresource;
}

bool comes_before(const Json& a, const Json& b) {
  const std::string& p = text_at(a, "operation");
  const std::string& q = text_at(b, "operation");
  if (p != q) return p < q;
  for (const char* name : {"time", "manager", "apiVersion", "subresource"}) {
    int order = text_at(a, name).compare(text_at(b, name));
    if (order != 0) return order < 0;
  }
  return false;
}

void own_changes(Json* entries, const FieldSet& changed, const Writer& writer) {
  auto own = std::find_if(entries->begin(), entries->end(),
                          [&](const Json& entry) { return is_own(entry, writer); });
  if (own == entries->end()) {
    Json entry = {{"manager", writer.manager},
                  {"operation", "Update"},
                  {"apiVersion", writer.api_version},
                  {"fieldsType", "FieldsV1"},
                  {"fieldsV1", Json::object()}};
    if (!writer.subresource.empty()) entry["subresource"] = writer.subresource;
    entries->push_back(std::move(entry));
    own = entries->end() - 1;
  }
  unite_encoded(&(*own)["fieldsV1"], changed);
  (*own)["time"] = format_rfc3339(writer.now);
}

/// Takes the changed fields from their owners and gives them to the writer.
void reassign(Json* entries, const Comparison& comparison, const Writer& writer) {
  for (Json& entry : *entries) {
    auto fields = entry.find("fieldsV1");
    if (fields == entry.end()) continue;
    subtract_encoded(&*fields, comparison.removed);
    if (!is_own(entry, writer)) subtract_encoded(&*fields, comparison.changed);
  }
  if (!comparison.changed.empty()) own_changes(entries, comparison.changed, writer);
  auto owns_nothing = [](const Json& entry) {
    auto fields = entry.find("fieldsV1");
    return fields == entry.end() || fields->empty();
  };
  entries->erase(std::remove_if(entries->begin(), entries->end(), owns_nothing), entries->end());
}

/// Merges the oldest updates of each version into one entry, as long as there are too many.
void cap_update_managers(Json* entries) {
  std::size_t updates = 0;
  for (const Json& entry : *entries) updates += text_at(entry, "operation") == "Update";
  if (updates <= update_managers_max) return;
  Result<ManagedEntries> decoded = decode_managed_fields(*entries);
  if (!decoded) return;
  ManagedEntries& all = *decoded;
  auto order = [](const ManagedEntry& e) {
    return std::tie(e.time, e.manager, e.applied, e.api_version, e.subresource);
  };
  std::sort(all.begin(), all.end(),
            [&](const ManagedEntry& a, const ManagedEntry& b) { return order(a) < order(b); });
  std::vector<bool> merged(all.size(), false);
  for (std::size_t i = 0; i < all.size() && updates > update_managers_max; ++i) {
    if (all[i].applied) continue;
    for (std::size_t first = 0; first < i; ++first) {
      if (merged[first] || all[first].applied || all[first].api_version != all[i].api_version) {
        continue;
      }
      all[i].fields = united(all[i].fields, all[first].fields);
      all[i].manager = ancient_manager;
      all[i].subresource.clear();
      merged[first] = true;
      --updates;
      break;
    }
  }
  ManagedEntries left;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!merged[i]) left.push_back(std::move(all[i]));
  }
  *entries = encode_managed_fields(left);
}

/// Fields that never have an owner need no comparison.
Comparison tracked_comparison(const Json& object, const Json& live, const Writer& writer) {
  Comparison comparison;
  if (writer.ignored.empty()) {
    comparison = compare(live, object, writer.schema, &unowned_fields());
  } else {
    FieldSet skipped = united(unowned_fields(), field_set_of_paths(writer.ignored));
    comparison = compare(live, object, writer.schema, &skipped);
    comparison.changed =
        recursive_difference(comparison.changed, field_set_of_paths(writer.ignored));
    comparison.removed =
        recursive_difference(comparison.removed, field_set_of_paths(writer.ignored));
  }
  comparison.changed = difference(comparison.changed, unowned_fields());
  return comparison;
}

void put_entries(Json* object, Json entries) {
  if (entries.empty()) return;
  Json& metadata = (*object)["metadata"];
  if (!metadata.is_object()) metadata = Json::object();
  metadata["managedFields"] = std::move(entries);
}

}  // namespace

void track_write(Json* object, const Json& live, const Writer& writer) {
  Json entries = starting_entries(object, live, writer);
  const Json* metadata = object_at(live, "metadata");
  bool exists = metadata && !text_at(*metadata, "uid").empty();
  // An object without owners has none until the first apply.
  if (entries.empty() && exists) return;
  Comparison comparison = tracked_comparison(*object, live, writer);
  if (!comparison.empty()) {
    reassign(&entries, comparison, writer);
    cap_update_managers(&entries);
    if (!std::is_sorted(entries.begin(), entries.end(), comes_before)) {
      std::sort(entries.begin(), entries.end(), comes_before);
    }
  }
  put_entries(object, std::move(entries));
}

namespace {

bool equal_but_times(const Json& a, const Json& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!a[i].is_object() || !b[i].is_object()) return false;
    std::size_t times = a[i].contains("time");
    if (a[i].size() - times != b[i].size() - b[i].contains("time")) return false;
    for (const auto& [name, value] : a[i].items()) {
      if (name == "time") continue;
      auto found = b[i].find(name);
      if (found == b[i].end() || *found != value) return false;
    }
  }
  return true;
}

/// Equality of two objects, without one of their members.
template <class Compare>
bool equal_but(const Json& a, const Json& b, std::string_view excepted, Compare equal_excepted) {
  if (!a.is_object() || !b.is_object() || a.size() != b.size()) return false;
  auto i = a.begin();
  auto j = b.begin();
  for (; i != a.end(); ++i, ++j) {
    if (i.key() != j.key()) return false;
    if (i.key() == excepted ? !equal_excepted(*i, *j) : *i != *j) return false;
  }
  return true;
}

}  // namespace

void ignore_time_only_change(Json* object, const Json& live) {
  const Json* sent = entries_of(*object);
  const Json* kept = entries_of(live);
  if (!sent || !kept || *sent == *kept) return;
  bool same = equal_but(*object, live, "metadata", [](const Json& a, const Json& b) {
    return equal_but(a, b, "managedFields", equal_but_times);
  });
  if (same) (*object)["metadata"]["managedFields"] = *kept;
}

}  // namespace regatta::apiserver
