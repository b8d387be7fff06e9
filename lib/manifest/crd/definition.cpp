#include "lib/manifest/crd/definition.h"

#include "lib/manifest/crd/custom_resource.h"
#include "lib/manifest/crd/definition_checks.h"
#include "lib/manifest/json_access.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace regatta::manifest {
namespace {

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
    const auto kind = text_at(names, "kind");
    if (text_at(names, "singular").empty() && !kind.empty()) {
      auto singular = kind;
      lower(singular);
      names["singular"] = std::move(singular);
    }
    if (text_at(names, "listKind").empty() && !kind.empty()) names["listKind"] = kind + "List";
    if (text_at(object_at(spec, "conversion"), "strategy").empty()) {
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
    object["status"] = at_or_null(old, "status");
    record_storage_version(object);
    const auto& generation = at_or_null(at_or_null(old, "metadata"), "generation");
    const auto before = generation.is_number_integer() ? generation.get<std::int64_t>() : 1;
    const bool changed = at_or_null(object, "spec") != at_or_null(old, "spec");
    object_at(object, "metadata")["generation"] = before + (changed ? 1 : 0);
  }

  void prepare_for_status_update(Json& object, const Json& old, TimePoint) const override {
    object["spec"] = at_or_null(old, "spec");
    object_at(object, "metadata")["generation"] =
        at_or_null(at_or_null(old, "metadata"), "generation");
  }

  FieldErrors validate_create(const Json& object) const override {
    auto errors = check_definition_name(object);
    for (auto& error : check_definition(object)) errors.push_back(std::move(error));
    return errors;
  }

  FieldErrors validate_update(const Json& object, const Json& old) const override {
    auto errors = check_definition(object);
    auto immutable = [&](const std::string& field, const Json& now, const Json& before) {
      if (now == before) return;
      errors.push_back({"FieldValueInvalid", field,
                        "Invalid value: " + dump_json(now) + ": field is immutable"});
    };
    const auto &spec = at_or_null(object, "spec"), &old_spec = at_or_null(old, "spec");
    const auto &names = at_or_null(spec, "names"), &old_names = at_or_null(old_spec, "names");
    immutable("spec.group", at_or_null(spec, "group"), at_or_null(old_spec, "group"));
    immutable("spec.names.plural", at_or_null(names, "plural"), at_or_null(old_names, "plural"));
    if (!is_established(old)) return errors;
    immutable("spec.scope", at_or_null(spec, "scope"), at_or_null(old_spec, "scope"));
    immutable("spec.names.kind", at_or_null(names, "kind"), at_or_null(old_names, "kind"));
    return errors;
  }

  FieldErrors validate_status_update(const Json&, const Json&) const override { return {}; }

  std::vector<TableColumn> columns() const override {
    return {{"Name", "string", "name", "Name of the object, unique within its namespace.", 0},
            {"Created At", "date", "", "When the object was created.", 0}};
  }

  std::vector<Json> cells(const Json& object, TimePoint) const override {
    const auto& metadata = at_or_null(object, "metadata");
    return {at_or_null(metadata, "name"), at_or_null(metadata, "creationTimestamp")};
  }

 private:
  static void record_storage_version(Json& object) {
    auto& stored = object_at(object, "status")["storedVersions"];
    if (!stored.is_array()) stored = Json::array();
    // Of several storage versions, which validation refuses, the first counts.
    for (const auto& version : at_or_null(at_or_null(object, "spec"), "versions")) {
      const auto& storage = at_or_null(version, "storage");
      if (!storage.is_boolean() || !storage.get<bool>()) continue;
      const auto& name = at_or_null(version, "name");
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
  const auto& names = at_or_null(at_or_null(definition, "spec"), "names");
  const auto group = text_at(at_or_null(definition, "spec"), "group");
  const auto own_name = text_at(at_or_null(definition, "metadata"), "name");
  std::set<std::string> resources, kinds;
  for (const auto& other : others) {
    if (text_at(at_or_null(other, "spec"), "group") != group) continue;
    if (text_at(at_or_null(other, "metadata"), "name") == own_name) continue;
    const auto& accepted = at_or_null(at_or_null(other, "status"), "acceptedNames");
    resources.insert({text_at(accepted, "plural"), text_at(accepted, "singular")});
    for (const auto& name : at_or_null(accepted, "shortNames")) {
      if (name.is_string()) resources.insert(name.get<std::string>());
    }
    kinds.insert({text_at(accepted, "kind"), text_at(accepted, "listKind")});
  }
  std::optional<Conflict> out;
  auto look = [&out](const std::string& name, const std::set<std::string>& taken,
                     const char* reason) {
    if (!name.empty() && taken.contains(name)) {
      out = Conflict{reason, dump_json(Json(name)) + " is already in use"};
    }
  };
  look(text_at(names, "plural"), resources, "PluralConflict");
  look(text_at(names, "singular"), resources, "SingularConflict");
  for (const auto& name : at_or_null(names, "shortNames")) {
    if (name.is_string()) look(name.get<std::string>(), resources, "ShortNamesConflict");
  }
  look(text_at(names, "kind"), kinds, "KindConflict");
  look(text_at(names, "listKind"), kinds, "ListKindConflict");
  return out;
}

std::string condition_status(const Json& definition, std::string_view type) {
  const auto& conditions = at_or_null(at_or_null(definition, "status"), "conditions");
  for (const auto& condition : conditions) {
    if (text_at(condition, "type") == type) return text_at(condition, "status");
  }
  return {};
}

void set_condition(Json& status, const char* type, bool holds, const std::string& reason,
                   const std::string& message, TimePoint now) {
  auto& conditions = status["conditions"];
  if (!conditions.is_array()) conditions = Json::array();
  const std::string state = holds ? "True" : "False";
  auto at = std::find_if(conditions.begin(), conditions.end(),
                         [&](const Json& one) { return text_at(one, "type") == type; });
  if (at == conditions.end()) {
    conditions.push_back({{"type", type}});
    at = conditions.end() - 1;
  }
  if (text_at(*at, "status") != state) (*at)["lastTransitionTime"] = format_rfc3339(now);
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
  const auto before = at_or_null(definition, "status");
  const auto conflict = name_conflict(definition, others);
  const bool was_accepted = condition_status(definition, "NamesAccepted") == "True";
  const bool was_established = is_established(definition);
  auto& status = object_at(definition, "status");
  if (conflict) {
    // The free names are accepted all the same. After a conflict of kinds the kind's names are not.
    auto accepted = at_or_null(at_or_null(definition, "spec"), "names");
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
    status["acceptedNames"] = at_or_null(at_or_null(definition, "spec"), "names");
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

}  // namespace regatta::manifest
