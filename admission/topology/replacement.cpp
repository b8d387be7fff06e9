#include "admission/topology/replacement.h"

#include <algorithm>

namespace regatta::admission {
namespace {

using Layers = std::vector<api::PodSetTopologyConstraint>;

struct Domain {
  std::size_t level = 0;
  DomainIndex index = 0;
};

class Replacer {
 public:
  Replacer(const Topologies& topologies, const TopologyTree& tree)
      : topologies_(topologies), tree_(tree) {}

  /// Splits the places into kept and missing ones; false when a kept one is not in the tree. Hosts
  /// that are gone matter only if a pod that remains may be there.
  bool split(const PodPlaces& current, const LostPlaces& lost, std::string* stale) {
    std::int32_t all = 0;
    std::int32_t gone = 0;
    for (const PlacedPods& placed : current.places) {
      all += placed.count;
      const std::string& host = topologies_.values(placed.place).back();
      if (lost.hosts.contains(host)) {
        missing_ += placed.count;
        continue;
      }
      const auto leaf = tree_.leaf_of_place.find(placed.place);
      if (leaf == tree_.leaf_of_place.end()) {
        if (stale->empty()) *stale = host;
        gone += placed.count;
        continue;
      }
      kept_[leaf->second] += placed.count;
    }
    return gone <= std::max(all - lost.remaining, 0);
  }

  std::int32_t missing() const { return missing_; }
  /// So many pods will yet run, and each fits each place that is left.
  void need_only(std::int32_t remaining) {
    std::int32_t left = 0;
    for (const auto& [leaf, count] : kept_) left += count;
    missing_ = std::min(missing_, std::max(remaining - left, 0));
  }
  const std::map<DomainIndex, std::int32_t>& kept() const { return kept_; }

  /// The domain into which the missing pods have to go, if there is one.
  std::optional<Domain> required(const ResolvedRequest& resolved) const {
    if (kept_.empty()) return std::nullopt;
    const Layers& layers = resolved.layers;
    if (!layers.empty() && missing_ % resolved.slices.size != 0) {
      for (std::size_t i = layers.size(); i-- > 0;) {
        if (missing_ % layers[i].size != 0) return incomplete(layers[i]);
      }
    }
    if (!resolved.placement.required) return std::nullopt;
    const std::size_t level = resolved.placement.level;
    return Domain{level, tree_.ancestor(kept_.begin()->first, level)};
  }

  /// The missing pods are no whole number of slices: requests the smallest groups that they still
  /// fill.
  void lower_slices(ResolvedRequest* resolved, std::size_t inside) const {
    const Layers layers = std::move(resolved->layers);
    resolved->layers.clear();
    resolved->slices = SliceShape{1, tree_.lowest(), {}};
    resolved->placement.level = std::max(resolved->placement.level, inside);
    for (std::size_t i = layers.size(); i-- > 0;) {
      if (missing_ % layers[i].size != 0) continue;
      const auto level = tree_.level_of(layers[i].topology);
      if (!level || *level < resolved->placement.level) continue;
      resolved->slices.size = layers[i].size;
      resolved->slices.level = *level;
      resolved->layers = {layers[i]};
      return;
    }
  }

 private:
  /// The domain with an incomplete group of this layer.
  std::optional<Domain> incomplete(const api::PodSetTopologyConstraint& layer) const {
    const auto level = tree_.level_of(layer.topology);
    if (!level) return std::nullopt;
    std::map<DomainIndex, std::int32_t> pods;
    for (const auto& [leaf, count] : kept_) pods[tree_.ancestor(leaf, *level)] += count;
    for (const auto& [domain, count] : pods) {
      if ((count + missing_) % layer.size == 0) return Domain{*level, domain};
    }
    return std::nullopt;
  }

  const Topologies& topologies_;
  const TopologyTree& tree_;
  std::map<DomainIndex, std::int32_t> kept_;
  std::int32_t missing_ = 0;
};

std::string names_of(const std::set<std::string>& hosts) {
  std::string text;
  for (const std::string& host : hosts) text += (text.empty() ? "" : ",") + host;
  return text;
}

}  // namespace

Replacement replace_places(Topologies& topologies, const TopologyRequest& request,
                           const PodPlaces& current, const LostPlaces& lost,
                           bool least_free_first) {
  TopologyTree* tree = topologies.tree(request.flavor);
  if (tree == nullptr || !tree->by_hostname) return {{}, "topology level not specified"};
  Replacer replacer(topologies, *tree);
  std::string stale;
  if (!replacer.split(current, lost, &stale)) {
    return {{},
            "Cannot replace the node, because the existing topologyAssignment is invalid, as it "
            "contains the stale domain " +
                stale};
  }
  auto resolved = resolve(*tree, *request.terms, request.implied);
  if (!resolved) return {{}, resolved.error().what()};
  if (resolved->layers.empty() && resolved->slices.size == 1) {
    replacer.need_only(lost.remaining);
  }
  const auto places_on = [&](const std::map<DomainIndex, std::int32_t>& leaves) {
    PodPlaces places{
        request.flavor, request.pods, topologies.assignment_levels(request.flavor), {}};
    for (const auto& [leaf, count] : leaves) places.places.push_back({tree->places[leaf], count});
    return places;
  };
  if (replacer.missing() == 0) {
    return {replacer.kept().empty() ? current : places_on(replacer.kept()), {}};
  }
  const auto inside = replacer.required(*resolved);
  if (inside && replacer.missing() % resolved->slices.size != 0) {
    replacer.lower_slices(&*resolved, inside->level);
  }
  PlacementRequest& wanted = resolved->placement;
  wanted.count = replacer.missing();
  wanted.least_free_first = least_free_first;
  std::unique_ptr<CapacityView> confined;
  if (inside) {
    confined = topologies.confined_view(*tree, request.pods, resolved->slices, inside->level,
                                        inside->index);
  }
  const CapacityView& view =
      confined ? *confined : topologies.view(*tree, request.pods, nullptr, resolved->slices, false);
  const PlacementResult found = place(view, wanted);
  if (!found.fits) {
    return {{}, placement_failure(view, wanted, found, resolved->layers, topologies.names())};
  }
  if (found.leaves.empty()) {
    return {{}, "cannot find replacement assignment for unhealthy node: " + names_of(lost.hosts)};
  }
  std::map<DomainIndex, std::int32_t> all = replacer.kept();
  for (const PlacedLeaf& leaf : found.leaves) all[leaf.leaf] += leaf.pods;
  return {places_on(all), {}};
}

}  // namespace regatta::admission
