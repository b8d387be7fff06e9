#include "lib/api/kueue.h"
#include "lib/api/names.h"
#include "lib/api/own_names.h"
#include "lib/api/selected_clusters.h"
#include "lib/base/json_access.h"
#include "operate/doctor.h"
#include "operate/questions.h"
#include "operate/resources.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::operate {
namespace {

constexpr api::ResourceInfo queues{kueue_group, "v1beta2", "ClusterQueue", "clusterqueues", false};
constexpr api::ResourceInfo checks{kueue_group, "v1beta2", "AdmissionCheck", "admissionchecks",
                                   false};
constexpr api::ResourceInfo configs{kueue_group, "v1beta2", "MultiKueueConfig", "multikueueconfigs",
                                    false};
constexpr api::ResourceInfo members{kueue_group, "v1beta2", "MultiKueueCluster",
                                    "multikueueclusters", false};

constexpr const char* all_kinds[] = {"admissionchecks",
                                     "clusterqueues",
                                     "cohorts",
                                     "localqueues",
                                     "multikueueclusters",
                                     "multikueueconfigs",
                                     "resourceflavors",
                                     "topologies",
                                     "provisioningrequestconfigs",
                                     "workloads",
                                     "workloadpriorityclasses"};

/// Empty, with a note, when the objects cannot be listed.
Task<std::vector<Json>> listed(kube::Client& hub, api::ResourceInfo resource, Examination* out) {
  auto found = co_await list_json(hub, resource);
  if (found) {
    ++out->checks;
    co_return std::move(*found);
  }
  out->cannot_check("hub: " + std::string(resource.plural) +
                    " cannot be listed: " + found.error().what());
  co_return std::vector<Json>();
}

Task<> check_kinds(DoctorDeps deps, Examination* out) {
  const auto served = co_await served_at(deps.hub, "/apis/kueue.x-k8s.io/v1beta2");
  if (!served) co_return out->cannot_check("hub: its kinds: " + served.error().what());
  ++out->checks;
  for (const char* plural : all_kinds) {
    if (served->contains(plural)) continue;
    out->error("hub", std::string(plural) + ".kueue.x-k8s.io/v1beta2 are not served",
               "apply the CustomResourceDefinitions of the chart: the manager is not ready "
               "without all of them");
  }
}

/// What the manager needs most; charts/tests/permissions.py has the whole list for its roles.
std::vector<Permission> manager_permissions(const std::string& ns,
                                            const std::vector<std::string>& frameworks) {
  std::vector<Permission> out;
  const auto add = [&](std::vector<const char*> verbs, const std::string& group,
                       const std::string& resource, const char* sub = "",
                       const std::string& in = "") {
    for (const char* verb : verbs) out.push_back({verb, group, resource, sub, in});
  };
  add({"get", "list", "watch", "create", "patch", "delete"}, kueue_group, "workloads");
  add({"patch"}, kueue_group, "workloads", "status");
  for (const char* plural : all_kinds) add({"list", "watch"}, kueue_group, plural);
  for (const char* plural :
       {"admissionchecks", "clusterqueues", "localqueues", "multikueueclusters"}) {
    add({"patch"}, kueue_group, plural, "status");
  }
  for (const std::string& framework : frameworks) {
    const auto jobs = resource_of(framework);
    if (!jobs) continue;
    add({"list", "watch", "patch"}, jobs->group, jobs->plural);
    add({"patch"}, jobs->group, jobs->plural, "status");
  }
  add({"list", "watch"}, "", "namespaces");
  add({"list", "watch"}, "", "secrets", "", ns);
  add({"get", "create", "patch"}, "coordination.k8s.io", "leases", "", ns);
  return out;
}

Task<> check_manager_rights(DoctorDeps deps, Examination* out) {
  const auto found =
      co_await list_json(deps.hub, accounts, deps.hub_ns, "control-plane=controller-manager");
  if (!found || found->empty()) {
    co_return out->cannot_check(
        "hub: rights of the manager: no ServiceAccount of the chart in "
        "namespace " +
        deps.hub_ns);
  }
  const std::string account = text_at(found->front(), {"metadata", "name"});
  const std::string user = "system:serviceaccount:" + deps.hub_ns + ":" + account;
  for (const Permission& one : manager_permissions(deps.hub_ns, deps.frameworks)) {
    const auto allowed = co_await may(deps.hub, user, one);
    if (!allowed) {
      co_return out->cannot_check("hub: rights of the manager: " + allowed.error().what());
    }
    ++out->checks;
    if (*allowed) continue;
    out->error("hub", "ServiceAccount " + account + " may not " + describe(one),
               "compare its roles with those of the chart (templates/rbac)");
  }
}

void check_active(const char* kind, const Json& object, Examination* out) {
  const Json* active = condition_of(object, "Active");
  const std::string name = std::string(kind) + " " + text_at(object, {"metadata", "name"});
  ++out->checks;
  if (!active) {
    return out->warn("hub", name + " has no condition Active",
                     "see whether the manager of the hub runs, and what its log says");
  }
  if (text_at(*active, "status") == "True") return;
  out->error(
      "hub",
      name + " is not Active: " + text_at(*active, "reason") + ": " + text_at(*active, "message"),
      std::string("see the other findings; kubectl describe ") + kind + " " +
          text_at(object, {"metadata", "name"}));
}

Status add_selected(const Json& config, const std::vector<Json>& workers,
                    std::set<std::string>* names) {
  const auto read = api::from_json<api::MultiKueueConfig>(config);
  if (!read || !api::selects_clusters(*read)) return ok();
  std::vector<api::MultiKueueCluster> clusters;
  for (const Json& worker : workers) {
    if (auto one = api::from_json<api::MultiKueueCluster>(worker)) clusters.push_back(*one);
  }
  std::vector<const api::ObjectMeta*> all;
  for (const auto& cluster : clusters) all.push_back(&cluster.metadata);
  const auto selected = api::listed_clusters(*read, all);
  if (!selected) return selected.error();
  names->insert(selected->begin(), selected->end());
  return ok();
}

/// The workers of each MultiKueueConfig that exists.
std::map<std::string, std::set<std::string>> config_workers(const std::vector<Json>& all,
                                                            const std::vector<Json>& workers,
                                                            Examination* out) {
  const std::set<std::string> known = names_of(workers);
  std::map<std::string, std::set<std::string>> by_config;
  for (const Json& config : all) {
    const std::string name = text_at(config, {"metadata", "name"});
    for (const Json& cluster : list_or_empty(object_or_empty(config, {"spec"}), "clusters")) {
      const std::string worker = cluster.is_string() ? cluster.get<std::string>() : "";
      ++out->checks;
      by_config[name].insert(worker);
      if (known.contains(worker)) continue;
      out->error("hub",
                 "MultiKueueConfig " + name + " names " + worker +
                     ", and there is no such MultiKueueCluster",
                 "regatta register-worker " + worker + ", or take it out of spec.clusters");
    }
    if (const Status read = add_selected(config, workers, &by_config[name]); !read) {
      out->error("hub",
                 "MultiKueueConfig " + name + " selects nothing: its annotation " +
                     std::string(api::annotations::select_clusters) + ": " + read.error().what(),
                 "write a label selector as kubectl get -l takes it");
    }
  }
  return by_config;
}

/// The checks that a ClusterQueue needs, in either form.
std::set<std::string> checks_of(const Json& queue) {
  std::set<std::string> out;
  const Json& spec = object_or_empty(queue, {"spec"});
  for (const Json& name : list_or_empty(spec, "admissionChecks")) {
    if (name.is_string()) out.insert(name.get<std::string>());
  }
  const Json& strategy = object_or_empty(spec, {"admissionChecksStrategy"});
  for (const Json& one : list_or_empty(strategy, "admissionChecks")) {
    out.insert(text_at(one, "name"));
  }
  return out;
}

}  // namespace

