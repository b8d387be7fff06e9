#include "placement/reference.h"

#include "lib/api/own_names.h"

#include <algorithm>
#include <optional>

namespace regatta::placement {
namespace {

std::string value_of(const api::StringMap& annotations, std::string_view name) {
  const auto found = annotations.find(std::string(name));
  return found == annotations.end() ? std::string() : found->second;
}

Result<Reference> named(std::string_view annotation, const std::string& value,
                        const std::string& own_namespace, bool anywhere) {
  Reference out;
  out.by_key = annotation == api::annotations::placement_key;
  const std::size_t slash = value.find('/');
  out.ns = slash == std::string::npos ? own_namespace : value.substr(0, slash);
  out.name = slash == std::string::npos ? value : value.substr(slash + 1);
  const auto bad = [&](const std::string& why) {
    return Error(Errc::invalid,
                 "annotation " + std::string(annotation) + " \"" + value + "\": " + why);
  };
  if (out.ns.empty() || out.name.empty() || out.name.find('/') != std::string::npos) {
    return bad("write a name, or namespace/name");
  }
  if (!anywhere && out.ns != own_namespace) {
    return bad("a workload may only name what is in its own namespace");
  }
  return out;
}

/// nullopt: these annotations name nothing.
std::optional<Result<Reference>> named_by(const api::StringMap& annotations,
                                          const std::string& own_namespace, bool anywhere) {
  for (const auto annotation : {api::annotations::placement, api::annotations::placement_key}) {
    const std::string value = value_of(annotations, annotation);
    if (!value.empty()) return named(annotation, value, own_namespace, anywhere);
  }
  return std::nullopt;
}

std::optional<Result<Reference>> nearest(const Naming& naming) {
  if (auto found = named_by(naming.workload, naming.ns, false)) return found;
  if (auto found = named_by(naming.job, naming.ns, false)) return found;
  if (auto found = named_by(naming.local_queue, naming.ns, true)) return found;
  return named_by(naming.cluster_queue, naming.system_namespace, true);
}

}  // namespace

Result<Reference> reference_of(const api::AdmissionCheckSpec& check,
                               const std::string& system_namespace) {
  if (!check.parameters) return Error(Errc::invalid, "missing parameters reference");
  const api::AdmissionCheckParameters& given = *check.parameters;
  if (given.api_group != api::placement_group || given.kind != "Placement") {
    return Error(Errc::invalid, "wrong parameters reference: expected kind Placement of " +
                                    std::string(api::placement_group) + ", got " + given.kind +
                                    " of " + given.api_group);
  }
  if (given.name.empty()) return Error(Errc::invalid, "the parameters reference has no name");
  return Reference{false, system_namespace, given.name};
}

Result<std::vector<Reference>> references(const Naming& naming) {
  std::vector<Reference> out;
  if (auto first = nearest(naming)) {
    if (!*first) return first->error();
    out.push_back(std::move(**first));
  }
  for (const api::AdmissionCheckSpec& check : naming.checks) {
    auto reference = reference_of(check, naming.system_namespace);
    if (!reference) return reference.error();
    if (std::find(out.begin(), out.end(), *reference) == out.end()) {
      out.push_back(std::move(*reference));
    }
  }
  return out;
}

}  // namespace regatta::placement
