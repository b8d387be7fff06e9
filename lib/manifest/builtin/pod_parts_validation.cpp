#include "lib/api/validation.h"
#include "lib/manifest/builtin/access.h"
#include "lib/manifest/builtin/pod_parts.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace regatta::manifest::builtin {

namespace {

constexpr std::int64_t port_max = 65535;
constexpr std::size_t port_name_max = 15;

/// Checks a name that may be absent.
void check_name(const Json& object, const char* name, const std::string& path,
                api::Complaints (*check)(std::string_view), FieldErrors* errors) {
  const std::string& text = text_at(object, name);
  if (!text.empty()) invalid_each(join_path(path, name), text, check(text), errors);
}

void check_needed(const Json& object, const char* name, const std::string& path,
                  FieldErrors* errors) {
  if (text_at(object, name).empty()) errors->push_back(required(join_path(path, name)));
}

void check_value_from(const Json& variable, const std::string& path, FieldErrors* errors) {
  const Json* from = member(variable, "valueFrom");
  if (from == nullptr) return;
  const std::string field = path + ".valueFrom";
  if (from->empty()) {
    errors->push_back(invalid(field, "",
                              "must specify one of: `fieldRef`, `resourceFieldRef`, "
                              "`configMapKeyRef` or `secretKeyRef`"));
  } else if (!text_at(variable, "value").empty()) {
    errors->push_back(invalid(field, "", "may not be specified when `value` is not empty"));
  } else if (from->size() > 1) {
    errors->push_back(invalid(field, "", "may not have more than one field specified at a time"));
  }
  if (const Json* reference = member(*from, "fieldRef")) {
    check_needed(*reference, "fieldPath", field + ".fieldRef", errors);
  }
  for (const char* name : {"configMapKeyRef", "secretKeyRef"}) {
    if (const Json* reference = member(*from, name)) {
      check_needed(*reference, "key", join_path(field, name), errors);
    }
  }
}

void check_env(const Json& container, const std::string& path, FieldErrors* errors) {
  const Json& env = list_or_empty(container, "env");
  for (std::size_t i = 0; i < env.size(); ++i) {
    const std::string here = index_path(path + ".env", i);
    const std::string& name = text_at(env[i], "name");
    if (name.empty()) {
      errors->push_back(required(here + ".name"));
    } else if (name.find('=') != std::string::npos) {
      errors->push_back(
          invalid(here + ".name", name,
                  "a valid environment variable name must consist only of printable ASCII "
                  "characters other than '='"));
    }
    check_value_from(env[i], here, errors);
  }
}

std::vector<std::string> port_name_errors(const std::string& name) {
  std::vector<std::string> out;
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto good = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '-'; };
  if (name.size() > port_name_max) out.emplace_back("must be no more than 15 characters");
  if (!std::all_of(name.begin(), name.end(), good)) {
    out.emplace_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (std::none_of(name.begin(), name.end(), letter)) {
    out.emplace_back("must contain at least one letter (a-z)");
  }
  if (name.find("--") != std::string::npos) {
    out.emplace_back("must not contain consecutive hyphens");
  }
  if (name.front() == '-' || name.back() == '-') {
    out.emplace_back("must not begin or end with a hyphen");
  }
  return out;
}

void check_ports(const Json& container, const std::string& path, FieldErrors* errors) {
  const char* range = "must be between 1 and 65535, inclusive";
  const Json& ports = list_or_empty(container, "ports");
  std::set<std::string> names;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::string here = index_path(path + ".ports", i);
    const std::string& name = text_at(ports[i], "name");
    if (!name.empty()) {
      invalid_each(here + ".name", name, port_name_errors(name), errors);
      if (!names.insert(name).second) errors->push_back(duplicate(here + ".name", name));
    }
    const std::int64_t port = integer_at(ports[i], "containerPort").value_or(0);
    if (port == 0) {
      errors->push_back(required(here + ".containerPort"));
    } else if (port < 1 || port > port_max) {
      errors->push_back(invalid(here + ".containerPort", port, range));
    }
    const std::int64_t host = integer_at(ports[i], "hostPort").value_or(0);
    if (host < 0 || host > port_max) errors->push_back(invalid(here + ".hostPort", host, range));
    const std::string& protocol = text_at(ports[i], "protocol");
    if (protocol != "TCP" && protocol != "UDP" && protocol != "SCTP") {
      errors->push_back(not_supported(here + ".protocol", protocol, {"SCTP", "TCP", "UDP"}));
    }
  }
}

