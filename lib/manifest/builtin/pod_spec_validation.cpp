#include "lib/api/quantity.h"
#include "lib/api/validation.h"
#include "lib/manifest/builtin/access.h"
#include "lib/manifest/builtin/pod_parts.h"
#include "lib/manifest/builtin/pod_spec.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace regatta::manifest::builtin {

namespace {

void check_label_name(const std::string& name, const std::string& path, FieldErrors* errors) {
  if (name.empty()) {
    errors->push_back(required(path));
    return;
  }
  invalid_each(path, name, api::check_dns1123_label(name), errors);
}

/// Whether limits may exceed requests. For other resources the two must be equal.
bool overcommittable(const std::string& resource) {
  return resource.find('/') == std::string::npos && !resource.starts_with("hugepages-");
}

void check_amounts(const Json& amounts, const std::string& path, FieldErrors* errors) {
  for (const auto& [resource, text] : amounts.items()) {
    if (!text.is_string()) continue;
    const auto quantity = api::Quantity::parse(text.get_ref<const std::string&>());
    if (quantity && quantity->is_negative()) {
      errors->push_back(
          invalid(key_path(path, resource), quantity->str(), "must be greater than or equal to 0"));
    }
  }
}

void check_request(const std::string& resource, const Json& text, const Json& limits,
                   const std::string& path, FieldErrors* errors) {
  const Json* limit_text = member(limits, resource);
  if (limit_text == nullptr) {
    if (!overcommittable(resource)) {
      errors->push_back(
          required(path + ".limits", "Limit must be set for non overcommitable resources"));
    }
    return;
  }
  if (!text.is_string() || !limit_text->is_string()) return;
  const auto request = api::Quantity::parse(text.get_ref<const std::string&>());
  const auto limit = api::Quantity::parse(limit_text->get_ref<const std::string&>());
  if (!request || !limit) return;
  if (!overcommittable(resource) && *request != *limit) {
    errors->push_back(invalid(path + ".requests", request->str(),
                              "must be equal to " + resource + " limit of " + limit->str()));
  } else if (*request > *limit) {
    errors->push_back(
        invalid(path + ".requests", request->str(),
                "must be less than or equal to " + resource + " limit of " + limit->str()));
  }
}

void check_resources(const Json& container, const std::string& path, FieldErrors* errors) {
  const Json& limits = object_or_empty(container, {"resources", "limits"});
  const Json& requests = object_or_empty(container, {"resources", "requests"});
  check_amounts(limits, path + ".limits", errors);
  check_amounts(requests, path + ".requests", errors);
  for (const auto& [resource, text] : requests.items()) {
    check_request(resource, text, limits, path, errors);
  }
}

void check_container(const Json& container, const std::string& path,
                     const std::set<std::string>& volumes, std::set<std::string>* names,
                     FieldErrors* errors) {
  const std::string& name = text_at(container, "name");
  check_label_name(name, path + ".name", errors);
  if (!name.empty() && !names->insert(name).second) {
    errors->push_back(duplicate(path + ".name", name));
  }
  const std::string& image = text_at(container, "image");
  if (image.empty()) {
    errors->push_back(required(path + ".image"));
  } else if (std::isspace(static_cast<unsigned char>(image.front())) != 0 ||
             std::isspace(static_cast<unsigned char>(image.back())) != 0) {
    errors->push_back(
        invalid(path + ".image", image, "must not have leading or trailing whitespace"));
  }
  validate_container_parts(container, path, volumes, errors);
  const std::string& pull = text_at(container, "imagePullPolicy");
  if (pull != "Always" && pull != "IfNotPresent" && pull != "Never") {
    errors->push_back(
        not_supported(path + ".imagePullPolicy", pull, {"Always", "IfNotPresent", "Never"}));
  }
  check_resources(container, path + ".resources", errors);
}

void check_gates(const Json& spec, const std::string& path, FieldErrors* errors) {
  std::set<std::string> seen;
  const Json& gates = list_or_empty(spec, "schedulingGates");
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const std::string here = index_path(path + ".schedulingGates", i);
    const std::string& name = text_at(gates[i], "name");
    invalid_each(here, name, api::check_qualified_name(name), errors);
    if (!seen.insert(name).second) errors->push_back(duplicate(here, name));
  }
  if (!gates.empty() && !text_at(spec, "nodeName").empty()) {
    errors->push_back(
        forbidden(path + ".nodeName", "cannot be set until all schedulingGates have been cleared"));
  }
}

