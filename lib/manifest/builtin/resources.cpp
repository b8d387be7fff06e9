#include "lib/manifest/builtin/builtin.h"
#include "lib/manifest/builtin/event_views.h"
#include "lib/manifest/builtin/generic.h"
#include "lib/manifest/builtin/strategies.h"

#include <nlohmann/json.hpp>

namespace regatta::manifest {

namespace {

using namespace builtin;

struct Row {
  const char* group;
  const char* version;
  const char* kind;
  const char* plural;
  const char* singular;
  bool namespaced;
  const char* short_name;
  const char* category;
  const char* storage_hash;
};

StrategyPtr generic(Traits traits) {
  return std::make_shared<GenericStrategy>(traits);
}

std::vector<std::string> proxy_verbs() {
  return {"create", "delete", "get", "patch", "update"};
}

ResourceType resource(const Row& row, StrategyPtr strategy, std::vector<Subresource> subs = {}) {
  ResourceType type;
  type.group = row.group;
  type.version = row.version;
  type.kind = row.kind;
  type.plural = row.plural;
  type.singular = row.singular;
  type.namespaced = row.namespaced;
  if (*row.short_name != 0) type.short_names = {row.short_name};
  if (*row.category != 0) type.categories = {row.category};
  type.storage_version_hash = row.storage_hash;
  type.strategy = std::move(strategy);
  type.subresources = std::move(subs);
  return type;
}

void add_core(std::vector<ResourceType>& list) {
  list.push_back(
      resource({"", "v1", "ConfigMap", "configmaps", "configmap", true, "cm", "", "qFsyl6wFWjQ="},
               config_map_strategy()));
  list.push_back(
      resource({"", "v1", "Endpoints", "endpoints", "endpoints", true, "ep", "", "fWeeMqaN/OA="},
               generic({})));
  list.push_back(resource({"", "v1", "Event", "events", "event", true, "ev", "", "r2yiGXH7wu8="},
                          core_event_strategy()));
  list.push_back(resource(
      {"", "v1", "LimitRange", "limitranges", "limitrange", true, "limits", "", "EBKMFVe6cwo="},
      limit_range_strategy()));
  list.push_back(
      resource({"", "v1", "Namespace", "namespaces", "namespace", false, "ns", "", "Q3oi5N2YM8M="},
               namespace_strategy(),
               {{"finalize", {"update"}, "", "", ""}, {"status", status_verbs(), "", "", ""}}));
  list.push_back(resource({"", "v1", "Node", "nodes", "node", false, "no", "", "XwShjMxG9Fs="},
                          node_strategy(),
                          {{"proxy", proxy_verbs(), "", "", "NodeProxyOptions"},
                           {"status", status_verbs(), "", "", ""}}));
  list.push_back(resource({"", "v1", "PersistentVolumeClaim", "persistentvolumeclaims",
                           "persistentvolumeclaim", true, "pvc", "", "QWTyNDq0dC4="},
                          generic({.status = true}), {{"status", status_verbs(), "", "", ""}}));
  list.push_back(resource({"", "v1", "PersistentVolume", "persistentvolumes", "persistentvolume",
                           false, "pv", "", "HN/zwEC+JgM="},
                          generic({.status = true}), {{"status", status_verbs(), "", "", ""}}));
  list.push_back(resource({"", "v1", "Pod", "pods", "pod", true, "po", "all", "xPOwRZ+Yhw8="},
                          pod_strategy(),
                          {{"attach", {"create", "get"}, "", "", "PodAttachOptions"},
                           {"binding", {"create"}, "", "", "Binding"},
                           {"ephemeralcontainers", status_verbs(), "", "", ""},
                           {"eviction", {"create"}, "policy", "v1", "Eviction"},
                           {"exec", {"create", "get"}, "", "", "PodExecOptions"},
                           {"log", {"get"}, "", "", ""},
                           {"portforward", {"create", "get"}, "", "", "PodPortForwardOptions"},
                           {"proxy", proxy_verbs(), "", "", "PodProxyOptions"},
                           {"resize", status_verbs(), "", "", ""},
                           {"status", status_verbs(), "", "", ""}}));
  list.push_back(resource(
      {"", "v1", "PodTemplate", "podtemplates", "podtemplate", true, "", "", "LIXB2x4IFpk="},
      generic({})));
  list.push_back(resource({"", "v1", "ReplicationController", "replicationcontrollers",
                           "replicationcontroller", true, "rc", "all", "Jond2If31h0="},
                          shown_strategy("replicationcontrollers"),
                          {{"scale", status_verbs(), "autoscaling", "v1", "Scale"},
                           {"status", status_verbs(), "", "", ""}}));
  list.push_back(resource({"", "v1", "ResourceQuota", "resourcequotas", "resourcequota", true,
                           "quota", "", "8uhSgffRX6w="},
                          shown_strategy("resourcequotas"),
                          {{"status", status_verbs(), "", "", ""}}));
  list.push_back(resource({"", "v1", "Secret", "secrets", "secret", true, "", "", "S6u1pOWzb84="},
                          secret_strategy()));
  list.push_back(resource({"", "v1", "ServiceAccount", "serviceaccounts", "serviceaccount", true,
                           "sa", "", "pbx9ZvyFpBE="},
                          service_account_strategy(),
                          {{"token", {"create"}, "authentication.k8s.io", "v1", "TokenRequest"}}));
  list.push_back(
      resource({"", "v1", "Service", "services", "service", true, "svc", "all", "0/CO1lhkEBI="},
               service_strategy(),
               {{"proxy", proxy_verbs(), "", "", "ServiceProxyOptions"},
                {"status", status_verbs(), "", "", ""}}));
}

void add_workloads(std::vector<ResourceType>& list) {
  list.push_back(resource({"apps", "v1", "ControllerRevision", "controllerrevisions",
                           "controllerrevision", true, "", "", ""},
                          generic({})));
  list.push_back(
      resource({"apps", "v1", "DaemonSet", "daemonsets", "daemonset", true, "ds", "all", ""},
               shown_strategy("daemonsets"), {{"status", status_verbs(), "", "", ""}}));
  list.push_back(
      resource({"apps", "v1", "Deployment", "deployments", "deployment", true, "deploy", "all", ""},
               deployment_strategy(),
               {{"scale", status_verbs(), "autoscaling", "v1", "Scale"},
                {"status", status_verbs(), "", "", ""}}));
  list.push_back(
      resource({"apps", "v1", "ReplicaSet", "replicasets", "replicaset", true, "rs", "all", ""},
               replica_set_strategy(),
               {{"scale", status_verbs(), "autoscaling", "v1", "Scale"},
                {"status", status_verbs(), "", "", ""}}));
  list.push_back(
      resource({"apps", "v1", "StatefulSet", "statefulsets", "statefulset", true, "sts", "all", ""},
               stateful_set_strategy(),
               {{"scale", status_verbs(), "autoscaling", "v1", "Scale"},
                {"status", status_verbs(), "", "", ""}}));
  list.push_back(resource(
      {"autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers",
       "horizontalpodautoscaler", true, "hpa", "all", ""},
      shown_strategy("horizontalpodautoscalers"), {{"status", status_verbs(), "", "", ""}}));
  list.push_back(resource(
      {"autoscaling", "v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers",
       "horizontalpodautoscaler", true, "hpa", "all", ""},
      shown_strategy("horizontalpodautoscalers"), {{"status", status_verbs(), "", "", ""}}));
  list.push_back(
      resource({"batch", "v1", "CronJob", "cronjobs", "cronjob", true, "cj", "all", "sd5LIXh4Fjs="},
               shown_strategy("cronjobs"), {{"status", status_verbs(), "", "", ""}}));
  list.push_back(resource({"batch", "v1", "Job", "jobs", "job", true, "", "all", "mudhfqk/qZY="},
                          job_strategy(), {{"status", status_verbs(), "", "", ""}}));
  list.push_back(resource({"policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets",
                           "poddisruptionbudget", true, "pdb", "", ""},
                          shown_strategy("poddisruptionbudgets"),
                          {{"status", status_verbs(), "", "", ""}}));
}

void add_cluster_kinds(std::vector<ResourceType>& list) {
  list.push_back(
      resource({"events.k8s.io", "v1", "Event", "events", "event", true, "ev", "", "r2yiGXH7wu8="},
               events_event_strategy()));
  list.push_back(resource({"networking.k8s.io", "v1", "IngressClass", "ingressclasses",
                           "ingressclass", false, "", "", ""},
                          generic({.generation = true})));
  list.push_back(resource(
      {"networking.k8s.io", "v1", "Ingress", "ingresses", "ingress", true, "ing", "", ""},
      generic({.status = true, .generation = true}), {{"status", status_verbs(), "", "", ""}}));
  list.push_back(resource(
      {"networking.k8s.io", "v1", "IPAddress", "ipaddresses", "ipaddress", false, "ip", "", ""},
      generic({})));
  list.push_back(resource({"networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies",
                           "networkpolicy", true, "netpol", "", ""},
                          generic({.generation = true})));
  list.push_back(resource(
      {"networking.k8s.io", "v1", "ServiceCIDR", "servicecidrs", "servicecidr", false, "", "", ""},
      generic({.status = true}), {{"status", status_verbs(), "", "", ""}}));
  list.push_back(
      resource({"rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings",
                "clusterrolebinding", false, "", "", "48tpQ8gZHFc="},
               role_binding_strategy(false)));
  list.push_back(resource({"rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles",
                           "clusterrole", false, "", "", "bYE5ZWDrJ44="},
                          role_strategy(false)));
  list.push_back(resource({"rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings",
                           "rolebinding", true, "", "", "eGsCzGH6b1g="},
                          role_binding_strategy(true)));
  list.push_back(resource(
      {"rbac.authorization.k8s.io", "v1", "Role", "roles", "role", true, "", "", "7FuwZcIIItM="},
      role_strategy(true)));
  list.push_back(resource({"scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses",
                           "priorityclass", false, "pc", "", "1QwjyaZjj3Y="},
                          priority_class_strategy()));
  list.push_back(resource(
      {"coordination.k8s.io", "v1", "Lease", "leases", "lease", true, "", "", "gqkMMb/YqFM="},
      lease_strategy()));
  list.push_back(resource(
      {"node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", "runtimeclass", false, "", "", ""},
      runtime_class_strategy()));
  list.push_back(resource({"discovery.k8s.io", "v1", "EndpointSlice", "endpointslices",
                           "endpointslice", true, "", "", ""},
                          generic({.generation = true})));
  list.push_back(resource(
      {"resource.k8s.io", "v1", "DeviceClass", "deviceclasses", "deviceclass", false, "", "", ""},
      generic({.generation = true})));
  list.push_back(resource({"resource.k8s.io", "v1", "ResourceClaim", "resourceclaims",
                           "resourceclaim", true, "", "", ""},
                          generic({.status = true}), {{"status", status_verbs(), "", "", ""}}));
  list.push_back(resource({"resource.k8s.io", "v1", "ResourceClaimTemplate",
                           "resourceclaimtemplates", "resourceclaimtemplate", true, "", "", ""},
                          generic({})));
  list.push_back(resource({"resource.k8s.io", "v1", "ResourceSlice", "resourceslices",
                           "resourceslice", false, "", "", ""},
                          generic({.generation = true})));
}

void add_extension_kinds(std::vector<ResourceType>& list) {
  list.push_back(resource({"apiregistration.k8s.io", "v1", "APIService", "apiservices",
                           "apiservice", false, "", "api-extensions", ""},
                          generic({.status = true}), {{"status", status_verbs(), "", "", ""}}));
  list.push_back(
      resource({"certificates.k8s.io", "v1", "CertificateSigningRequest",
                "certificatesigningrequests", "certificatesigningrequest", false, "csr", "", ""},
               generic({.status = true}),
               {{"approval", status_verbs(), "", "", ""}, {"status", status_verbs(), "", "", ""}}));
  list.push_back(
      resource({"storage.k8s.io", "v1", "CSIDriver", "csidrivers", "csidriver", false, "", "", ""},
               generic({.generation = true})));
  list.push_back(resource(
      {"storage.k8s.io", "v1", "CSINode", "csinodes", "csinode", false, "", "", ""}, generic({})));
  list.push_back(resource({"storage.k8s.io", "v1", "CSIStorageCapacity", "csistoragecapacities",
                           "csistoragecapacity", true, "", "", ""},
                          generic({})));
  list.push_back(resource({"storage.k8s.io", "v1", "StorageClass", "storageclasses", "storageclass",
                           false, "sc", "", ""},
                          generic({})));
  list.push_back(resource({"storage.k8s.io", "v1", "VolumeAttachment", "volumeattachments",
                           "volumeattachment", false, "", "", ""},
                          generic({.status = true}), {{"status", status_verbs(), "", "", ""}}));
  list.push_back(
      resource({"storage.k8s.io", "v1", "VolumeAttributesClass", "volumeattributesclasses",
                "volumeattributesclass", false, "vac", "", ""},
               generic({})));
  list.push_back(resource(
      {"admissionregistration.k8s.io", "v1", "MutatingAdmissionPolicy", "mutatingadmissionpolicies",
       "mutatingadmissionpolicy", false, "", "api-extensions", ""},
      generic({.generation = true})));
  list.push_back(resource({"admissionregistration.k8s.io", "v1", "MutatingAdmissionPolicyBinding",
                           "mutatingadmissionpolicybindings", "mutatingadmissionpolicybinding",
                           false, "", "api-extensions", ""},
                          generic({.generation = true})));
  list.push_back(resource({"admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration",
                           "mutatingwebhookconfigurations", "mutatingwebhookconfiguration", false,
                           "", "api-extensions", ""},
                          webhook_configuration_strategy(true)));
  list.push_back(resource(
      {"admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy",
       "validatingadmissionpolicies", "validatingadmissionpolicy", false, "", "api-extensions", ""},
      generic({.status = true, .generation = true}), {{"status", status_verbs(), "", "", ""}}));
  list.push_back(resource({"admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicyBinding",
                           "validatingadmissionpolicybindings", "validatingadmissionpolicybinding",
                           false, "", "api-extensions", ""},
                          generic({.generation = true})));
  list.push_back(resource({"admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration",
                           "validatingwebhookconfigurations", "validatingwebhookconfiguration",
                           false, "", "api-extensions", ""},
                          webhook_configuration_strategy(false)));
  list.push_back(resource({"flowcontrol.apiserver.k8s.io", "v1", "FlowSchema", "flowschemas",
                           "flowschema", false, "", "", ""},
                          generic({.status = true, .generation = true}),
                          {{"status", status_verbs(), "", "", ""}}));
  list.push_back(resource(
      {"flowcontrol.apiserver.k8s.io", "v1", "PriorityLevelConfiguration",
       "prioritylevelconfigurations", "prioritylevelconfiguration", false, "", "", ""},
      generic({.status = true, .generation = true}), {{"status", status_verbs(), "", "", ""}}));
}

/// Sets what the lists above cannot say.
void adjust(ResourceType& type) {
  if (type.plural == "namespaces") std::erase(type.verbs, "deletecollection");
  if (type.group == "autoscaling") type.storage_version = "v2";
  if (type.plural == "events") type.stored_as = "events";
  if (type.group == "events.k8s.io") {
    type.to_stored = event_to_core;
    type.from_stored = event_from_core;
  }
}

}  // namespace

std::vector<ResourceType> builtin_resources() {
  std::vector<ResourceType> list;
  list.reserve(64);
  add_core(list);
  add_workloads(list);
  add_cluster_kinds(list);
  add_extension_kinds(list);
  for (ResourceType& type : list) adjust(type);
  return list;
}

}  // namespace regatta::manifest
