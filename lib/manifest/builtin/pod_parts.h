#pragma once

#include "lib/manifest/strategy.h"

#include <set>
#include <string>

namespace regatta::manifest::builtin {

/// Checks the volumes of a pod spec and returns their names.
std::set<std::string> validate_volumes(const Json& spec, const std::string& path,
                                       FieldErrors* errors);
/// Checks ports, variables, mounts (of `volumes`) and probes of a container.
void validate_container_parts(const Json& container, const std::string& path,
                              const std::set<std::string>& volumes, FieldErrors* errors);
/// Checks where pods may run, and their names and user there.
void validate_placement(const Json& spec, const std::string& path, FieldErrors* errors);

}  // namespace regatta::manifest::builtin
