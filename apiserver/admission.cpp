#include "apiserver/admission.h"

#include "apiserver/json_access.h"

#include <nlohmann/json.hpp>

namespace regatta::apiserver {
namespace {

std::optional<Failure> check_namespace(Core& core, const ResourceType& type, const std::string& ns,
                                       const Json& object) {
  if (!type.namespaced) return std::nullopt;
  const StoredPtr home = core.store.shelf("namespaces").find("", ns);
  if (!home) return not_found("", "namespaces", ns);
  if (!is_deleting(home->value())) return std::nullopt;
  const std::string name = string_or_empty(object, "metadata", "name");
  Failure failure = forbidden(
      type, name,
      "unable to create new content in namespace " + ns + " because it is being terminated");
  failure.details->causes.push_back(
      {"NamespaceTerminating", "metadata.namespace", "namespace " + ns + " is being terminated"});
  return failure;
}

}  // namespace

std::optional<Failure> admit_create(Core& core, Exchange&, const ResourceType& type,
                                    const std::string& ns, Json& object) {
  return check_namespace(core, type, ns, object);
}

std::optional<Failure> admit_update(Core&, Exchange&, const ResourceType&, Json&, const Json&) {
  return std::nullopt;
}

}  // namespace regatta::apiserver
