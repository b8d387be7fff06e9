#pragma once

#include "lib/manifest/strategy.h"

#include <string>

namespace regatta::manifest::builtin {

/// Fills in defaults of a pod spec, in a Pod or in a template.
void default_pod_spec(Json& spec);
/// Fills in defaults of a template's metadata and spec.
void default_pod_template(Json& pod_template);

/// Checks the spec of a Pod or of a template; `path` is its place in the object.
void validate_pod_spec(const Json& spec, const std::string& path, FieldErrors* errors);
void validate_pod_template(const Json& pod_template, const std::string& path, FieldErrors* errors);

/// Warnings for a pod's metadata and spec; `path` is empty for a Pod, "spec.template" for a
/// template.
std::vector<std::string> pod_warnings(const Json& pod, const std::string& path);

/// Guaranteed, Burstable or BestEffort.
const char* qos_class(const Json& spec);

/// The names and the images of the containers, each joined with commas.
std::string container_names(const Json& spec);
std::string container_images(const Json& spec);

}  // namespace regatta::manifest::builtin
