#include "admission/flavor_assigner.h"

#include <algorithm>

namespace regatta::admission {
namespace {

const api::Taint* untolerated(const api::ResourceFlavorSpec& flavor, const PodSetShape& pod_set) {
  for (const api::Taint& taint : flavor.node_taints) {
    if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") continue;
    const auto tolerated = [&](const api::Toleration& toleration) {
      return api::tolerates(toleration, taint);
    };
    if (std::any_of(pod_set.tolerations.begin(), pod_set.tolerations.end(), tolerated)) continue;
    if (std::any_of(flavor.tolerations.begin(), flavor.tolerations.end(), tolerated)) continue;
    return &taint;
  }
  return nullptr;
}

/// Compares only keys that the flavor's labels have: some of its nodes may have other labels.
bool affinity_matches(const api::StringMap& labels, const PodSetShape& pod_set) {
  for (const auto& [key, value] : pod_set.node_selector) {
    const auto label = labels.find(key);
    if (label != labels.end() && label->second != value) return false;
  }
  if (!pod_set.node_affinity) return true;
  bool matched = pod_set.node_affinity->empty();
  for (const api::NodeSelectorTerm& term : *pod_set.node_affinity) {
    api::NodeSelectorTerm known;
    for (const auto& expression : term.match_expressions) {
      if (labels.contains(expression.key)) known.match_expressions.push_back(expression);
    }
    // The terms are alternatives: a term without keys of this flavor lets it pass.
    if (known.match_expressions.empty()) return true;
    matched = matched || api::matches(known, labels, {});
  }
  return matched;
}

}  // namespace

bool flavor_suits(const FlavorInfo& flavor, const PodSetShape& pod_set, FlavorNote* note) {
  note->flavor = flavor.id;
  if (const api::Taint* taint = untolerated(flavor.spec, pod_set); taint != nullptr) {
    note->kind = FlavorNote::Kind::untolerated_taint;
    note->taint = taint;
    return false;
  }
  if (!affinity_matches(flavor.spec.node_labels, pod_set)) {
    note->kind = FlavorNote::Kind::node_affinity;
    return false;
  }
  return true;
}

std::string render(const FlavorNote& note, const Names& names) {
  using Kind = FlavorNote::Kind;
  const std::string& flavor =
      names.flavors.size() > note.flavor ? names.flavors.name(note.flavor) : std::string();
  const auto resource = [&]() -> const std::string& { return names.resources.name(note.resource); };
  const auto amount = [&](Amount value) { return format_amount(resource(), value); };
  switch (note.kind) {
    case Kind::unavailable_resource:
      return "resource " + resource() + " unavailable in ClusterQueue";
    case Kind::flavor_not_found:
      return "flavor " + flavor + " not found";
    case Kind::other_slice:
      return "could not assign " + flavor +
             " flavor since the original workload is assigned: " + note.text;
    case Kind::not_nominated:
      return "skipping flavor " + flavor + " as it is not found in the nomination mapping for " +
             "resource " + resource();
    case Kind::topology_only:
      return "Flavor \"" + flavor + "\" supports only TopologyAwareScheduling";
    case Kind::no_topology:
      return "Flavor \"" + flavor + "\" does not support TopologyAwareScheduling";
    case Kind::no_topology_level:
      return "Flavor \"" + flavor + "\" does not contain the requested level";
    case Kind::no_topology_known:
      return "Flavor \"" + flavor + "\" information missing in TAS cache";
    case Kind::no_places:
      return note.text;
    case Kind::untolerated_taint:
      return "untolerated taint {" + note.taint->key + " " + note.taint->value + " " +
             note.taint->effect + " <nil>} in flavor " + flavor;
    case Kind::node_affinity:
      return "flavor " + flavor + " doesn't match node affinity";
    case Kind::exceeds_max:
      return "insufficient quota for " + resource() + " in flavor " + flavor +
             ", previously considered podsets requests (" + amount(note.before) +
             ") + current podset request (" + amount(note.amount) + ") > maximum capacity (" +
             amount(note.maximum) + ")";
    case Kind::insufficient:
      return "insufficient unused quota for " + resource() + " in flavor " + flavor + ", " +
             amount(note.amount) + " more needed";
  }
  return {};
}

}  // namespace regatta::admission
