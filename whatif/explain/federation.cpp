#include "whatif/explain/federation.h"

#include "lib/api/names.h"
#include "lib/api/own_names.h"
#include "lib/api/selected_clusters.h"

#include <algorithm>

namespace regatta::whatif {
namespace {

template <class T>
const T* find(const std::vector<Object>& objects, const std::string& name) {
  for (const Object& object : objects) {
    const T* found = std::get_if<T>(&object);
    if (found != nullptr && found->metadata.name == name) return found;
  }
  return nullptr;
}

const api::AdmissionCheck* multikueue_check(const std::vector<Object>& objects,
                                            const std::vector<std::string>& checks) {
  for (const std::string& name : checks) {
    const auto* check = find<api::AdmissionCheck>(objects, name);
    if (check != nullptr && api::is_multikueue(*check)) return check;
  }
  return nullptr;
}

std::vector<const api::ObjectMeta*> all_clusters(const std::vector<Object>& objects) {
  std::vector<const api::ObjectMeta*> found;
  for (const Object& object : objects) {
    const auto* cluster = std::get_if<api::MultiKueueCluster>(&object);
    if (cluster != nullptr) found.push_back(&cluster->metadata);
  }
  return found;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::optional<FederationView> federation_of(const std::vector<Object>& objects,
                                            const api::Workload& workload,
                                            const std::vector<std::string>& checks) {
  const api::AdmissionCheck* check = multikueue_check(objects, checks);
  if (check == nullptr) return std::nullopt;
  FederationView view;
  view.check = check->metadata.name;
  if (check->spec.parameters) view.config = check->spec.parameters->name;
  view.winner = workload.status.cluster_name.value_or("");
  const auto& conditions = workload.status.conditions;
  if (const auto* told = api::find_condition(conditions, api::conditions::dispatched)) {
    view.told = told->message;
  }
  std::vector<std::string> names;
  if (const auto* config = find<api::MultiKueueConfig>(objects, view.config); config != nullptr) {
    view.config_exists = true;
    // A selector that cannot be read selects nothing; the check's condition says so.
    const auto listed = api::listed_clusters(*config, all_clusters(objects));
    names = listed ? *listed : config->spec.clusters;
  }
  const std::vector<std::string>& nominated = workload.status.nominated_cluster_names;
  for (const std::string& name : nominated) {
    if (!contains(names, name)) names.push_back(name);
  }
  if (!view.winner.empty() && !contains(names, view.winner)) names.push_back(view.winner);
  for (const std::string& name : names) {
    WorkerView& worker = view.workers.emplace_back();
    worker.name = name;
    worker.nominated = contains(nominated, name);
    worker.winner = name == view.winner;
    const auto* cluster = find<api::MultiKueueCluster>(objects, name);
    worker.exists = cluster != nullptr;
    if (!worker.exists) continue;
    const auto* active = api::find_condition(cluster->status.conditions, api::conditions::active);
    if (active == nullptr) continue;
    worker.connected = active->status == api::ConditionStatus::True;
    worker.reason = active->reason;
    worker.message = active->message;
  }
  return view;
}

}  // namespace regatta::whatif