void check_handler(const Json& handler, const std::string& path, FieldErrors* errors) {
  int found = 0;
  for (const char* name : {"exec", "httpGet", "tcpSocket", "grpc", "sleep"}) {
    const Json* one = member(handler, name);
    if (one == nullptr) continue;
    const std::string field = join_path(path, name);
    if (found++ > 0) {
      errors->push_back(forbidden(field, "may not specify more than 1 handler type"));
      continue;
    }
    const Json* port = member(*one, "port");
    const bool numbered = port != nullptr && port->is_number_integer();
    if (numbered && (*port < 1 || *port > port_max)) {
      errors->push_back(invalid(field + ".port", *port, "must be between 1 and 65535, inclusive"));
    }
    if (std::string_view(name) == "exec" && list_or_empty(*one, "command").empty()) {
      errors->push_back(required(field + ".command"));
    }
  }
  if (found == 0) errors->push_back(required(path, "must specify a handler type"));
}

void check_probes(const Json& container, const std::string& path, FieldErrors* errors) {
  for (const char* name : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    const Json* probe = member(container, name);
    if (probe == nullptr) continue;
    const std::string here = join_path(path, name);
    check_handler(*probe, here, errors);
    for (const char* number : {"initialDelaySeconds", "timeoutSeconds", "periodSeconds",
                               "successThreshold", "failureThreshold"}) {
      check_not_negative(*probe, number, here, errors);
    }
    const auto successes = integer_at(*probe, "successThreshold");
    if (std::string_view(name) != "readinessProbe" && successes && *successes > 1) {
      errors->push_back(invalid(here + ".successThreshold", *successes, "must be 1"));
    }
  }
  for (const char* name : {"postStart", "preStop"}) {
    const Json* hook = member(container, {"lifecycle", name});
    if (hook != nullptr) check_handler(*hook, path + ".lifecycle." + name, errors);
  }
}

void check_mounts(const Json& container, const std::string& path,
                  const std::set<std::string>& volumes, FieldErrors* errors) {
  const Json& mounts = list_or_empty(container, "volumeMounts");
  std::set<std::string> places;
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    const std::string here = index_path(path + ".volumeMounts", i);
    const std::string& name = text_at(mounts[i], "name");
    if (name.empty()) {
      errors->push_back(required(here + ".name"));
    } else if (!volumes.contains(name)) {
      errors->push_back(not_found(here + ".name", name));
    }
    const std::string& place = text_at(mounts[i], "mountPath");
    if (place.empty()) {
      errors->push_back(required(here + ".mountPath"));
    } else if (!places.insert(place).second) {
      errors->push_back(invalid(here + ".mountPath", place, "must be unique"));
    }
  }
}

void check_terms(const Json& terms, const std::string& path, FieldErrors* errors) {
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const Json& expressions = list_or_empty(terms[i], "matchExpressions");
    for (std::size_t k = 0; k < expressions.size(); ++k) {
      const std::string here = index_path(index_path(path, i) + ".matchExpressions", k);
      const std::string& op = text_at(expressions[k], "operator");
      const bool values = !list_or_empty(expressions[k], "values").empty();
      if (op == "In" || op == "NotIn") {
        if (values) continue;
        errors->push_back(
            required(here + ".values", "must be specified when `operator` is 'In' or 'NotIn'"));
      } else if (op == "Exists" || op == "DoesNotExist") {
        if (!values) continue;
        errors->push_back(
            forbidden(here + ".values",
                      "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
      } else if (op != "Gt" && op != "Lt") {
        errors->push_back(invalid(here + ".operator", op, "not a valid selector operator"));
      }
    }
  }
}

void check_affinity(const Json& spec, const std::string& path, FieldErrors* errors) {
  const std::string must = "requiredDuringSchedulingIgnoredDuringExecution";
  const std::string node_path = path + ".affinity.nodeAffinity." + must + ".nodeSelectorTerms";
  if (const Json* needed = member(spec, {"affinity", "nodeAffinity", must})) {
    const Json& terms = list_or_empty(*needed, "nodeSelectorTerms");
    if (terms.empty()) {
      errors->push_back(required(node_path, "must have at least one node selector term"));
    }
    check_terms(terms, node_path, errors);
  }
  for (const char* which : {"podAffinity", "podAntiAffinity"}) {
    const Json& terms = list_or_empty(object_or_empty(spec, {"affinity", which}), must);
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if (!text_at(terms[i], "topologyKey").empty()) continue;
      const std::string here = path + ".affinity." + which + "." + must;
      errors->push_back(required(index_path(here, i) + ".topologyKey", "can not be empty"));
    }
  }
}

