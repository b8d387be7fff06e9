#include "apiserver/crd/definition_checks.h"

#include "apiserver/crd/json_path.h"
#include "apiserver/crd/rules.h"
#include "apiserver/json_access.h"
#include "lib/api/validation.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace regatta::apiserver {
namespace {

class DefinitionCheck {
 public:
  explicit DefinitionCheck(const Json& definition)
      : definition_(definition), spec_(at_or_null(definition, "spec")) {}

  FieldErrors run() {
    check_names();
    if (const auto& versions = at_or_null(spec_, "versions"); versions.is_array()) {
      versions_ = versions.get_ptr<const Json::array_t*>();
    }
    check_versions();
    if (versions_ && !versions_->empty()) check_schemas();
    return std::move(errors_);
  }

 private:
  void add(const char* reason, std::string field, std::string message) {
    errors_.push_back({reason, std::move(field), std::move(message)});
  }
  void invalid(std::string field, const std::string& value, const std::string& why) {
    add("FieldValueInvalid", std::move(field), "Invalid value: " + value + ": " + why);
  }

  void check_label(const std::string& field, const std::string& value) {
    if (value.empty()) return add("FieldValueRequired", field, "Required value");
    for (const std::string& why : api::check_dns1123_label(value)) {
      invalid(field, go_json_string(value), why);
    }
  }

  void check_names() {
    const auto name = string_or_empty(at_or_null(definition_, "metadata"), "name");
    const auto group = string_or_empty(spec_, "group");
    const auto& names = at_or_null(spec_, "names");
    const auto plural = string_or_empty(names, "plural");
    if (name != plural + "." + group) {
      invalid("metadata.name", go_json_string(name), R"(must be spec.names.plural+"."+spec.group)");
    }
    if (group.empty()) {
      add("FieldValueRequired", "spec.group", "Required value");
    } else if (group.find('.') == std::string::npos) {
      invalid("spec.group", go_json_string(group), "should be a domain with at least one dot");
    }
    const auto scope = string_or_empty(spec_, "scope");
    if (scope != "Cluster" && scope != "Namespaced") {
      add("FieldValueNotSupported", "spec.scope",
          "Unsupported value: " + go_json_string(scope) +
              R"(: supported values: "Cluster", "Namespaced")");
    }
    check_label("spec.names.plural", plural);
    check_label("spec.names.singular", string_or_empty(names, "singular"));
    const auto kind = string_or_empty(names, "kind");
    if (kind.empty()) {
      add("FieldValueRequired", "spec.names.kind", "Required value");
    } else if (kind == string_or_empty(names, "listKind")) {
      invalid("spec.names.listKind", go_json_string(kind), "kind and listKind may not be the same");
    }
    const auto strategy = string_or_empty(at_or_null(spec_, "conversion"), "strategy");
    if (strategy != "None" && strategy != "Webhook") {
      add("FieldValueNotSupported", "spec.conversion.strategy",
          "Unsupported value: " + go_json_string(strategy) +
              R"(: supported values: "None", "Webhook")");
    }
  }

  /// The versions as Go prints them, schema and the like left out as it does for versions that
  /// agree on them.
  std::string go_versions() const {
    std::string out;
    for (const auto& version : *versions_) {
      const auto warning = string_or_empty(version, "deprecationWarning");
      auto flag = [&](const char* name) { return true_at(version, name) ? "true" : "false"; };
      out += (out.empty() ? "" : ",") + std::string("{\"Name\":") +
             go_json_string(string_or_empty(version, "name")) + ",\"Served\":" + flag("served") +
             ",\"Storage\":" + flag("storage") + ",\"Deprecated\":" + flag("deprecated") +
             ",\"DeprecationWarning\":" + (warning.empty() ? "null" : go_json_string(warning)) +
             ",\"Schema\":null,\"Subresources\":null,\"AdditionalPrinterColumns\":null,"
             "\"SelectableFields\":null}";
    }
    return "[" + out + "]";
  }

