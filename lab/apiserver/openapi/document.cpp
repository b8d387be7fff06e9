#include "lab/apiserver/openapi/openapi.h"
#include "lab/terms.h"
#include "lib/manifest/schema/builtin.h"
#include "lib/manifest/schema/schema.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <sstream>

namespace regatta::apiserver {
namespace {

constexpr std::string_view reference_prefix = "#/components/schemas/";
constexpr auto object_meta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
constexpr auto list_meta = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

Json reference(const std::string& name) {
  return {{"$ref", std::string(reference_prefix) + name}};
}

/// Adds the types to which `json` refers, and those to which they refer.
void add_references(const Json& json, Json& schemas) {
  if (json.is_object()) {
    if (const auto at = json.find("$ref"); at != json.end() && at->is_string()) {
      const auto name = at->get<std::string>().substr(reference_prefix.size());
      const auto* type = schemas.contains(name) ? nullptr : builtin_type(name);
      if (type) {
        schemas[name] = schema_to_json(*type, true);
        const Json added = schemas[name];
        add_references(added, schemas);
      }
    }
  }
  if (json.is_structured()) {
    for (const auto& child : json) add_references(child, schemas);
  }
}

Json kind_entry(const ResourceType& type, const std::string& kind) {
  return {{"group", type.group}, {"version", type.version}, {"kind", kind}};
}

Json kind_schema(const ResourceType& type) {
  if (!type.custom) return schema_to_json(*type.schema, true);
  auto out = schema_to_json(*type.schema, true);
  auto& properties = out["properties"];
  properties["apiVersion"] = {{"type", "string"},
                              {"description", "Group and version of this representation."}};
  properties["kind"] = {{"type", "string"}, {"description", "The kind of object this is."}};
  properties["metadata"] = {{"allOf", Json::array({reference(object_meta)})},
                            {"description", "Standard metadata of every object."}};
  out["x-kubernetes-group-version-kind"] = Json::array({kind_entry(type, type.kind)});
  return out;
}

Json list_schema(const ResourceType& type) {
  return {
      {"type", "object"},
      {"description", "A list of " + type.kind + "."},
      {"required", {"items"}},
      {"properties",
       {{"apiVersion", {{"type", "string"}}},
        {"kind", {{"type", "string"}}},
        {"metadata", {{"allOf", Json::array({reference(list_meta)})}}},
        {"items", {{"type", "array"}, {"items", reference(openapi_name(type))}}}}},
      {"x-kubernetes-group-version-kind", Json::array({kind_entry(type, type.list_kind_name())})}};
}

Json parameters(const std::string& action) {
  auto parameter = [](const char* name, const char* type) {
    return Json{
        {"name", name}, {"in", "query"}, {"schema", {{"type", type}, {"uniqueItems", true}}}};
  };
  Json out = Json::array();
  if (action == "list" || action == "deletecollection") {
    for (const auto* name : {"continue", "fieldSelector", "labelSelector", "resourceVersion",
                             "resourceVersionMatch"}) {
      out.push_back(parameter(name, "string"));
    }
    for (const auto* name : {"limit", "timeoutSeconds"}) out.push_back(parameter(name, "integer"));
    for (const auto* name : {"allowWatchBookmarks", "sendInitialEvents", "watch"}) {
      out.push_back(parameter(name, "boolean"));
    }
  } else if (action == "get") {
    out.push_back(parameter("resourceVersion", "string"));
  } else if (action == "delete") {
    for (const auto* name : {"dryRun", "propagationPolicy"})
      out.push_back(parameter(name, "string"));
    out.push_back(parameter("gracePeriodSeconds", "integer"));
  } else {
    for (const auto* name : {"dryRun", "fieldManager", "fieldValidation"}) {
      out.push_back(parameter(name, "string"));
    }
    if (action == "patch") out.push_back(parameter("force", "boolean"));
  }
  return out;
}

Json operation(const ResourceType& type, const std::string& action) {
  const auto name = openapi_name(type) + (action == "list" ? "List" : "");
  const Json content = {{"application/json", {{"schema", reference(name)}}}};
  return {{"x-kubernetes-action", action},
          {"x-kubernetes-group-version-kind", kind_entry(type, type.kind)},
          {"description", action + " " + type.kind},
          {"parameters", parameters(action)},
          {"responses", {{"200", {{"description", "OK"}, {"content", content}}}}}};
}

void add_operations(Json& path, const ResourceType& type, const std::vector<std::string>& verbs,
                    bool collection) {
  struct Mapping {
    const char* verb;
    const char* method;
    const char* action;
    bool collection;
  };
  constexpr std::array<Mapping, 7> mappings = {
      {{"list", "get", "list", true},
       {"create", "post", "post", true},
       {"deletecollection", "delete", "deletecollection", true},
       {"get", "get", "get", false},
       {"update", "put", "put", false},
       {"patch", "patch", "patch", false},
       {"delete", "delete", "delete", false}}};
  for (const auto& mapping : mappings) {
    if (mapping.collection != collection) continue;
    if (std::find(verbs.begin(), verbs.end(), mapping.verb) == verbs.end()) continue;
    path[mapping.method] = operation(type, mapping.action);
  }
}

void add_paths(Json& paths, const ResourceType& type) {
  const auto root =
      type.group.empty() ? "/api/" + type.version : "/apis/" + type.group + "/" + type.version;
  const auto collection = root + (type.namespaced ? "/namespaces/{namespace}/" : "/") + type.plural;
  auto add = [&](const std::string& path, const std::vector<std::string>& verbs, bool many) {
    Json operations = Json::object();
    add_operations(operations, type, verbs, many);
    if (!operations.empty()) paths[path] = std::move(operations);
  };
  add(collection, type.verbs, true);
  add(collection + "/{name}", type.verbs, false);
  for (const auto& subresource : type.subresources) {
    add(collection + "/{name}/" + subresource.name, subresource.verbs, false);
  }
  if (type.namespaced && type.has_verb("list")) {
    paths[root + "/" + type.plural] = {{"get", operation(type, "list")}};
  }
}

}  // namespace

std::string openapi_name(const ResourceType& type) {
  if (!type.custom && type.schema && !type.schema->ref_name.empty()) return type.schema->ref_name;
  std::istringstream parts(type.group);
  std::string out;
  for (std::string part; std::getline(parts, part, '.');) {
    out = out.empty() ? part : part + "." + out;
  }
  return out + "." + type.version + "." + type.kind;
}

Json openapi_document(const Registry& registry, std::string_view group, std::string_view version) {
  Json paths = Json::object(), schemas = Json::object();
  for (const auto& type : registry.of_version(group, version)) {
    add_paths(paths, *type);
    if (!type->schema) continue;
    schemas[openapi_name(*type)] = kind_schema(*type);
    schemas[openapi_name(*type) + "List"] = list_schema(*type);
  }
  const Json named = schemas;
  add_references(named, schemas);
  return {{"openapi", "3.0.0"},
          {"info", {{"title", "Regatta"}, {"version", "v1"}}},
          {"paths", std::move(paths)},
          {"components", {{"schemas", std::move(schemas)}}}};
}

}  // namespace regatta::apiserver
