#include "lib/manifest/builtin/go_text.h"

#include "lib/manifest/builtin/access.h"

#include <nlohmann/json.hpp>

#include <cctype>
#include <span>

namespace regatta::manifest::builtin {

namespace {

/// A field of an internal type: its Go name, its JSON name, and what it prints as when it is not
/// there.
struct Field {
  const char* go;
  const char* json;
  const char* otherwise = "null";
  std::string (*print)(const Json&) = nullptr;
};

std::string in_quotes(const std::string& text) {
  return dump_json(text);
}

std::string print_any(const Json& value);

std::string print_plain_object(const Json& value) {
  std::string out = "{";
  for (const auto& [name, child] : value.items()) {
    if (out.size() > 1) out += ',';
    std::string go = name;
    if (!go.empty()) {
      go[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(go[0])));
    }
    out += in_quotes(go) + ":" + print_any(child);
  }
  return out + "}";
}

/// Prints a type without a list of fields: its members by their Go names.
std::string print_any(const Json& value) {
  if (value.is_object()) return print_plain_object(value);
  if (!value.is_array()) return dump_json(value);
  std::string out = "[";
  for (const Json& item : value) out += (out.size() > 1 ? "," : "") + print_any(item);
  return out + "]";
}

std::string print_fields(const Json& object, std::span<const Field> fields) {
  std::string out = "{";
  for (const Field& field : fields) {
    if (out.size() > 1) out += ',';
    out += in_quotes(field.go) + ":";
    const Json* value = member(object, field.json);
    if (value == nullptr) {
      out += field.otherwise;
    } else {
      out += field.print == nullptr ? print_any(*value) : field.print(*value);
    }
  }
  return out + "}";
}

template <std::string (*Item)(const Json&)>
std::string print_list(const Json& list) {
  std::string out = "[";
  for (const Json& item : list) out += (out.size() > 1 ? "," : "") + Item(item);
  return out + "]";
}

/// Prints a map, which keeps its keys.
std::string print_map(const Json& map) {
  return dump_json(map);
}

constexpr Field resources_fields[] = {{"Limits", "limits", "null", print_map},
                                      {"Requests", "requests", "null", print_map},
                                      {"Claims", "claims"}};

std::string print_resources(const Json& value) {
  return print_fields(value, resources_fields);
}

constexpr const char* no_resources = R"({"Limits":null,"Requests":null,"Claims":null})";

constexpr Field container_fields[] = {
    {"Name", "name", "\"\""},
    {"Image", "image", "\"\""},
    {"Command", "command"},
    {"Args", "args"},
    {"WorkingDir", "workingDir", "\"\""},
    {"Ports", "ports"},
    {"EnvFrom", "envFrom"},
    {"Env", "env"},
    {"Resources", "resources", no_resources, print_resources},
    {"ResizePolicy", "resizePolicy"},
    {"RestartPolicy", "restartPolicy"},
    {"RestartPolicyRules", "restartPolicyRules"},
    {"VolumeMounts", "volumeMounts"},
    {"VolumeDevices", "volumeDevices"},
    {"LivenessProbe", "livenessProbe"},
    {"ReadinessProbe", "readinessProbe"},
    {"StartupProbe", "startupProbe"},
    {"Lifecycle", "lifecycle"},
    {"TerminationMessagePath", "terminationMessagePath", "\"\""},
    {"TerminationMessagePolicy", "terminationMessagePolicy", "\"\""},
    {"ImagePullPolicy", "imagePullPolicy", "\"\""},
    {"SecurityContext", "securityContext"},
    {"Stdin", "stdin", "false"},
    {"StdinOnce", "stdinOnce", "false"},
    {"TTY", "tty", "false"}};

std::string print_container(const Json& value) {
  return print_fields(value, container_fields);
}

constexpr Field security_fields[] = {{"HostNetwork", "hostNetwork", "false"},
                                     {"HostPID", "hostPID", "false"},
                                     {"HostIPC", "hostIPC", "false"},
                                     {"ShareProcessNamespace", "shareProcessNamespace"},
                                     {"HostUsers", "hostUsers"},
                                     {"SELinuxOptions", "seLinuxOptions"},
                                     {"WindowsOptions", "windowsOptions"},
                                     {"RunAsUser", "runAsUser"},
                                     {"RunAsGroup", "runAsGroup"},
                                     {"RunAsNonRoot", "runAsNonRoot"},
                                     {"SupplementalGroups", "supplementalGroups"},
                                     {"SupplementalGroupsPolicy", "supplementalGroupsPolicy"},
                                     {"FSGroup", "fsGroup"},
                                     {"FSGroupChangePolicy", "fsGroupChangePolicy"},
                                     {"Sysctls", "sysctls"},
                                     {"SeccompProfile", "seccompProfile"},
                                     {"AppArmorProfile", "appArmorProfile"},
                                     {"SELinuxChangePolicy", "seLinuxChangePolicy"}};

std::string print_security(const Json& value) {
  return print_fields(value, security_fields);
}

constexpr Field toleration_fields[] = {{"Key", "key", "\"\""},
                                       {"Operator", "operator", "\"\""},
                                       {"Value", "value", "\"\""},
                                       {"Effect", "effect", "\"\""},
                                       {"TolerationSeconds", "tolerationSeconds"}};

std::string print_toleration(const Json& value) {
  return print_fields(value, toleration_fields);
}

constexpr Field spec_fields[] = {
    {"Volumes", "volumes"},
    {"InitContainers", "initContainers", "null", print_list<print_container>},
    {"Containers", "containers", "null", print_list<print_container>},
    {"EphemeralContainers", "ephemeralContainers"},
    {"RestartPolicy", "restartPolicy", "\"\""},
    {"TerminationGracePeriodSeconds", "terminationGracePeriodSeconds"},
    {"ActiveDeadlineSeconds", "activeDeadlineSeconds"},
    {"DNSPolicy", "dnsPolicy", "\"\""},
    {"NodeSelector", "nodeSelector", "null", print_map},
    {"ServiceAccountName", "serviceAccountName", "\"\""},
    {"AutomountServiceAccountToken", "automountServiceAccountToken"},
    {"NodeName", "nodeName", "\"\""},
    {"SecurityContext", "securityContext", "null", print_security},
    {"ImagePullSecrets", "imagePullSecrets"},
    {"Hostname", "hostname", "\"\""},
    {"Subdomain", "subdomain", "\"\""},
    {"SetHostnameAsFQDN", "setHostnameAsFQDN"},
    {"Affinity", "affinity"},
    {"SchedulerName", "schedulerName", "\"\""},
    {"Tolerations", "tolerations", "null", print_list<print_toleration>},
    {"HostAliases", "hostAliases"},
    {"PriorityClassName", "priorityClassName", "\"\""},
    {"Priority", "priority"},
    {"PreemptionPolicy", "preemptionPolicy"},
    {"DNSConfig", "dnsConfig"},
    {"ReadinessGates", "readinessGates"},
    {"RuntimeClassName", "runtimeClassName"},
    {"Overhead", "overhead", "null", print_map},
    {"EnableServiceLinks", "enableServiceLinks"},
    {"TopologySpreadConstraints", "topologySpreadConstraints"},
    {"OS", "os"},
    {"SchedulingGates", "schedulingGates"},
    {"ResourceClaims", "resourceClaims"},
    {"Resources", "resources"},
    {"HostnameOverride", "hostnameOverride"},
    {"SchedulingGroup", "schedulingGroup"}};

}  // namespace

std::string go_pod_spec(const Json& spec) {
  return print_fields(spec, spec_fields);
}

std::string go_pod_template(const Json& pod_template) {
  std::string out = "{";
  for (const char* name : {"labels", "annotations"}) {
    const Json& map = object_or_empty(pod_template, {"metadata", name});
    if (!map.empty()) out += in_quotes(name) + ":" + dump_json(map) + ",";
  }
  return out + "\"Spec\":" + go_pod_spec(object_or_empty(pod_template, {"spec"})) + "}";
}

}  // namespace regatta::manifest::builtin