  void check_versions() {
    if (!versions_ || versions_->empty()) {
      return add("FieldValueRequired", "spec.versions",
                 "Required value: must have exactly one version marked as storage version");
    }
    std::vector<std::string> stored;
    std::set<std::string> names;
    for (std::size_t i = 0; i < versions_->size(); ++i) {
      const auto& version = (*versions_)[i];
      const auto name = string_or_empty(version, "name");
      const auto field = "spec.versions[" + std::to_string(i) + "].name";
      check_label(field, name);
      if (!names.insert(name).second) {
        invalid("spec.versions", go_versions(), "must contain unique version names");
      }
      if (true_at(version, "storage")) stored.push_back(name);
    }
    if (stored.size() != 1) {
      invalid("spec.versions", go_versions(),
              "must have exactly one version marked as storage version");
    }
    const auto& recorded = at_or_null(at_or_null(definition_, "status"), "storedVersions");
    if (!recorded.is_array() || stored.empty()) return;
    if (std::find(recorded.begin(), recorded.end(), Json(stored.back())) == recorded.end()) {
      invalid("status.storedVersions", dump_json(recorded),
              "must have the storage version " + stored.back());
    }
    for (std::size_t i = 0; i < recorded.size(); ++i) {
      if (!recorded[i].is_string() || names.contains(recorded[i].get<std::string>())) continue;
      invalid("status.storedVersions[" + std::to_string(i) + "]", dump_json(recorded[i]),
              "missing from spec.versions; " + recorded[i].get<std::string>() +
                  " was previously a storage version, and must remain in spec.versions until a "
                  "storage migration ensures no data remains persisted in " +
                  recorded[i].get<std::string>() + " and removes " +
                  recorded[i].get<std::string>() + " from status.storedVersions");
    }
  }

  bool all_same(const char* name) const {
    return std::all_of(versions_->begin(), versions_->end(), [&](const Json& version) {
      return at_or_null(version, name) == at_or_null(versions_->front(), name);
    });
  }

  /// What all versions agree on is checked once, under the spec.
  void check_schemas() {
    const bool shared = all_same("schema");
    if (shared) {
      check_schema(versions_->front(), "spec.validation", "spec.versions[0].schema");
    } else {
      for (std::size_t i = 0; i < versions_->size(); ++i) {
        const auto path = "spec.versions[" + std::to_string(i) + "].schema";
        check_schema((*versions_)[i], path, path);
      }
    }
    const auto& fields = at_or_null(versions_->front(), "selectableFields");
    if (!shared && fields.is_array() && !fields.empty() && all_same("selectableFields")) {
      invalid("spec.selectableFields", "\"\"",
              "may only be set when validations.schema is included");
    }
    for (std::size_t i = 0; i < versions_->size(); ++i) check_columns((*versions_)[i], i);
  }

  void check_schema(const Json& version, const std::string& parent,
                    const std::string& missing_parent) {
    const auto& schema = at_or_null(at_or_null(version, "schema"), "openAPIV3Schema");
    if (!schema.is_object()) {
      return add("FieldValueRequired", missing_parent + ".openAPIV3Schema", "Required value");
    }
    const auto path = parent + ".openAPIV3Schema";
    const auto before = errors_.size();
    check_structural(schema, path, errors_);
    if (errors_.size() > before) return;
    const auto parsed = parse_schema(schema);
    if (!parsed) return invalid(path, "\"\"", parsed.error().what());
    SchemaRules::compile(**parsed, path, errors_);
  }

  void check_columns(const Json& version, std::size_t index) {
    const auto& columns = at_or_null(version, "additionalPrinterColumns");
    if (!columns.is_array()) return;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto field = "spec.versions[" + std::to_string(index) + "].additionalPrinterColumns[" +
                         std::to_string(i) + "]";
      const auto path = string_or_empty(columns[i], "jsonPath");
      if (string_or_empty(columns[i], "name").empty()) {
        add("FieldValueRequired", field + ".name", "Required value");
      }
      if (path.empty()) {
        add("FieldValueRequired", field + ".jsonPath", "Required value");
      } else if (const auto parsed = JsonPath::parse(path); !parsed) {
        invalid(field + ".jsonPath", go_json_string(path), parsed.error().what());
      }
    }
  }

  const Json& definition_;
  const Json& spec_;
  const Json::array_t* versions_ = nullptr;
  FieldErrors errors_;
};

}  // namespace

FieldErrors check_definition(const Json& definition) {
  return DefinitionCheck(definition).run();
}

}  // namespace regatta::apiserver