void check_tolerations(const Json& spec, const std::string& path, FieldErrors* errors) {
  const Json& tolerations = list_or_empty(spec, "tolerations");
  for (std::size_t i = 0; i < tolerations.size(); ++i) {
    const std::string here = index_path(path + ".tolerations", i);
    const std::string& op = text_at(tolerations[i], "operator");
    const std::string& key = text_at(tolerations[i], "key");
    if (!key.empty()) invalid_each(here + ".key", key, api::check_qualified_name(key), errors);
    if (key.empty() && op != "Exists") {
      errors->push_back(invalid(here + ".operator", op,
                                "operator must be Exists when `key` is empty, which means "
                                "\"match all values and all keys\""));
    }
    if (op == "Exists" && !text_at(tolerations[i], "value").empty()) {
      errors->push_back(
          invalid(here + ".operator", op, "value must be empty when `operator` is 'Exists'"));
    } else if (!op.empty() && op != "Exists" && op != "Equal") {
      errors->push_back(not_supported(here + ".operator", op, {"Equal", "Exists"}));
    }
    const std::string& effect = text_at(tolerations[i], "effect");
    if (member(tolerations[i], "tolerationSeconds") != nullptr && effect != "NoExecute") {
      errors->push_back(invalid(here + ".effect", effect,
                                "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    }
    if (!effect.empty() && effect != "NoSchedule" && effect != "PreferNoSchedule" &&
        effect != "NoExecute") {
      errors->push_back(
          not_supported(here + ".effect", effect, {"NoSchedule", "PreferNoSchedule", "NoExecute"}));
    }
  }
}

void check_policies(const Json& spec, const std::string& path, FieldErrors* errors) {
  const std::string& restart = text_at(spec, "restartPolicy");
  if (restart != "Always" && restart != "OnFailure" && restart != "Never") {
    errors->push_back(
        not_supported(path + ".restartPolicy", restart, {"Always", "Never", "OnFailure"}));
  }
  const std::string& dns = text_at(spec, "dnsPolicy");
  if (dns != "ClusterFirst" && dns != "ClusterFirstWithHostNet" && dns != "Default" &&
      dns != "None") {
    errors->push_back(not_supported(
        path + ".dnsPolicy", dns, {"ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"}));
  }
  const auto deadline = integer_at(spec, "activeDeadlineSeconds");
  if (deadline && (*deadline < 1 || *deadline > INT32_MAX)) {
    errors->push_back(invalid(path + ".activeDeadlineSeconds", *deadline,
                              "must be between 1 and 2147483647, inclusive"));
  }
}

std::string warning_path(const std::string& path, const char* rest) {
  return path.empty() ? std::string(rest) : path + "." + rest;
}

void warn_env(const Json& spec, const std::string& path, std::vector<std::string>* warnings) {
  const Json& containers = list_or_empty(spec, "containers");
  for (std::size_t c = 0; c < containers.size(); ++c) {
    std::set<std::string> seen;
    const Json& env = list_or_empty(containers[c], "env");
    for (std::size_t i = 0; i < env.size(); ++i) {
      const std::string& name = text_at(env[i], "name");
      if (seen.insert(name).second) continue;
      const std::string here = index_path(warning_path(path, "spec.containers"), c);
      warnings->push_back(index_path(here + ".env", i) + ": hides previous definition of \"" +
                          name + "\", which may be dropped when using apply");
    }
  }
}

}  // namespace

void validate_pod_spec(const Json& spec, const std::string& path, FieldErrors* errors) {
  std::set<std::string> names;
  const std::set<std::string> volumes = validate_volumes(spec, path, errors);
  const Json& inits = list_or_empty(spec, "initContainers");
  const Json& containers = list_or_empty(spec, "containers");
  if (containers.empty()) errors->push_back(required(path + ".containers"));
  for (std::size_t i = 0; i < containers.size(); ++i) {
    check_container(containers[i], index_path(path + ".containers", i), volumes, &names, errors);
  }
  for (std::size_t i = 0; i < inits.size(); ++i) {
    check_container(inits[i], index_path(path + ".initContainers", i), volumes, &names, errors);
  }
  check_policies(spec, path, errors);
  check_tolerations(spec, path, errors);
  check_gates(spec, path, errors);
  validate_placement(spec, path, errors);
}

void validate_pod_template(const Json& pod_template, const std::string& path, FieldErrors* errors) {
  check_labels(object_or_empty(pod_template, {"metadata", "labels"}), path + ".metadata.labels",
               errors);
  validate_pod_spec(object_or_empty(pod_template, {"spec"}), path + ".spec", errors);
}

std::vector<std::string> pod_warnings(const Json& pod, const std::string& path) {
  std::vector<std::string> out;
  const Json& selector = object_or_empty(pod, {"spec", "nodeSelector"});
  for (const char* name : {"arch", "os"}) {
    const std::string old = std::string("beta.kubernetes.io/") + name;
    if (selector.contains(old)) {
      out.push_back(key_path(warning_path(path, "spec.nodeSelector"), old) +
                    ": deprecated since v1.14; use \"kubernetes.io/" + name + "\" instead");
    }
  }
  const char* seccomp = "seccomp.security.alpha.kubernetes.io/pod";
  if (object_or_empty(pod, {"metadata", "annotations"}).contains(seccomp)) {
    out.push_back(key_path(warning_path(path, "metadata.annotations"), seccomp) +
                  ": non-functional in v1.27+; use the \"seccompProfile\" field instead");
  }
  warn_env(object_or_empty(pod, {"spec"}), path, &out);
  return out;
}

}  // namespace regatta::manifest::builtin
