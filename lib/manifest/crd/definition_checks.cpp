#include "lib/manifest/crd/definition_checks.h"

#include "lib/api/field_errors.h"
#include "lib/api/validation.h"
#include "lib/manifest/crd/json_path.h"
#include "lib/manifest/crd/rules.h"
#include "lib/manifest/json_access.h"
#include "lib/manifest/schema/structural.h"
#include "lib/manifest/schema/validate.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace regatta::manifest {
namespace {

constexpr std::size_t deprecation_bytes_max = 256;
constexpr std::size_t selectable_fields_max = 8;

/// Prunes a value that is not a whole object: its apiVersion, kind and metadata are plain members.
void prune_value(Json& value, const Schema& schema) {
  Json whole = {{"value", std::move(value)}};
  Schema around;
  around.type = SchemaType::object;
  around.properties["value"] = SchemaPtr(SchemaPtr(), &schema);
  prune(whole, around);
  value = std::move(whole["value"]);
}

class DefinitionCheck {
 public:
  explicit DefinitionCheck(const Json& definition)
      : definition_(definition), spec_(at_or_null(definition, "spec")) {}

  FieldErrors run() {
    check_group();
    check_enum("spec.scope", text_at(spec_, "scope"), "Cluster", "Namespaced");
    check_names();
    check_conversion();
    if (true_at(spec_, "preserveUnknownFields")) {
      invalid("spec.preserveUnknownFields", "true",
              "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
              "spec.versions[*].schema instead");
    }
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

  void required(std::string field, const std::string& why = "") {
    add("FieldValueRequired", std::move(field), "Required value" + (why.empty() ? "" : ": " + why));
  }
  void forbidden(std::string field, const std::string& why) {
    add("FieldValueForbidden", std::move(field), "Forbidden: " + why);
  }

  /// Checks a text unless it is empty. One cause holds all complaints.
  void check_label(const std::string& field, const std::string& value, bool mixed_case = false) {
    if (value.empty()) return;
    std::string plain = value;
    if (mixed_case) {
      for (char& c : plain) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
    std::string complaints;
    for (const std::string& why : api::check_dns1035_label(plain)) {
      complaints += (complaints.empty() ? "" : ",") + why;
    }
    if (complaints.empty()) return;
    invalid(field, api::json_quotes(value),
            (mixed_case ? "may have mixed case, but should otherwise match: " : "") + complaints);
  }

  void check_enum(const std::string& field, const std::string& value, const char* first,
                  const char* second) {
    if (value.empty()) return required(field);
    if (value == first || value == second) return;
    add("FieldValueNotSupported", field,
        "Unsupported value: " + api::json_quotes(value) +
            ": supported values: " + api::json_quotes(first) + ", " + api::json_quotes(second));
  }

  void check_group() {
    const auto group = text_at(spec_, "group");
    if (group.empty()) return required("spec.group");
    std::string complaints;
    for (const std::string& why : api::check_dns1123_subdomain(group)) {
      complaints += (complaints.empty() ? "" : ",") + why;
    }
    if (!complaints.empty()) return invalid("spec.group", api::json_quotes(group), complaints);
    if (group.find('.') == std::string::npos) {
      invalid("spec.group", api::json_quotes(group), "should be a domain with at least one dot");
    }
    check_approval(group);
  }

  /// Groups of the Kubernetes community need an approval annotation.
  void check_approval(const std::string& group) {
    const bool protected_group = group == "k8s.io" || group == "kubernetes.io" ||
                                 group.ends_with(".k8s.io") || group.ends_with(".kubernetes.io");
    if (!protected_group) return;
    const auto& metadata = at_or_null(definition_, "metadata");
    const auto approval =
        text_at(at_or_null(metadata, "annotations"), "api-approved.kubernetes.io");
    const std::string field = "metadata.annotations[api-approved.kubernetes.io]";
    const std::string rule =
        "protected groups must have approval annotation \"api-approved.kubernetes.io\"";
    const std::string see = ", see https://github.com/kubernetes/enhancements/pull/1111";
    if (approval.empty()) return required(field, rule + see);
    const bool url = approval.find("://") != std::string::npos;
    if (url || approval.starts_with("unapproved")) return;
    invalid(field, api::json_quotes(approval),
            rule + " with either a URL or a reason starting with \"unapproved\"" + see);
  }

  void check_names() {
    const auto& names = at_or_null(spec_, "names");
    for (const char* name : {"plural", "singular", "kind", "listKind"}) {
      if (text_at(names, name).empty()) required(std::string("spec.names.") + name);
    }
    check_label("spec.names.plural", text_at(names, "plural"));
    check_label("spec.names.singular", text_at(names, "singular"));
    check_label("spec.names.kind", text_at(names, "kind"), true);
    check_label("spec.names.listKind", text_at(names, "listKind"), true);
    for (const char* list : {"shortNames", "categories"}) {
      const auto& values = at_or_null(names, list);
      for (std::size_t i = 0; values.is_array() && i < values.size(); ++i) {
        if (!values[i].is_string()) continue;
        check_label(std::string("spec.names.") + list + "[" + std::to_string(i) + "]",
                    values[i].get<std::string>());
      }
    }
    const auto kind = text_at(names, "kind");
    if (!kind.empty() && kind == text_at(names, "listKind")) {
      invalid("spec.names.listKind", api::json_quotes(kind),
              "kind and listKind may not be the same");
    }
  }

  void check_conversion() {
    const auto& conversion = at_or_null(spec_, "conversion");
    const auto strategy = text_at(conversion, "strategy");
    check_enum("spec.conversion.strategy", strategy, "None", "Webhook");
    const auto& webhook = at_or_null(conversion, "webhook");
    const auto& client = at_or_null(webhook, "clientConfig");
    const auto& versions = at_or_null(webhook, "conversionReviewVersions");
    const std::string client_field = "spec.conversion.webhookClientConfig";
    const std::string versions_field = "spec.conversion.conversionReviewVersions";
    if (strategy != "Webhook") {
      const char* why = "should not be set when strategy is not set to Webhook";
      if (client.is_object()) forbidden(client_field, why);
      if (versions.is_array() && !versions.empty()) forbidden(versions_field, why);
      return;
    }
    if (!client.is_object()) {
      required(client_field, "required when strategy is set to Webhook");
    } else if (client.contains("url") == client.contains("service")) {
      required(client_field, "exactly one of url or service is required");
    }
    if (!versions.is_array() || versions.empty()) return required(versions_field);
    const bool known = std::any_of(versions.begin(), versions.end(), [](const Json& version) {
      return version == "v1" || version == "v1beta1";
    });
    if (!known) {
      invalid(versions_field, dump_json(versions), "must include at least one of v1, v1beta1");
    }
  }

  /// The versions as Go prints them. Schemas and the like are null, as they are for versions that
  /// agree on them.
  std::string go_versions() const {
    std::string out;
    for (const auto& version : *versions_) {
      const auto warning = text_at(version, "deprecationWarning");
      auto flag = [&](const char* name) { return true_at(version, name) ? "true" : "false"; };
      out += (out.empty() ? "" : ",") + std::string("{\"Name\":") +
             api::json_quotes(text_at(version, "name")) + ",\"Served\":" + flag("served") +
             ",\"Storage\":" + flag("storage") + ",\"Deprecated\":" + flag("deprecated") +
             ",\"DeprecationWarning\":" + (warning.empty() ? "null" : api::json_quotes(warning)) +
             ",\"Schema\":null,\"Subresources\":null,\"AdditionalPrinterColumns\":null,"
             "\"SelectableFields\":null}";
    }
    return "[" + out + "]";
  }

  void check_versions() {
    if (!versions_ || versions_->empty()) {
      invalid("spec.versions", "[]", "must have exactly one version marked as storage version");
      return invalid("status.storedVersions", "[]", "must have at least one stored version");
    }
    std::vector<std::string> stored;
    std::set<std::string> names;
    for (std::size_t i = 0; i < versions_->size(); ++i) {
      const auto& version = (*versions_)[i];
      const auto name = text_at(version, "name");
      const auto place = "spec.versions[" + std::to_string(i) + "]";
      check_label(place + ".name", name);
      check_deprecation(version, place + ".deprecationWarning");
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
    if (!recorded.is_array()) return;
    if (recorded.empty()) {
      invalid("status.storedVersions", "[]", "must have at least one stored version");
    }
    if (stored.empty()) return;
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

  void check_deprecation(const Json& version, const std::string& field) {
    const auto& warning = at_or_null(version, "deprecationWarning");
    if (!warning.is_string()) return;
    const auto text = warning.get<std::string>();
    if (!true_at(version, "deprecated")) {
      invalid(field, api::json_quotes(text), "can only be set for deprecated versions");
    }
    if (text.empty()) invalid(field, "\"\"", "must not be empty");
    if (text.size() > deprecation_bytes_max) {
      add("FieldValueTooLong", field, "Too long: may not be more than 256 bytes");
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
    const bool shared_fields = all_same("selectableFields");
    const auto& fields = at_or_null(versions_->front(), "selectableFields");
    if (!shared && shared_fields && fields.is_array() && !fields.empty()) {
      invalid("spec.selectableFields", "\"\"",
              "may only be set when validations.schema is included");
    }
    check_each("additionalPrinterColumns", &DefinitionCheck::check_columns);
    check_each("subresources", &DefinitionCheck::check_scale);
    if (shared || !shared_fields) {
      check_each("selectableFields", &DefinitionCheck::check_selectable);
    }
  }

  /// Calls `look` for a member of every version, or once if all versions share it.
  void check_each(const char* name,
                  void (DefinitionCheck::*look)(const Json& version, const std::string& path)) {
    if (all_same(name)) return (this->*look)(versions_->front(), std::string("spec.") + name);
    for (std::size_t i = 0; i < versions_->size(); ++i) {
      (this->*look)((*versions_)[i], "spec.versions[" + std::to_string(i) + "]." + name);
    }
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
    check_default_values(**parsed, path);
  }

  /// A default must pass the schema it stands in, and hold nothing that the schema would prune.
  void check_default_values(const Schema& schema, const std::string& path) {
    if (schema.default_value) {
      Json pruned = *schema.default_value;
      prune_value(pruned, schema);
      if (pruned != *schema.default_value) {
        invalid(path + ".default", dump_json(*schema.default_value),
                "must not have unknown fields");
      }
      validate_schema(*schema.default_value, nullptr, schema, path + ".default", errors_);
    }
    if (!schema.defaults_below) return;
    for (const auto& [name, child] : schema.properties) {
      check_default_values(*child, path + ".properties[" + name + "]");
    }
    if (schema.items) check_default_values(*schema.items, path + ".items");
    if (schema.additional_properties) {
      check_default_values(*schema.additional_properties, path + ".additionalProperties");
    }
  }

  /// Whether `path` looks like a JSON path from the root.
  bool check_simple_path(const std::string& path, const std::string& field) {
    if (path.starts_with('.')) return true;
    invalid(field, api::json_quotes(path), "must be a simple json path starting with .");
    return false;
  }

  void check_columns(const Json& version, const std::string& path) {
    static const std::set<std::string> types = {"boolean", "date", "integer", "number", "string"};
    static const std::set<std::string> formats = {"binary", "byte",  "date",  "date-time", "double",
                                                  "float",  "int32", "int64", "password"};
    const auto& columns = at_or_null(version, "additionalPrinterColumns");
    for (std::size_t i = 0; columns.is_array() && i < columns.size(); ++i) {
      const auto field = path + "[" + std::to_string(i) + "]";
      if (text_at(columns[i], "name").empty()) required(field + ".name");
      const auto type = text_at(columns[i], "type");
      const char* one_type = "must be one of boolean,date,integer,number,string";
      if (type.empty()) {
        required(field + ".type", one_type);
      } else if (!types.contains(type)) {
        invalid(field + ".type", api::json_quotes(type), one_type);
      }
      const auto format = text_at(columns[i], "format");
      if (!format.empty() && !formats.contains(format)) {
        invalid(field + ".format", api::json_quotes(format),
                "must be one of binary,byte,date,date-time,double,float,int32,int64,password");
      }
      const auto json_path = text_at(columns[i], "jsonPath");
      if (json_path.empty()) {
        required(field + ".JSONPath");
      } else {
        check_simple_path(json_path, field + ".JSONPath");
      }
    }
  }

  void check_scale(const Json& version, const std::string& path) {
    const auto& scale = at_or_null(at_or_null(version, "subresources"), "scale");
    if (!scale.is_object()) return;
    const std::array<std::array<const char*, 2>, 3> places = {{{"specReplicasPath", "spec"},
                                                               {"statusReplicasPath", "status"},
                                                               {"labelSelectorPath", "status"}}};
    for (const auto& [name, part] : places) {
      const auto field = path + ".scale." + name;
      const auto value = text_at(scale, name);
      if (value.empty()) {
        if (name != std::string_view("labelSelectorPath")) required(field);
      } else if (check_simple_path(value, field) &&
                 !value.starts_with("." + std::string(part) + ".")) {
        invalid(field, api::json_quotes(value),
                "should be a json path under ." + std::string(part));
      }
    }
  }

  void check_selectable(const Json& version, const std::string& path) {
    const auto& fields = at_or_null(version, "selectableFields");
    if (!fields.is_array()) return;
    const auto& schema = at_or_null(at_or_null(version, "schema"), "openAPIV3Schema");
    std::set<std::string> seen;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const auto field = path + "[" + std::to_string(i) + "].jsonPath";
      const auto json_path = text_at(fields[i], "jsonPath");
      if (json_path.empty()) {
        required(field);
        continue;
      }
      check_selectable_path(json_path, schema, field);
      if (!seen.insert(json_path).second) {
        add("FieldValueDuplicate", field, "Duplicate value: " + api::json_quotes(json_path));
      }
    }
    if (seen.size() > selectable_fields_max) {
      add("FieldValueTooMany", path,
          "Too many: " + std::to_string(seen.size()) + ": must have at most 8 items");
    }
  }

  void check_selectable_path(const std::string& path, const Json& schema,
                             const std::string& field) {
    const auto parsed = JsonPath::parse(path);
    const auto names =
        parsed && path.starts_with('.') ? parsed->fields() : std::vector<std::string>();
    const Json* at = names.empty() ? nullptr : &schema;
    for (const auto& name : names) at = at ? member(*at, {"properties", name.c_str()}) : nullptr;
    if (!at) {
      return invalid(field, api::json_quotes(path),
                     "is an invalid path: does not refer to a valid field");
    }
    if (names.front() == "metadata") {
      invalid(field, api::json_quotes(path), "must not point to fields in metadata");
    }
    const auto type = text_at(*at, "type");
    if (type != "string" && type != "boolean" && type != "integer") {
      invalid(field, api::json_quotes(path),
              "must point to a field of type string, boolean or integer. Enum string fields and "
              "strings with formats are allowed.");
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

FieldErrors check_definition_name(const Json& definition) {
  const auto& spec = at_or_null(definition, "spec");
  const auto name = text_at(at_or_null(definition, "metadata"), "name");
  const auto wanted = text_at(at_or_null(spec, "names"), "plural") + "." + text_at(spec, "group");
  if (name == wanted) return {};
  return {{"FieldValueInvalid", "metadata.name",
           "Invalid value: " + api::json_quotes(name) +
               R"(: must be spec.names.plural+"."+spec.group)"}};
}

}  // namespace regatta::manifest
