#pragma once

#include "apiserver/patch/apply.h"
#include "apiserver/patch/managed_fields.h"
#include "apiserver/schema/builtin.h"
#include "apiserver/schema/schema.h"
#include "lib/base/json.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

/// Fixtures shared by the tests of this folder.
namespace regatta::apiserver::testing {

inline const Schema* object_meta() {
  return builtin_type("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
}

/// A custom resource with one of each: defaults, a map list, a set, an atomic list, preserved
/// unknown fields, a status with conditions.
inline const Schema* widget_schema() {
  static const SchemaPtr schema = [] {
    Json text = {{"type", "string"}};
    Json number = {{"type", "integer"}};
    Json part = {
        {"type", "object"},
        {"required", {"name"}},
        {"properties", {{"name", text}, {"count", {{"type", "integer"}, {"default", 1}}}}}};
    Json condition = {{"type", "object"}, {"properties", {{"type", text}, {"status", text}}}};
    Json spec = {
        {"size", number},
        {"min", number},
        {"max", number},
        {"replicas", {{"type", "integer"}, {"default", 1}}},
        {"color", {{"type", "string"}, {"default", "red"}}},
        {"parts",
         {{"type", "array"},
          {"items", part},
          {"x-kubernetes-list-type", "map"},
          {"x-kubernetes-list-map-keys", {"name"}}}},
        {"tags", {{"type", "array"}, {"items", text}, {"x-kubernetes-list-type", "set"}}},
        {"atomic", {{"type", "array"}, {"items", text}, {"x-kubernetes-list-type", "atomic"}}},
        {"limits", {{"type", "object"}, {"additionalProperties", text}}},
        {"free", {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}};
    Json status = {{"phase", text},
                   {"conditions",
                    {{"type", "array"},
                     {"items", condition},
                     {"x-kubernetes-list-type", "map"},
                     {"x-kubernetes-list-map-keys", {"type"}}}}};
    Json root = {{"type", "object"},
                 {"properties",
                  {{"spec", {{"type", "object"}, {"properties", spec}}},
                   {"status", {{"type", "object"}, {"properties", status}}}}}};
    Result<SchemaPtr> parsed = parse_schema(root);
    SchemaPtr meta(object_meta(), [](const Schema*) {});
    return complete_schema(**parsed, meta);
  }();
  return schema.get();
}

inline TimePoint at_second(int seconds) {
  return TimePoint(std::chrono::seconds(seconds));
}

inline Json json_of(std::string_view text) {
  return Json::parse(text);
}

inline Writer widget_writer(std::string manager, std::string subresource = "") {
  Writer writer;
  writer.manager = std::move(manager);
  writer.api_version = "example.dev/v1";
  writer.ignored = default_ignored_fields(true, true, subresource);
  writer.subresource = std::move(subresource);
  writer.schema = widget_schema();
  writer.now = at_second(1);
  return writer;
}

inline Writer config_map_writer(std::string manager) {
  Writer writer;
  writer.manager = std::move(manager);
  writer.api_version = "v1";
  writer.schema = builtin_schema("", "v1", "ConfigMap");
  writer.now = at_second(1);
  return writer;
}

/// Entry `index` of an object's managedFields without its time, or null.
inline Json fields_of(const Json& object, std::string_view manager,
                      std::string_view subresource = "") {
  if (!object.contains("metadata") || !object["metadata"].contains("managedFields")) return nullptr;
  for (const Json& entry : object["metadata"]["managedFields"]) {
    if (entry["manager"] == manager && entry.value("subresource", "") == subresource) {
      return entry["fieldsV1"];
    }
  }
  return nullptr;
}

}  // namespace regatta::apiserver::testing
