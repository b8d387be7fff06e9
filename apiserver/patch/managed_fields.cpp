#include "apiserver/patch/managed_fields.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <tuple>

namespace regatta::apiserver {
namespace {

constexpr std::size_t manager_name_max = 128;

std::string text_of(const Json& entry, const char* name) {
  auto found = entry.find(name);
  return found != entry.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Json encode_entry(const ManagedEntry& entry) {
  Json encoded = {{"manager", entry.manager},
                  {"operation", entry.applied ? "Apply" : "Update"},
                  {"apiVersion", entry.api_version},
                  {"fieldsType", "FieldsV1"},
                  {"fieldsV1", encode_field_set(entry.fields)}};
  if (!entry.time.empty()) encoded["time"] = entry.time;
  if (!entry.subresource.empty()) encoded["subresource"] = entry.subresource;
  return encoded;
}

Result<ManagedEntry> decode_entry(const Json& encoded) {
  if (!encoded.is_object()) return Error(Errc::invalid, "an entry of managedFields is no object");
  ManagedEntry entry;
  entry.manager = text_of(encoded, "manager");
  std::string operation = text_of(encoded, "operation");
  if (operation != "Apply" && operation != "Update") {
    return Error(Errc::invalid, "managedFields has the operation \"" + operation + "\"");
  }
  entry.applied = operation == "Apply";
  entry.api_version = text_of(encoded, "apiVersion");
  entry.subresource = text_of(encoded, "subresource");
  entry.time = text_of(encoded, "time");
  auto fields = encoded.find("fieldsV1");
  if (fields != encoded.end() && !fields->is_null()) {
    Result<FieldSet> set = decode_field_set(*fields);
    if (!set) return set.error();
    entry.fields = std::move(*set);
  }
  return entry;
}

auto order_of(const ManagedEntry& e) {
  return std::tie(e.time, e.manager, e.api_version, e.subresource);
}

}  // namespace

SchemaPtr complete_schema(const Schema& custom_resource, SchemaPtr object_meta) {
  auto text = std::make_shared<Schema>();
  text->type = SchemaType::string;
  auto whole = std::make_shared<Schema>(custom_resource);
  whole->properties["apiVersion"] = text;
  whole->properties["kind"] = text;
  if (object_meta) whole->properties["metadata"] = std::move(object_meta);
  return whole;
}

std::vector<std::string> default_ignored_fields(bool custom, bool has_status,
                                                std::string_view subresource) {
  if (subresource == "status") {
    return custom ? std::vector<std::string>{"spec", "metadata"} : std::vector<std::string>{"spec"};
  }
  if (subresource.empty() && has_status) return {"status"};
  return {};
}

std::string manager_of_user_agent(std::string_view user_agent) {
  std::string manager;
  for (char c : user_agent.substr(0, user_agent.find('/'))) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) continue;
    if (manager.size() == manager_name_max) break;
    manager += c;
  }
  return manager;
}

const Json& blank_object(std::string_view group, std::string_view version, std::string_view kind) {
  static const Json empty = Json::object();
  static const Json spec_and_status = {{"spec", Json::object()}, {"status", Json::object()}};
  static const Json pod_template = {{"metadata", Json::object()},
                                    {"spec", {{"containers", nullptr}}}};
  static const std::map<std::string, Json, std::less<>> blanks = {
      {"/v1/Namespace", spec_and_status},
      {"/v1/Node", spec_and_status},
      {"/v1/Pod", {{"spec", {{"containers", nullptr}}}, {"status", Json::object()}}},
      {"/v1/Event",
       {{"involvedObject", Json::object()},
        {"source", Json::object()},
        {"firstTimestamp", nullptr},
        {"lastTimestamp", nullptr},
        {"eventTime", nullptr},
        {"reportingComponent", ""},
        {"reportingInstance", ""}}},
      {"events.k8s.io/v1/Event",
       {{"eventTime", nullptr},
        {"regarding", Json::object()},
        {"deprecatedSource", Json::object()},
        {"deprecatedFirstTimestamp", nullptr},
        {"deprecatedLastTimestamp", nullptr}}},
      {"batch/v1/Job", {{"spec", {{"template", pod_template}}}, {"status", Json::object()}}},
      {"apps/v1/Deployment",
       {{"spec", {{"selector", nullptr}, {"template", pod_template}, {"strategy", Json::object()}}},
        {"status", Json::object()}}},
      {"coordination.k8s.io/v1/Lease", {{"spec", Json::object()}}},
      {"apiextensions.k8s.io/v1/CustomResourceDefinition",
       {{"spec", {{"names", Json::object()}, {"versions", nullptr}}},
        {"status", {{"acceptedNames", Json::object()}}}}},
  };
  std::string key(group);
  key += "/";
  key += version;
  key += "/";
  key += kind;
  auto found = blanks.find(key);
  return found != blanks.end() ? found->second : empty;
}

bool ManagedEntry::same_manager(const ManagedEntry& other) const {
  return manager == other.manager && applied == other.applied && subresource == other.subresource &&
         (applied || api_version == other.api_version);
}

