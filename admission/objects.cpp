#include "admission/objects.h"

#include "lib/api/names.h"
#include "lib/base/joined.h"

#include <algorithm>
#include <set>

namespace regatta::admission {

ObjectBook::ObjectBook(const Config& config, Names& names)
    : config_(config), names_(names), topologies_(names, config.exact_hosts_within_cycle) {}

bool ObjectBook::upsert(const api::Namespace& ns) {
  const auto [it, added] = namespaces_.try_emplace(ns.metadata.name);
  if (!added && it->second == ns.metadata.labels) return false;
  it->second = ns.metadata.labels;
  return true;
}

void ObjectBook::erase_namespace(const std::string& name) {
  namespaces_.erase(name);
}

bool ObjectBook::upsert(const api::ResourceFlavor& flavor) {
  FlavorInfo& info = flavors_[flavor.metadata.name];
  info.id = names_.flavors.intern(flavor.metadata.name);
  if (info.id >= flavor_of_id_.size()) flavor_of_id_.resize(info.id + 1, nullptr);
  flavor_of_id_[info.id] = &info;
  const bool changed = info.spec != flavor.spec;
  info.spec = flavor.spec;
  topologies_.set_flavor(info.id, flavor.spec);
  return changed;
}

bool ObjectBook::erase_flavor(const std::string& name) {
  const auto it = flavors_.find(name);
  if (it == flavors_.end()) return false;
  flavor_of_id_[it->second.id] = nullptr;
  topologies_.erase_flavor(it->second.id);
  flavors_.erase(it);
  return true;
}

void ObjectBook::upsert(const api::AdmissionCheck& check) {
  CheckInfo& info = checks_[check.metadata.name];
  info.active = api::is_true(check.status.conditions, api::conditions::active);
  info.controller = check.spec.controller_name;
}

bool ObjectBook::erase_check(const std::string& name) {
  return checks_.erase(name) > 0;
}

const FlavorInfo* ObjectBook::flavor(FlavorId id) const {
  return id < flavor_of_id_.size() ? flavor_of_id_[id] : nullptr;
}

const FlavorInfo* ObjectBook::flavor(const std::string& name) const {
  const auto it = flavors_.find(name);
  return it == flavors_.end() ? nullptr : &it->second;
}

const api::StringMap* ObjectBook::namespace_labels(const std::string& ns) const {
  const auto it = namespaces_.find(ns);
  return it == namespaces_.end() ? nullptr : &it->second;
}

bool ObjectBook::uses_multikueue(const api::ClusterQueueSpec& queue) const {
  const auto& rules = queue.admission_checks;
  return std::any_of(rules.begin(), rules.end(), [&](const api::AdmissionCheckRule& rule) {
    const auto check = checks_.find(rule.name);
    return check != checks_.end() && check->second.controller == api::multikueue_controller_name;
  });
}

bool ObjectBook::delays_topology(const api::ClusterQueueSpec& queue, FlavorId flavor,
                                 bool reserved) const {
  if (queue.admission_checks.empty()) return false;
  if (uses_multikueue(queue)) return true;
  if (reserved) return false;
  const std::string& name = names_.flavors.name(flavor);
  const auto& rules = queue.admission_checks;
  return std::any_of(rules.begin(), rules.end(), [&](const api::AdmissionCheckRule& rule) {
    const auto check = checks_.find(rule.name);
    if (check == checks_.end() || check->second.controller != api::provisioning_controller_name) {
      return false;
    }
    const auto& listed = rule.on_flavors;
    return listed.empty() || std::find(listed.begin(), listed.end(), name) != listed.end();
  });
}

ObjectBook::Problems ObjectBook::check_problems(const api::ClusterQueueSpec& queue) const {
  std::vector<std::string> missing;
  std::vector<std::string> inactive;
  std::vector<std::string> multikueue;
  std::vector<std::string> per_flavor;
  std::vector<std::string> provisioning;
  std::set<std::string> flavors;
  for (const auto& group : queue.resource_groups) {
    for (const auto& flavor : group.flavors) flavors.insert(flavor.name);
  }
  for (const api::AdmissionCheckRule& rule : queue.admission_checks) {
    const auto it = checks_.find(rule.name);
    if (it == checks_.end()) {
      missing.push_back(rule.name);
      continue;
    }
    if (!it->second.active) inactive.push_back(rule.name);
    if (it->second.controller == api::provisioning_controller_name) {
      provisioning.push_back(rule.name);
    }
    if (it->second.controller != api::multikueue_controller_name) continue;
    multikueue.push_back(rule.name);
    const std::set<std::string> listed(rule.on_flavors.begin(), rule.on_flavors.end());
    if (!listed.empty() && listed != flavors) per_flavor.push_back(rule.name);
  }
  for (auto* names : {&missing, &inactive, &multikueue, &per_flavor, &provisioning}) {
    std::sort(names->begin(), names->end());
  }
  Problems problems;
  const auto add = [&](bool when, std::string_view reason, const std::string& text) {
    if (when) problems.emplace_back(reason, text);
  };
  namespace reasons = api::reasons;
  add(!missing.empty(), reasons::admission_check_not_found,
      "references missing AdmissionCheck(s): " + joined(missing, ","));
  add(!inactive.empty(), reasons::admission_check_inactive,
      "references inactive AdmissionCheck(s): " + joined(inactive, ","));
  add(multikueue.size() > 1, reasons::multiple_multikueue_checks,
      "Cannot use multiple MultiKueue AdmissionChecks on the same ClusterQueue, found: " +
          joined(multikueue, ","));
  add(!per_flavor.empty(), reasons::multikueue_check_per_flavor,
      "Cannot specify MultiKueue AdmissionCheck per flavor, found: " + joined(per_flavor, ","));
  std::vector<std::string> both = multikueue;
  both.insert(both.end(), provisioning.begin(), provisioning.end());
  add(!multikueue.empty() && !provisioning.empty(), reasons::multikueue_with_provisioning,
      "Cannot use both MultiKueue and ProvisioningRequest AdmissionChecks together, found: " +
          joined(both, ", "));
  return problems;
}

ObjectBook::Problems ObjectBook::problems(const api::ClusterQueueSpec& queue) const {
  Problems problems;
  if (queue.stop_policy != api::StopPolicy::None) {
    problems.emplace_back(api::reasons::stopped, "is stopped");
  }
  std::vector<std::string> missing;
  Problems topologies;
  for (const auto& group : queue.resource_groups) {
    for (const auto& flavor : group.flavors) {
      const auto it = flavors_.find(flavor.name);
      if (it == flavors_.end()) {
        missing.push_back(flavor.name);
        continue;
      }
      const std::string& topology = it->second.spec.topology_name;
      if (topology.empty() || topologies_.has_topology(topology)) continue;
      if (uses_multikueue(queue)) continue;  // the workers choose places
      topologies.emplace_back(
          api::reasons::topology_not_found,
          "there is no Topology \"" + topology + "\" for TAS flavor \"" + flavor.name + "\"");
    }
  }
  if (!missing.empty()) {
    problems.emplace_back(api::reasons::flavor_not_found,
                          "references missing ResourceFlavor(s): " + joined(missing, ","));
  }
  for (auto& problem : check_problems(queue)) problems.push_back(std::move(problem));
  for (auto& problem : topologies) problems.push_back(std::move(problem));
  return problems;
}

ShapePtr ObjectBook::shape_of(const api::Workload& workload) {
  return shapes_.intern(workload, config_, pod_defaults_, &names_);
}

std::vector<PodProfilePtr> ObjectBook::pods_after_checks(const api::Workload& workload,
                                                         const Shape& shape) {
  std::vector<PodProfilePtr> out;
  for (const PodSetShape& pod_set : shape.pod_sets) {
    PodProfilePtr pods = pod_set.pods;
    for (const auto& check : workload.status.admission_checks) {
      if (check.state != api::CheckState::Ready) continue;
      for (const api::PodSetUpdate& update : check.pod_set_updates) {
        if (update.name != pod_set.name) continue;
        pods = shapes_.profiles().intern(*pods, update.tolerations, update.node_selector);
      }
    }
    out.push_back(std::move(pods));
  }
  return out;
}

}  // namespace regatta::admission
