#include "lib/manifest/builtin/pod_spec.h"

#include "lib/api/quantity.h"
#include "lib/manifest/builtin/access.h"

#include <nlohmann/json.hpp>

namespace regatta::manifest::builtin {

namespace {

constexpr std::int64_t readable_by_owner = 420;  // 0644

/// Whether an image without a digest names the tag "latest", or none.
bool is_latest(const std::string& image) {
  if (image.empty() || image.find('@') != std::string::npos) return false;
  const std::size_t slash = image.rfind('/');
  const std::size_t colon = image.rfind(':');
  const bool tagged = colon != std::string::npos && (slash == std::string::npos || colon > slash);
  return !tagged || image.substr(colon + 1) == "latest";
}

void default_probe(Json& container, const char* name) {
  if (member(container, name) == nullptr) return;
  Json& probe = object_in(container, name);
  default_to(probe, "timeoutSeconds", std::int64_t{1});
  default_to(probe, "periodSeconds", std::int64_t{10});
  default_to(probe, "successThreshold", std::int64_t{1});
  default_to(probe, "failureThreshold", std::int64_t{3});
  if (member(probe, "httpGet") != nullptr) {
    default_to(probe["httpGet"], "path", "/");
    default_to(probe["httpGet"], "scheme", "HTTP");
  }
}

void default_env(Json& container) {
  const auto env = container.find("env");
  if (env == container.end() || !env->is_array()) return;
  for (Json& variable : *env) {
    if (member(variable, {"valueFrom", "fieldRef"}) != nullptr) {
      default_to(variable["valueFrom"]["fieldRef"], "apiVersion", "v1");
    }
  }
}

void default_container(Json& container) {
  if (!container.is_object()) return;
  default_object(container, "resources");
  default_to(container, "terminationMessagePath", "/dev/termination-log");
  default_to(container, "terminationMessagePolicy", "File");
  default_to(container, "imagePullPolicy",
             is_latest(text_at(container, "image")) ? "Always" : "IfNotPresent");
  const auto ports = container.find("ports");
  if (ports != container.end() && ports->is_array()) {
    for (Json& port : *ports) default_to(port, "protocol", "TCP");
  }
  default_env(container);
  for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    default_probe(container, probe);
  }
}

void default_volume(Json& volume) {
  if (!volume.is_object()) return;
  if (volume.size() == 1 && volume.contains("name")) volume["emptyDir"] = Json::object();
  for (const char* source : {"secret", "configMap", "projected", "downwardAPI"}) {
    if (member(volume, source) != nullptr) {
      default_to(volume[source], "defaultMode", readable_by_owner);
    }
  }
  if (member(volume, "hostPath") != nullptr && member(volume["hostPath"], "type") == nullptr) {
    volume["hostPath"]["type"] = "";
  }
}

/// serviceAccount is an older name of serviceAccountName: a spec with one of them gets both.
void default_service_account(Json& spec) {
  std::string account = text_at(spec, "serviceAccountName");
  if (account.empty()) account = text_at(spec, "serviceAccount");
  if (account.empty()) return;
  spec["serviceAccountName"] = account;
  spec["serviceAccount"] = std::move(account);
}

template <class Visit>
void each(Json& object, const char* name, Visit visit) {
  const auto list = object.find(name);
  if (list == object.end() || !list->is_array()) return;
  for (Json& item : *list) visit(item);
}

/// The amount of cpu or memory in requests or limits, or null.
const std::string* amount(const Json& container, const char* which, const char* resource) {
  const Json* text = member(container, {"resources", which, resource});
  if (text == nullptr || !text->is_string()) return nullptr;
  return &text->get_ref<const std::string&>();
}

bool same_amount(const std::string* a, const std::string* b) {
  if (a == nullptr || b == nullptr) return false;
  if (*a == *b) return true;
  const auto left = api::Quantity::parse(*a);
  const auto right = api::Quantity::parse(*b);
  return left && right && *left == *right;
}

void judge(const Json& container, bool* any, bool* guaranteed) {
  for (const char* resource : {"cpu", "memory"}) {
    const std::string* request = amount(container, "requests", resource);
    const std::string* limit = amount(container, "limits", resource);
    if (request != nullptr || limit != nullptr) *any = true;
    const bool equal = limit != nullptr && (request == nullptr || same_amount(request, limit));
    if (!equal) *guaranteed = false;
  }
}

std::string joined_items(const Json& spec, const char* field) {
  std::string out;
  for (const Json& container : list_or_empty(spec, "containers")) {
    if (!out.empty()) out += ',';
    out += text_at(container, field);
  }
  return out;
}

}  // namespace

void default_pod_spec(Json& spec) {
  if (!spec.is_object()) spec = Json::object();
  each(spec, "containers", default_container);
  each(spec, "initContainers", default_container);
  each(spec, "ephemeralContainers", default_container);
  each(spec, "volumes", default_volume);
  default_to(spec, "restartPolicy", "Always");
  default_to(spec, "terminationGracePeriodSeconds", std::int64_t{30});
  default_to(spec, "dnsPolicy", "ClusterFirst");
  default_object(spec, "securityContext");
  default_to(spec, "schedulerName", "default-scheduler");
  default_service_account(spec);
  for (const char* name :
       {"hostNetwork", "hostPID", "hostIPC", "nodeName", "priorityClassName", "nodeSelector",
        "tolerations", "schedulingGates", "volumes", "initContainers", "imagePullSecrets"}) {
    drop_empty(spec, name);
  }
}

void default_pod_template(Json& pod_template) {
  if (!pod_template.is_object()) pod_template = Json::object();
  Json& meta = object_in(pod_template, "metadata");
  const auto created = meta.find("creationTimestamp");
  if (created != meta.end() && created->is_null()) meta.erase(created);
  drop_empty(meta, "labels");
  drop_empty(meta, "annotations");
  default_pod_spec(object_in(pod_template, "spec"));
}

const char* qos_class(const Json& spec) {
  bool any = false;
  bool guaranteed = true;
  for (const char* list : {"containers", "initContainers"}) {
    for (const Json& container : list_or_empty(spec, list)) judge(container, &any, &guaranteed);
  }
  if (!any) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}

std::string container_names(const Json& spec) {
  return joined_items(spec, "name");
}

std::string container_images(const Json& spec) {
  return joined_items(spec, "image");
}

}  // namespace regatta::manifest::builtin