Result<ManagedEntries> decode_managed_fields(const Json& list) {
  if (!list.is_array()) return Error(Errc::invalid, "managedFields is no list");
  ManagedEntries entries;
  entries.reserve(list.size());
  for (const Json& encoded : list) {
    Result<ManagedEntry> entry = decode_entry(encoded);
    if (!entry) return entry.error();
    auto same = [&](const ManagedEntry& e) { return e.same_manager(*entry); };
    std::erase_if(entries, same);
    entries.push_back(std::move(*entry));
  }
  return entries;
}

Json encode_managed_fields(const ManagedEntries& entries) {
  std::vector<const ManagedEntry*> sorted;
  for (const ManagedEntry& entry : entries) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    if (a->applied != b->applied) return a->applied;
    return order_of(*a) < order_of(*b);
  });
  Json list = Json::array();
  for (const ManagedEntry* entry : sorted) list.push_back(encode_entry(*entry));
  return list;
}

ManagedEntries managed_entries_of(const Json& object) {
  auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->is_object()) return {};
  auto list = metadata->find("managedFields");
  if (list == metadata->end()) return {};
  Result<ManagedEntries> entries = decode_managed_fields(*list);
  return entries ? std::move(*entries) : ManagedEntries{};
}

void set_managed_entries(Json* object, const ManagedEntries& entries) {
  Json& metadata = (*object)["metadata"];
  if (!metadata.is_object()) metadata = Json::object();
  if (entries.empty()) {
    metadata.erase("managedFields");
  } else {
    metadata["managedFields"] = encode_managed_fields(entries);
  }
}

FieldSet field_set_of_paths(const std::vector<std::string>& dotted_paths) {
  FieldSet set;
  for (const std::string& path : dotted_paths) {
    std::vector<std::string> elements;
    std::size_t from = 0;
    while (from <= path.size()) {
      std::size_t to = std::min(path.find('.', from), path.size());
      if (to > from) elements.push_back(field_element(path.substr(from, to - from)));
      from = to + 1;
    }
    set.insert(elements);
  }
  return set;
}

const FieldSet& unowned_fields() {
  static const FieldSet set = field_set_of_paths(
      {"apiVersion", "kind", "metadata", "metadata.name", "metadata.namespace",
       "metadata.creationTimestamp", "metadata.selfLink", "metadata.uid", "metadata.clusterName",
       "metadata.generation", "metadata.managedFields", "metadata.resourceVersion"});
  return set;
}

namespace {

std::vector<std::string> elements_of(std::string_view dotted_path) {
  std::vector<std::string> elements;
  std::size_t from = 0;
  while (from < dotted_path.size()) {
    std::size_t to = std::min(dotted_path.find('.', from), dotted_path.size());
    if (to > from) elements.push_back(field_element(dotted_path.substr(from, to - from)));
    from = to + 1;
  }
  return elements;
}

const FieldSet& replicas_of_scale() {
  static const FieldSet set = field_set_of_paths({"spec.replicas"});
  return set;
}

ManagedEntry* find_manager(ManagedEntries* entries, const ManagedEntry& wanted) {
  for (ManagedEntry& entry : *entries) {
    // Their versions differ by nature: autoscaling/v1 is the Scale's.
    if (entry.manager == wanted.manager && entry.applied == wanted.applied &&
        entry.subresource == wanted.subresource) {
      return &entry;
    }
  }
  return nullptr;
}

}  // namespace

Json managed_fields_of_scale(const Json& object, std::string_view replicas_path) {
  std::vector<std::string> path = elements_of(replicas_path);
  ManagedEntries entries;
  for (ManagedEntry& entry : managed_entries_of(object)) {
    if (!entry.fields.has(path)) continue;
    entry.fields = replicas_of_scale();
    entry.api_version = "autoscaling/v1";
    entries.push_back(std::move(entry));
  }
  return encode_managed_fields(entries);
}

void merge_managed_fields_of_scale(Json* object, const Json& scale_entries,
                                   std::string_view replicas_path, std::string_view api_version) {
  FieldSet replicas;
  replicas.insert(elements_of(replicas_path));
  Result<ManagedEntries> decoded = decode_managed_fields(scale_entries);
  ManagedEntries scale = decoded ? std::move(*decoded) : ManagedEntries{};
  ManagedEntries merged;
  for (ManagedEntry& entry : managed_entries_of(*object)) {
    if (!intersection(entry.fields, replicas).empty()) {
      if (ManagedEntry* kept = find_manager(&scale, entry)) {
        scale.erase(scale.begin() + (kept - scale.data()));
      } else {
        entry.fields = difference(entry.fields, replicas);
      }
    }
    if (!entry.fields.empty()) merged.push_back(std::move(entry));
  }
  for (ManagedEntry& entry : scale) {
    entry.fields = replicas;
    entry.api_version = api_version;
    merged.push_back(std::move(entry));
  }
  set_managed_entries(object, merged);
}

}  // namespace regatta::apiserver