Task<Picture> examine_hub(DoctorDeps deps, Examination* out) {
  Picture picture;
  co_await check_kinds(deps, out);
  co_await check_manager_rights(deps, out);
  picture.ahead = co_await clock_ahead(deps.hub, deps.clock);
  picture.workers = co_await listed(deps.hub, members, out);
  const auto all_configs = co_await listed(deps.hub, configs, out);
  const auto by_config = config_workers(all_configs, picture.workers, out);
  std::map<std::string, std::set<std::string>> by_check;
  for (const Json& check : co_await listed(deps.hub, checks, out)) {
    const Json& spec = object_or_empty(check, {"spec"});
    if (text_at(spec, "controllerName") != api::multikueue_controller_name) continue;
    check_active("AdmissionCheck", check, out);
    const auto found = by_config.find(text_at(spec, {"parameters", "name"}));
    if (found != by_config.end()) by_check[text_at(check, {"metadata", "name"})] = found->second;
  }
  std::map<std::string, std::set<std::string>> by_queue;
  for (const Json& queue : co_await listed(deps.hub, queues, out)) {
    std::set<std::string>& workers = by_queue[text_at(queue, {"metadata", "name"})];
    for (const std::string& check : checks_of(queue)) {
      const auto found = by_check.find(check);
      if (found != by_check.end()) workers.insert(found->second.begin(), found->second.end());
    }
    if (!workers.empty()) check_active("ClusterQueue", queue, out);
  }
  for (const Json& local : co_await listed(deps.hub, local_queues, out)) {
    for (const std::string& worker : by_queue[text_at(local, {"spec", "clusterQueue"})]) {
      picture.needs[worker].queues.emplace(text_at(local, {"metadata", "namespace"}),
                                           text_at(local, {"metadata", "name"}));
    }
  }
  const auto classes = names_of(co_await listed(deps.hub, workload_classes, out));
  auto of_pods = names_of(co_await listed(deps.hub, pod_classes, out));
  std::erase_if(of_pods, [](const std::string& name) { return name.starts_with("system-"); });
  for (auto& [worker, needs] : picture.needs) {
    needs.priority_classes = classes;
    needs.pod_priority_classes = of_pods;
  }
  co_return picture;
}

}  // namespace regatta::operate
