#include "admission/topology/assignment.h"
#include "whatif/scenario/run.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>

namespace regatta::whatif {
namespace {

/// Seventeen significant digits, so that it reads back as the same double.
std::string exact(double value) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

/// Every domain in full, by its values.
Json topology(const api::TopologyAssignment& assignment) {
  const auto expanded = admission::expand(assignment);
  Json domains = Json::array();
  for (const auto& domain : expanded.value().domains) {
    domains.push_back({{"values", domain.values}, {"count", domain.count}});
  }
  return {{"levels", assignment.levels}, {"domains", std::move(domains)}};
}

Json pod_set(const api::PodSetAssignment& given) {
  Json usage = Json::object();
  for (const auto& [name, quantity] : given.resource_usage) usage[name] = quantity.str();
  Json out = {{"name", given.name}, {"flavors", given.flavors}, {"resourceUsage", usage}};
  if (given.count) out["count"] = *given.count;
  if (given.topology_assignment) out["topology"] = topology(*given.topology_assignment);
  return out;
}

Json admission(const admission::AdmittedWorkload& decision) {
  Json sets = Json::array();
  for (const auto& given : decision.admission.pod_set_assignments) sets.push_back(pod_set(given));
  return {{"clusterQueue", decision.cluster_queue}, {"podSetAssignments", std::move(sets)}};
}

}  // namespace

Json to_json(const ObservedStep& step) {
  Json admitted = Json::object();
  Json preempted = Json::object();
  Json pending = Json::object();
  for (const auto& one : step.decisions.admitted) admitted[one.key.str()] = admission(one);
  for (const auto& one : step.decisions.preempted) {
    preempted[one.key.str()] = {{"reason", one.reason}, {"by", one.preemptor->key.str()}};
  }
  for (const auto& one : step.decisions.pending) {
    pending[one.key.str()] = {{"reason", one.reason}, {"message", one.message}};
  }
  Json usage = Json::object();
  for (const auto& [queue, amounts] : step.usage) {
    for (const auto& [name, quantity] : amounts) usage[queue][name] = quantity.str();
  }
  Json out = {{"cycle", step.decisions.ran},
              {"admitted", std::move(admitted)},
              {"preempted", std::move(preempted)},
              {"pending", std::move(pending)},
              {"queued", step.queued},
              {"inadmissible", step.inadmissible},
              {"usage", std::move(usage)}};
  if (step.fair_sharing) {
    out["shares"] = Json::object();
    for (const auto& [name, share] : step.shares) out["shares"][name] = exact(share);
  }
  return out;
}

Json to_json(const std::string& name, const std::vector<ObservedStep>& steps) {
  Json list = Json::array();
  for (const ObservedStep& step : steps) list.push_back(to_json(step));
  return {{"name", name}, {"steps", std::move(list)}};
}

}  // namespace regatta::whatif
