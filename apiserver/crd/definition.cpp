#include "apiserver/crd/definition.h"

#include "apiserver/crd/custom_resource.h"
#include "apiserver/crd/definition_checks.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace regatta::apiserver {
namespace {

const Json* find(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto at = object.find(name);
  return at == object.end() || at->is_null() ? nullptr : &*at;
}
const Json& member(const Json& object, const char* name) {
  static const Json nothing;
  const auto* found = find(object, name);
  return found ? *found : nothing;
}
std::string text_of(const Json& object, const char* name) {
  const auto& value = member(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}
Json& object_at(Json& object, const char* name) {
  auto& value = object[name];
  if (!value.is_object()) value = Json::object();
  return value;
}

void lower(std::string& text) {
  for (auto& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

class DefinitionStrategy final : public Strategy {
 public:
  void set_defaults(Json& object) const override {
    if (!object.is_object()) return;
    auto& spec = object_at(object, "spec");
    auto& names = object_at(spec, "names");
    const auto kind = text_of(names, "kind");
    if (text_of(names, "singular").empty() && !kind.empty()) {
      auto singular = kind;
      lower(singular);
      names["singular"] = std::move(singular);
    }
    if (text_of(names, "listKind").empty() && !kind.empty()) names["listKind"] = kind + "List";
    if (text_of(object_at(spec, "conversion"), "strategy").empty()) {
      spec["conversion"]["strategy"] = "None";
    }
  }

  void prepare_for_create(Json& object, TimePoint) const override {
    object["status"] = {{"conditions", nullptr},
                        {"acceptedNames", {{"plural", ""}, {"kind", ""}}},
                        {"storedVersions", Json::array()}};
    record_storage_version(object);
    object_at(object, "metadata")["generation"] = 1;
  }

  void prepare_for_update(Json& object, const Json& old, TimePoint) const override {
    object["status"] = member(old, "status");
    record_storage_version(object);
    const auto& generation = member(member(old, "metadata"), "generation");
    const auto before = generation.is_number_integer() ? generation.get<std::int64_t>() : 1;
    const bool changed = member(object, "spec") != member(old, "spec");
    object_at(object, "metadata")["generation"] = before + (changed ? 1 : 0);
  }

  void prepare_for_status_update(Json& object, const Json& old, TimePoint) const override {
    object["spec"] = member(old, "spec");
    object_at(object, "metadata")["generation"] = member(member(old, "metadata"), "generation");
  }

  FieldErrors validate_create(const Json& object) const override {
    return check_definition(object);
  }

  FieldErrors validate_update(const Json& object, const Json& old) const override {
    auto errors = check_definition(object);
    if (!is_established(old)) return errors;
    auto immutable = [&](const std::string& field, const Json& now, const Json& before) {
      if (now == before) return;
      errors.push_back({"FieldValueInvalid", field,
                        "Invalid value: " + dump_json(now) + ": field is immutable"});
    };
    const auto &spec = member(object, "spec"), &old_spec = member(old, "spec");
    immutable("spec.scope", member(spec, "scope"), member(old_spec, "scope"));
    immutable("spec.names.kind", member(member(spec, "names"), "kind"),
              member(member(old_spec, "names"), "kind"));
    return errors;
  }

  FieldErrors validate_status_update(const Json&, const Json&) const override { return {}; }

  std::vector<TableColumn> columns() const override {
    return {{"Name", "string", "name", "Name of the object, unique within its namespace.", 0},
            {"Created At", "date", "", "When the object was created.", 0}};
  }

  std::vector<Json> cells(const Json& object, TimePoint) const override {
    const auto& metadata = member(object, "metadata");
    return {member(metadata, "name"), member(metadata, "creationTimestamp")};
  }

 private:
  static void record_storage_version(Json& object) {
    auto& stored = object_at(object, "status")["storedVersions"];
    if (!stored.is_array()) stored = Json::array();
    // Of several storage versions, which validation refuses, the first counts.
    for (const auto& version : member(member(object, "spec"), "versions")) {
      const auto& storage = member(version, "storage");
      if (!storage.is_boolean() || !storage.get<bool>()) continue;
      const auto& name = member(version, "name");
      if (std::find(stored.begin(), stored.end(), name) == stored.end()) stored.push_back(name);
      return;
    }
  }
};

struct Conflict {
  std::string reason;
  std::string message;
};

/// Whether a name of `definition` is taken by another one of its group; the last one found counts.
std::optional<Conflict> name_conflict(const Json& definition, const std::vector<Json>& others) {
  const auto& names = member(member(definition, "spec"), "names");
  const auto group = text_of(member(definition, "spec"), "group");
  const auto own_name = text_of(member(definition, "metadata"), "name");
  std::set<std::string> resources, kinds;
  for (const auto& other : others) {
    if (text_of(member(other, "spec"), "group") != group) continue;
    if (text_of(member(other, "metadata"), "name") == own_name) continue;
    const auto& accepted = member(member(other, "status"), "acceptedNames");
    resources.insert({text_of(accepted, "plural"), text_of(accepted, "singular")});
    for (const auto& name : member(accepted, "shortNames")) {
      if (name.is_string()) resources.insert(name.get<std::string>());
    }
    kinds.insert({text_of(accepted, "kind"), text_of(accepted, "listKind")});
  }
  std::optional<Conflict> out;
  auto look = [&out](const std::string& name, const std::set<std::string>& taken,
                     const char* reason) {
    if (!name.empty() && taken.contains(name)) {
      out = Conflict{reason, dump_json(Json(name)) + " is already in use"};
    }
  };
  look(text_of(names, "plural"), resources, "PluralConflict");
  look(text_of(names, "singular"), resources, "SingularConflict");
  for (const auto& name : member(names, "shortNames")) {
    if (name.is_string()) look(name.get<std::string>(), resources, "ShortNamesConflict");
  }
  look(text_of(names, "kind"), kinds, "KindConflict");
  look(text_of(names, "listKind"), kinds, "ListKindConflict");
  return out;
}

std::string condition_status(const Json& definition, std::string_view type) {
  const auto& conditions = member(member(definition, "status"), "conditions");
  for (const auto& condition : conditions) {
    if (text_of(condition, "type") == type) return text_of(condition, "status");
  }
  return {};
}

void set_condition(Json& status, const char* type, bool holds, const std::string& reason,
                   const std::string& message, TimePoint now) {
  auto& conditions = status["conditions"];
  if (!conditions.is_array()) conditions = Json::array();
  const std::string state = holds ? "True" : "False";
  auto at = std::find_if(conditions.begin(), conditions.end(),
                         [&](const Json& one) { return text_of(one, "type") == type; });
  if (at == conditions.end()) {
    conditions.push_back({{"type", type}});
    at = conditions.end() - 1;
  }
  if (text_of(*at, "status") != state) (*at)["lastTransitionTime"] = format_rfc3339(now);
  (*at)["status"] = state;
  (*at)["reason"] = reason;
  (*at)["message"] = message;
}

}  // namespace

std::shared_ptr<const Strategy> definition_strategy() {
  return std::make_shared<const DefinitionStrategy>();
}

bool is_established(const Json& definition) {
  return condition_status(definition, "Established") == "True";
}

bool update_definition_status(Json& definition, const std::vector<Json>& others, TimePoint now) {
  const auto before = member(definition, "status");
  const auto conflict = name_conflict(definition, others);
  const bool was_accepted = condition_status(definition, "NamesAccepted") == "True";
  const bool was_established = is_established(definition);
  auto& status = object_at(definition, "status");
  if (conflict) {
    // Names that are free are accepted all the same, those of the kind are not.
    auto accepted = member(member(definition, "spec"), "names");
    if (conflict->reason == "KindConflict" || conflict->reason == "ListKindConflict") {
      accepted["kind"] = "";
      accepted.erase("listKind");
      accepted.erase("shortNames");
    }
    if (!was_accepted) status["acceptedNames"] = accepted;
    set_condition(status, "NamesAccepted", false, conflict->reason, conflict->message, now);
    if (!was_established) {
      set_condition(status, "Established", false, "NotAccepted", "not all names are accepted", now);
    }
  } else {
    status["acceptedNames"] = member(member(definition, "spec"), "names");
    set_condition(status, "NamesAccepted", true, "NoConflicts", "no conflicts found", now);
    if (!was_accepted) {
      set_condition(status, "Established", false, "Installing",
                    "the initial names have been accepted", now);
    } else if (!was_established) {
      set_condition(status, "Established", true, "InitialNamesAccepted",
                    "the initial names have been accepted", now);
    }
  }
  return status != before;
}

}  // namespace regatta::apiserver