void check_spread(const Json& spec, const std::string& path, FieldErrors* errors) {
  const Json& constraints = list_or_empty(spec, "topologySpreadConstraints");
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const std::string here = index_path(path + ".topologySpreadConstraints", i);
    const std::int64_t skew = integer_at(constraints[i], "maxSkew").value_or(0);
    if (skew <= 0) errors->push_back(invalid(here + ".maxSkew", skew, "must be greater than zero"));
    if (text_at(constraints[i], "topologyKey").empty()) {
      errors->push_back(required(here + ".topologyKey", "can not be empty"));
    }
    const std::string& otherwise = text_at(constraints[i], "whenUnsatisfiable");
    if (otherwise != "DoNotSchedule" && otherwise != "ScheduleAnyway") {
      errors->push_back(not_supported(here + ".whenUnsatisfiable", otherwise,
                                      {"DoNotSchedule", "ScheduleAnyway"}));
    }
  }
}

void check_source(const Json& volume, const std::string& path, FieldErrors* errors) {
  int sources = 0;
  for (const auto& [name, value] : volume.items()) {
    if (name == "name" || value.is_null()) continue;
    if (sources++ > 0) {
      errors->push_back(
          forbidden(join_path(path, name), "may not specify more than 1 volume type"));
    }
  }
  const std::pair<const char*, const char*> needed[] = {{"secret", "secretName"},
                                                        {"configMap", "name"},
                                                        {"hostPath", "path"},
                                                        {"persistentVolumeClaim", "claimName"}};
  for (const auto& [source, field] : needed) {
    if (const Json* one = member(volume, source)) {
      check_needed(*one, field, join_path(path, source), errors);
    }
  }
}

}  // namespace

std::set<std::string> validate_volumes(const Json& spec, const std::string& path,
                                       FieldErrors* errors) {
  std::set<std::string> names;
  const Json& volumes = list_or_empty(spec, "volumes");
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const std::string here = index_path(path + ".volumes", i);
    const std::string& name = text_at(volumes[i], "name");
    if (name.empty()) {
      errors->push_back(required(here + ".name"));
    } else {
      check_name(volumes[i], "name", here, api::check_dns1123_label, errors);
      if (!names.insert(name).second) errors->push_back(duplicate(here + ".name", name));
    }
    check_source(volumes[i], here, errors);
  }
  return names;
}

void validate_container_parts(const Json& container, const std::string& path,
                              const std::set<std::string>& volumes, FieldErrors* errors) {
  check_ports(container, path, errors);
  check_env(container, path, errors);
  check_mounts(container, path, volumes, errors);
  check_probes(container, path, errors);
  const std::string& policy = text_at(container, "terminationMessagePolicy");
  if (policy != "File" && policy != "FallbackToLogsOnError") {
    errors->push_back(not_supported(path + ".terminationMessagePolicy", policy,
                                    {"FallbackToLogsOnError", "File"}));
  }
}

void validate_placement(const Json& spec, const std::string& path, FieldErrors* errors) {
  check_labels(object_or_empty(spec, {"nodeSelector"}), path + ".nodeSelector", errors);
  check_name(spec, "nodeName", path, api::check_dns1123_subdomain, errors);
  check_name(spec, "serviceAccountName", path, api::check_dns1123_subdomain, errors);
  check_name(spec, "hostname", path, api::check_dns1123_label, errors);
  check_name(spec, "subdomain", path, api::check_dns1123_label, errors);
  const Json* user = member(spec, {"securityContext", "runAsUser"});
  if (user != nullptr && user->is_number_integer() && (*user < 0 || *user > INT32_MAX)) {
    errors->push_back(invalid(path + ".securityContext.runAsUser", *user,
                              "must be between 0 and 2147483647, inclusive"));
  }
  check_affinity(spec, path, errors);
  check_spread(spec, path, errors);
}

}  // namespace regatta::manifest::builtin
