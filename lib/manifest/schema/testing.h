#pragma once

#include "lib/base/json.h"
#include "lib/manifest/schema/builtin.h"
#include "lib/manifest/schema/schema.h"
#include "lib/manifest/schema/structural.h"

#include <nlohmann/json.hpp>

#include <string_view>

/// Fixtures of tests that need a schema.
namespace regatta::manifest::testing {

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
    SchemaPtr meta(object_meta_schema(), [](const Schema*) {});
    return complete_schema(**parsed, meta);
  }();
  return schema.get();
}

inline Json json_of(std::string_view text) {
  return Json::parse(text);
}

}  // namespace regatta::manifest::testing
