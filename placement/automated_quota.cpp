#include "placement/automated_quota.h"

#include "lib/api/names.h"
#include "lib/base/contains.h"
#include "lib/base/joined.h"

#include <algorithm>
#include <map>

namespace regatta::placement {
namespace {

AutomatedQuota unsupported(std::string message) {
  return {std::string(api::reasons::unsupported_configuration), std::move(message), std::nullopt};
}

/// The group that has the only flavor; null when there are more, or none.
const api::ResourceGroup* only_flavor(const api::ClusterQueueSpec& spec) {
  std::size_t flavors = 0;
  const api::ResourceGroup* found = nullptr;
  for (const api::ResourceGroup& group : spec.resource_groups) {
    flavors += group.flavors.size();
    if (!group.flavors.empty()) found = &group;
  }
  return flavors == 1 ? found : nullptr;
}

std::map<std::string, api::Quantity> sums(const AutomatedQuotaInput& input) {
  std::map<std::string, api::Quantity> out;
  for (const auto& queue : input.on_workers) {
    for (const api::ResourceGroup& group : queue->spec.resource_groups) {
      for (const api::FlavorQuotas& flavor : group.flavors) {
        for (const api::ResourceQuota& one : flavor.resources) {
          const auto [sum, first] = out.try_emplace(one.name, one.nominal_quota);
          if (!first) sum->second += one.nominal_quota;
        }
      }
    }
  }
  return out;
}

std::vector<api::ResourceQuota> resources_of(const api::ResourceGroup& group,
                                             const std::map<std::string, api::Quantity>& sums) {
  std::vector<api::ResourceQuota> out;
  const auto& before = group.flavors.front().resources;
  for (const std::string& name : group.covered_resources) {
    api::ResourceQuota& quota = out.emplace_back();
    quota.name = name;
    const auto had = std::find_if(before.begin(), before.end(),
                                  [&](const auto& one) { return one.name == name; });
    if (had != before.end()) quota = *had;
    const auto sum = sums.find(name);
    const api::Quantity nominal = sum == sums.end() ? api::Quantity() : sum->second;
    // The same number, written in another way, is no change.
    if (quota.nominal_quota != nominal) quota.nominal_quota = nominal;
    if (quota.lending_limit && *quota.lending_limit > nominal) quota.lending_limit = nominal;
  }
  return out;
}

}  // namespace

std::optional<AutomatedQuota> automated_quota(const AutomatedQuotaInput& input) {
  if (!input.config_found) return unsupported("The referenced MultiKueueConfig was not found.");
  if (!input.requested) {
    return AutomatedQuota{std::string(api::reasons::not_requested),
                          "MultiKueue manager quota automation has not been requested.",
                          std::nullopt};
  }
  const api::ResourceGroup* group = only_flavor(input.spec);
  if (!group) {
    return unsupported(
        "Quota automation requires that the manager-side ClusterQueue has exactly one "
        "ResourceFlavor");
  }
  if (!input.withheld.empty()) {
    return unsupported("the hub may not read the queues of worker clusters: " +
                       joined(input.withheld, ", "));
  }
  if (!input.unknown.empty()) return std::nullopt;
  const std::map<std::string, api::Quantity> wanted = sums(input);
  std::vector<std::string> missing;
  for (const auto& [name, sum] : wanted) {
    if (!contains(group->covered_resources, name)) missing.push_back(name);
  }
  if (!missing.empty()) {
    return unsupported(
        "manager-side coveredResources is missing resources configured on workers: [" +
        joined(missing, " ") + "]");
  }
  AutomatedQuota out;
  out.reason = api::reasons::quota_automated;
  out.message = "ClusterQueue quota is automatically managed based on MultiKueue workers.";
  std::vector<api::ResourceQuota> resources = resources_of(*group, wanted);
  if (resources != group->flavors.front().resources) {
    out.groups = input.spec.resource_groups;
    for (api::ResourceGroup& one : *out.groups) {
      if (!one.flavors.empty()) one.flavors.front().resources = resources;
    }
  }
  return out;
}

std::string quota_text(const std::vector<api::ResourceGroup>& groups) {
  std::vector<std::string> all;
  for (const api::ResourceGroup& group : groups) {
    for (const api::FlavorQuotas& flavor : group.flavors) {
      for (const api::ResourceQuota& one : flavor.resources) {
        all.push_back(one.name + " " + one.nominal_quota.str());
      }
    }
  }
  return joined(all, ", ");
}

}  // namespace regatta::placement
