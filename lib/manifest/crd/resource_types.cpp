#include "lib/base/digest.h"
#include "lib/manifest/crd/custom_resource.h"
#include "lib/manifest/crd/definition.h"
#include "lib/manifest/json_access.h"
#include "lib/manifest/schema/builtin.h"
#include "lib/manifest/schema/structural.h"

#include <nlohmann/json.hpp>

#include <array>
#include <utility>

namespace regatta::manifest {
namespace {

std::vector<std::string> texts_of(const Json& object, const char* name) {
  std::vector<std::string> out;
  for (const auto& item : at_or_null(object, name)) {
    if (item.is_string()) out.push_back(item.get<std::string>());
  }
  return out;
}

/// The first eight bytes of the SHA-256 of group/version/kind, in base64: 7 + 1 sextets.
std::string version_hash(const std::string& group, const std::string& version,
                         const std::string& kind) {
  const auto hex = sha256_hex(group + "/" + version + "/" + kind).substr(0, 16);
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bits;
  for (const char c : hex) {
    const int value = c <= '9' ? c - '0' : c - 'a' + 10;
    for (int bit = 3; bit >= 0; --bit) bits.push_back((value >> bit & 1) != 0 ? '1' : '0');
  }
  bits.resize((bits.size() + 5) / 6 * 6, '0');
  std::string out;
  for (std::size_t i = 0; i < bits.size(); i += 6) {
    out.push_back(alphabet[std::stoul(bits.substr(i, 6), nullptr, 2)]);
  }
  out.resize((out.size() + 3) / 4 * 4, '=');
  return out;
}

Result<std::vector<PrinterColumn>> columns_of(const Json& version) {
  std::vector<PrinterColumn> out;
  const auto& columns = at_or_null(version, "additionalPrinterColumns");
  if (!columns.is_array() || columns.empty()) {
    auto age = JsonPath::parse(".metadata.creationTimestamp");
    out.push_back({{"Age", "date", "", "Time since the object was created.", 0}, std::move(*age)});
    return out;
  }
  for (const auto& column : columns) {
    auto path = JsonPath::parse(text_at(column, "jsonPath"));
    if (!path) return path.error();
    auto description = text_at(column, "description");
    if (description.empty()) {
      description =
          "Custom resource definition column (in JSONPath format): " + text_at(column, "jsonPath");
    }
    const auto& priority = at_or_null(column, "priority");
    out.push_back({{text_at(column, "name"), text_at(column, "type"), text_at(column, "format"),
                    std::move(description), priority.is_number_integer() ? priority.get<int>() : 0},
                   std::move(*path)});
  }
  return out;
}

std::optional<ScalePaths> scale_of(const Json& version) {
  const auto& scale = at_or_null(at_or_null(version, "subresources"), "scale");
  if (!scale.is_object()) return std::nullopt;
  return ScalePaths{text_at(scale, "specReplicasPath"), text_at(scale, "statusReplicasPath"),
                    text_at(scale, "labelSelectorPath")};
}

Result<CustomResourceStrategy::Settings> settings_of(const Json& version) {
  CustomResourceStrategy::Settings out;
  const auto& json = at_or_null(at_or_null(version, "schema"), "openAPIV3Schema");
  auto schema = parse_schema(json.is_object() ? json : Json{{"type", "object"}});
  if (!schema) return schema.error();
  out.schema = std::move(*schema);
  FieldErrors errors;
  out.rules = SchemaRules::compile(*out.schema, "schema", errors);
  if (!errors.empty()) {
    return Error(Errc::invalid, errors.front().field + ": " + errors.front().message);
  }
  out.has_status = at_or_null(at_or_null(version, "subresources"), "status").is_object();
  out.scale = scale_of(version);
  auto columns = columns_of(version);
  if (!columns) return columns.error();
  out.columns = std::move(*columns);
  for (const auto& field : at_or_null(version, "selectableFields")) {
    auto path = text_at(field, "jsonPath");
    if (path.starts_with('.')) path.erase(0, 1);
    out.selectable.push_back(std::move(path));
  }
  return out;
}

std::function<Json(Json)> conversion(ConvertObject convert, std::string from, std::string to) {
  return [convert, from = std::move(from), to = std::move(to)](Json object) {
    // An object that the rules cannot read is passed on as it is; validation has the last word.
    Json converted = object;
    return convert(converted, from, to) ? converted : object;
  };
}

}  // namespace

Result<std::vector<ResourceType>> resource_types(const Json& definition, ConvertObject convert) {
  std::vector<ResourceType> out;
  const auto& spec = at_or_null(definition, "spec");
  const auto& names = at_or_null(spec, "names");
  std::string storage;
  for (const auto& version : at_or_null(spec, "versions")) {
    if (true_at(version, "storage")) storage = text_at(version, "name");
  }
  for (const auto& version : at_or_null(spec, "versions")) {
    if (!true_at(version, "served")) continue;
    auto settings = settings_of(version);
    if (!settings) return settings.error().within("version " + text_at(version, "name"));
    ResourceType type;
    type.group = text_at(spec, "group");
    type.version = text_at(version, "name");
    type.kind = text_at(names, "kind");
    type.plural = text_at(names, "plural");
    type.singular = text_at(names, "singular");
    type.list_kind = text_at(names, "listKind");
    type.namespaced = text_at(spec, "scope") == "Namespaced";
    type.short_names = texts_of(names, "shortNames");
    type.categories = texts_of(names, "categories");
    type.verbs = {"delete", "deletecollection", "get",    "list",
                  "patch",  "create",           "update", "watch"};
    const std::vector<std::string> verbs = {"get", "patch", "update"};
    if (settings->has_status) type.subresources.push_back({.name = "status", .verbs = verbs});
    if (settings->scale) {
      type.subresources.push_back({"scale", verbs, "autoscaling", "v1", "Scale"});
    }
    type.storage_version_hash = version_hash(type.group, storage, type.kind);
    type.custom = true;
    type.scale = settings->scale;
    if (true_at(version, "deprecated")) {
      type.deprecation_warning = text_at(version, "deprecationWarning");
      if (type.deprecation_warning.empty()) {
        type.deprecation_warning =
            type.group + "/" + type.version + " " + type.kind + " is deprecated";
      }
    }
    type.storage_version = storage;
    if (convert && type.version != storage) {
      type.to_stored = conversion(convert, type.version, storage);
      type.from_stored = conversion(convert, storage, type.version);
    }
    // Server-side apply and field validation need metadata typed as well.
    const Schema* meta = builtin_type("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
    type.schema = complete_schema(*settings->schema, SchemaPtr(SchemaPtr(), meta));
    type.strategy = std::make_shared<const CustomResourceStrategy>(std::move(*settings));
    out.push_back(std::move(type));
  }
  return out;
}

}  // namespace regatta::manifest
