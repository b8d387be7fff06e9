#include "tests/sim/objects.h"

#include "kubeconfig/validate.h"
#include "lib/base/base64.h"
#include "lib/base/json_access.h"
#include "tests/sim/kinds.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace regatta::simtest {
namespace {

constexpr std::string_view second_name = "-again";

const Json* condition_of(const Json& object, const char* type) {
  for (const Json& condition : at_or_null(at_or_null(object, "status"), "conditions")) {
    if (text_at(condition, "type") == type) return &condition;
  }
  return nullptr;
}

const Json& metadata_of(const Json& object) {
  return at_or_null(object, "metadata");
}

const Json& first_owner(const Json& object) {
  static const Json none;
  const Json& owners = at_or_null(metadata_of(object), "ownerReferences");
  return owners.is_array() && !owners.empty() ? owners[0] : none;
}

std::string kubeconfig_of(const std::string& cluster, const std::string& host,
                          const std::string& ca, int generation) {
  kubeconfig::Endpoint endpoint;
  endpoint.url = "https://" + host + ":6443";
  endpoint.host = host;
  endpoint.port = 6443;
  endpoint.ca_pem = ca;
  endpoint.bearer_token = token_of(generation);
  return kubeconfig::write(endpoint, cluster);
}

}  // namespace

bool condition_true(const Json& object, const char* type) {
  const Json* found = condition_of(object, type);
  return found && text_at(*found, "status") == "True";
}

std::string condition_reason(const Json& object, const char* type) {
  const Json* found = condition_of(object, type);
  return found ? text_at(*found, "reason") : "";
}

bool is_newer(const Json& object) {
  return condition_of(object, newer_condition) != nullptr;
}

bool being_deleted(const Json& object) {
  return !text_at(metadata_of(object), "deletionTimestamp").empty();
}

std::string uid_of(const Json& object) {
  return text_at(metadata_of(object), "uid");
}

std::string origin_of(const Json& object) {
  return text_at(at_or_null(metadata_of(object), "labels"), "kueue.x-k8s.io/multikueue-origin");
}

std::string prebuilt_of(const Json& job) {
  return text_at(at_or_null(metadata_of(job), "annotations"),
                 "kueue.x-k8s.io/prebuilt-workload-name");
}

bool is_elastic(const Json& object) {
  return text_at(at_or_null(metadata_of(object), "annotations"), "kueue.x-k8s.io/elastic-job") ==
         "true";
}

std::string owner_kind_of(const Json& object) {
  return text_at(first_owner(object), "kind");
}

std::string owner_of(const Json& object) {
  return text_at(first_owner(object), "name");
}

std::string owner_uid_of(const Json& object) {
  return text_at(first_owner(object), "uid");
}

std::string second_name_of(const std::string& worker) {
  return worker + std::string(second_name);
}

std::string worker_of(std::string name) {
  if (name.ends_with(second_name)) name.resize(name.size() - second_name.size());
  return name;
}

std::string cluster_name_of(const Json& workload) {
  return worker_of(text_at(at_or_null(workload, "status"), "clusterName"));
}

bool sends_to_workers(const std::string& check) {
  return std::ranges::find(multikueue_checks, check) != std::end(multikueue_checks);
}

std::string sending_check(const Json& workload) {
  std::string found;
  for (const Json& check : at_or_null(at_or_null(workload, "status"), "admissionChecks")) {
    const std::string name = text_at(check, "name");
    if (!sends_to_workers(name)) continue;
    if (text_at(check, "state") == "Ready") return name;
    if (found.empty()) found = name;
  }
  return found;
}

std::string summary(const Json& object) {
  std::string out;
  for (const Json& condition : at_or_null(at_or_null(object, "status"), "conditions")) {
    if (text_at(condition, "status") != "True") continue;
    out += " " + text_at(condition, "type") + "(" + text_at(condition, "reason") + ")";
  }
  if (const std::string cluster = cluster_name_of(object); !cluster.empty())
    out += " on " + cluster;
  const Json& nominated = at_or_null(at_or_null(object, "status"), "nominatedClusterNames");
  if (nominated.is_array() && !nominated.empty()) out += " nominated " + dump_json(nominated);
  for (const Json& check : at_or_null(at_or_null(object, "status"), "admissionChecks")) {
    out += " " + text_at(check, "name") + "=" + text_at(check, "state");
    if (const std::string why = text_at(check, "message"); !why.empty()) out += " (" + why + ")";
  }
  const KindOfJob& kind = kind_of(object);
  if (object.contains(kind.suspend) && object.at(kind.suspend).is_boolean()) {
    out += suspended(object) ? " suspended" : " unsuspended";
  }
  if (!kind.ends_in.empty()) out += " " + text_at(at_or_null(object, "status"), kind.ends_in);
  if (being_deleted(object)) out += " deleting";
  return out;
}

