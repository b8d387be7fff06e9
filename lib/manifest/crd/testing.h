#pragma once

#include "lib/base/json.h"
#include "lib/manifest/strategy.h"

#include <nlohmann/json.hpp>

#include <string>

namespace regatta::manifest {

/// A definition that uses most features: two versions, defaults, rules, all list types, status and
/// scale.
inline Json widget_definition() {
  auto definition = Json::parse(R"({"apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.example.dev"},
    "spec": {"group": "example.dev", "scope": "Namespaced",
      "names": {"plural": "widgets", "singular": "widget", "kind": "Widget",
                "listKind": "WidgetList", "shortNames": ["wg"], "categories": ["all"]},
      "conversion": {"strategy": "None"},
      "versions": [{"name": "v1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": {"type": "object", "description": "A Widget.", "properties": {
          "apiVersion": {"type": "string"}, "kind": {"type": "string"},
          "metadata": {"type": "object"},
          "spec": {"type": "object", "required": ["size"], "properties": {
            "size": {"type": "integer", "minimum": 1, "maximum": 10, "format": "int32"},
            "color": {"type": "string", "enum": ["red", "green", "blue"], "default": "red"},
            "fixed": {"type": "string", "x-kubernetes-validations": [
              {"rule": "self == oldSelf", "message": "fixed is immutable"}]},
            "replicas": {"type": "integer", "default": 1}, "paused": {"type": "boolean"},
            "parts": {"type": "array", "maxItems": 16, "x-kubernetes-list-type": "map",
              "x-kubernetes-list-map-keys": ["name"], "items": {"type": "object",
                "required": ["name"], "properties": {"name": {"type": "string"},
                  "count": {"type": "integer", "default": 1, "x-kubernetes-validations": [
                    {"rule": "self >= oldSelf", "message": "count may only grow"}]}}}},
            "min": {"type": "integer"}, "max": {"type": "integer"}},
            "x-kubernetes-validations": [
              {"rule": "!has(self.min) || !has(self.max) || self.min <= self.max",
               "message": "min must not exceed max"},
              {"rule": "!has(self.paused) || !self.paused || self.size > 1",
               "messageExpression": "self.size == 1 ? 'size 1 cannot be paused' : 'cannot'",
               "reason": "FieldValueForbidden", "fieldPath": ".paused"}]},
          "status": {"type": "object", "properties": {
            "phase": {"type": "string", "enum": ["New", "Ready"]}, "replicas": {"type": "integer"},
            "selector": {"type": "string"},
            "conditions": {"type": "array", "x-kubernetes-list-type": "map",
              "x-kubernetes-list-map-keys": ["type"], "items": {"type": "object",
                "required": ["type", "status"], "properties": {"type": {"type": "string"},
                  "status": {"type": "string"},
                  "lastTransitionTime": {"type": "string", "format": "date-time"}}}}}}}}},
        "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas",
          "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".status.selector"}},
        "selectableFields": [{"jsonPath": ".spec.color"}],
        "additionalPrinterColumns": [
          {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
          {"name": "Ready", "type": "string",
           "jsonPath": ".status.conditions[?(@.type=='Ready')].status"},
          {"name": "Phase", "type": "string", "jsonPath": ".status.phase", "priority": 1},
          {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}]}]}})");
  auto& versions = definition["spec"]["versions"];
  auto beta = versions[0];
  beta["name"] = "v1beta1";
  beta["storage"] = false;
  beta["deprecated"] = true;
  beta["deprecationWarning"] = "example.dev/v1beta1 Widget is deprecated; use v1";
  versions.push_back(std::move(beta));
  return definition;
}

/// One line for an error: `spec.size: Required value`, with the reason unless it is the usual one.
inline std::string describe(const FieldErrors& errors) {
  std::string out;
  for (const auto& error : errors) {
    if (!out.empty()) out += "\n";
    if (error.reason == "FieldValueInvalid" && error.field == "<nil>" &&
        error.message.find("rules were not checked") != std::string::npos) {
      out += "rules not checked";
      continue;
    }
    if (error.reason != "FieldValueInvalid") out += "[" + error.reason.substr(10) + "] ";
    out += error.field + ": " + error.message;
  }
  return out;
}

}  // namespace regatta::manifest