Json make_object(const char* api_version, const char* kind, const std::string& name,
                 const std::string& ns) {
  Json metadata = {{"name", name}};
  if (!ns.empty()) metadata["namespace"] = ns;
  return {{"apiVersion", api_version}, {"kind", kind}, {"metadata", std::move(metadata)}};
}

Json make_kueue(const char* kind, const std::string& name, Json spec, const std::string& ns) {
  Json out = make_object("kueue.x-k8s.io/v1beta2", kind, name, ns);
  if (!spec.is_null()) out["spec"] = std::move(spec);
  return out;
}

Json make_secret(const std::string& cluster, const std::string& host, const std::string& ca,
                 int generation) {
  Json out = make_object("v1", "Secret", cluster + "-kubeconfig", "kueue-system");
  out["data"] = {{"kubeconfig", base64_encode(kubeconfig_of(cluster, host, ca, generation))}};
  return out;
}

std::string token_of(int generation) {
  return "token-" + std::to_string(generation);
}

std::string token_in(const Json& secret) {
  const auto text = base64_decode(text_at(at_or_null(secret, "data"), "kubeconfig"));
  const kubeconfig::Verdict verdict = kubeconfig::from_bytes(text ? *text : "");
  return verdict.endpoint ? verdict.endpoint->bearer_token : "";
}

Json make_cluster(const std::string& name) {
  Json out =
      make_kueue("MultiKueueCluster", name,
                 {{"clusterSource", {{"kubeConfig", {{"location", name + "-kubeconfig"}}}}}});
  out["metadata"]["labels"] = {{"fleet", "simulation"}};
  return out;
}

Json make_check(const std::string& name, const std::string& controller) {
  Json spec = {{"controllerName", controller}};
  if (controller == "kueue.x-k8s.io/multikueue") {
    spec["parameters"] = {
        {"apiGroup", "kueue.x-k8s.io"}, {"kind", "MultiKueueConfig"}, {"name", "all"}};
  }
  return make_kueue("AdmissionCheck", name, std::move(spec));
}

Json multikueue_check(const char* name) {
  return make_check(name, "kueue.x-k8s.io/multikueue");
}

std::vector<Json> make_queues(const QueueOptions& options) {
  Json spec = {{"namespaceSelector", Json::object()},
               {"resourceGroups",
                {{{"coveredResources", {"cpu"}},
                  {"flavors",
                   {{{"name", "default"},
                     {"resources", {{{"name", "cpu"}, {"nominalQuota", options.cpus}}}}}}}}}}};
  if (options.preempting) {
    spec["preemption"] = {{"withinClusterQueue", "LowerOrNewerEqualPriority"}};
  }
  if (!options.checks.empty()) {
    Json checks = Json::array();
    for (const std::string& name : options.checks) checks.push_back({{"name", name}});
    spec["admissionChecksStrategy"] = {{"admissionChecks", std::move(checks)}};
  }
  std::vector<Json> out;
  if (options.with_namespace) out.push_back(make_object("v1", "Namespace", team));
  out.push_back(make_object("v1", "Namespace", "kueue-system"));
  Json nodes = Json::object();
  if (!options.pool.empty()) nodes["nodeLabels"] = {{"pool", options.pool}};
  out.push_back(make_kueue("ResourceFlavor", "default", std::move(nodes)));
  out.push_back(make_kueue("ClusterQueue", "cq", std::move(spec)));
  if (options.with_namespace) {
    out.push_back(make_kueue("LocalQueue", "default", {{"clusterQueue", "cq"}}, team));
  }
  return out;
}

}  // namespace regatta::simtest
