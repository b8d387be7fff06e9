#include "admission/topology/requests.h"

#include <algorithm>

namespace regatta::admission {
namespace {

using Request = std::optional<api::PodSetTopologyRequest>;

bool slices_only(const Request& request) {
  return request && !request->required && !request->preferred && !slice_layers(request).empty();
}

/// The level that the request names; null when it names none.
const std::string* level_key(const TopologyTree& tree, const Request& request) {
  if (!request) return nullptr;
  if (request->required) return &*request->required;
  if (request->preferred) return &*request->preferred;
  if (slices_only(request)) return &tree.level_keys.front();
  if (request->unconstrained.value_or(false)) return &tree.level_keys.back();
  return nullptr;
}

Error unusable(std::string text) {
  return Error(Errc::invalid, std::move(text));
}

/// Sizes of the inner layers by level. A level between two layers has the size of the lower one.
Result<std::vector<std::int32_t>> inner_sizes(
    const TopologyTree& tree, const std::vector<api::PodSetTopologyConstraint>& layers,
    std::size_t level) {
  std::vector<std::int32_t> inner;
  if (layers.size() < 2) return inner;
  inner.assign(tree.level_keys.size(), 0);
  std::int32_t size = layers.front().size;
  for (std::size_t i = 1; i < layers.size(); ++i) {
    const api::PodSetTopologyConstraint& layer = layers[i];
    const auto at = tree.level_of(layer.topology);
    if (!at) {
      return unusable("no requested topology level for additional slice layer: " + layer.topology);
    }
    if (*at <= level) {
      return unusable("additional slice layer topology " + layer.topology +
                      " must be at a lower level than " + tree.level_keys[level]);
    }
    if (layer.size <= 0 || size % layer.size != 0) {
      return unusable("additional slice layer size " + std::to_string(layer.size) +
                      " must evenly divide parent layer size " + std::to_string(size));
    }
    for (std::size_t between = level + 1; between <= *at; ++between) inner[between] = layer.size;
    size = layer.size;
    level = *at;
  }
  return inner;
}

/// Pod sets of one flavor that are placed together.
struct Group {
  const TopologyRequest* workers = nullptr;
  const TopologyRequest* leader = nullptr;
};

std::vector<Group> groups_of(const std::vector<const TopologyRequest*>& requests) {
  std::vector<std::vector<const TopologyRequest*>> members;
  std::vector<std::string_view> names;
  for (const TopologyRequest* request : requests) {
    const std::string_view name = request->group;
    std::size_t at = 0;
    while (at < members.size() && (name.empty() || names[at] != name)) ++at;
    if (at == members.size()) {
      members.emplace_back();
      names.emplace_back(name);
    }
    members[at].push_back(request);
  }
  std::vector<Group> groups;
  for (const auto& group : members) {
    Group& out = groups.emplace_back();
    out.workers = group.front();
    if (group.size() < 2) continue;
    out.leader = group[1];
    if (out.leader->count > out.workers->count) std::swap(out.leader, out.workers);
  }
  return groups;
}

class PlaceFinder {
 public:
  PlaceFinder(Topologies& topologies, const TopologySearch& search)
      : topologies_(topologies), search_(search) {}

  TopologyPlaces find(const std::vector<TopologyRequest>& requests) {
    std::map<std::string_view, std::vector<const TopologyRequest*>> by_flavor;
    for (const TopologyRequest& request : requests) {
      by_flavor[topologies_.names().flavors.name(request.flavor)].push_back(&request);
    }
    std::size_t left = requests.size();
    for (const auto& [flavor, members] : by_flavor) {
      for (const Group& group : groups_of(members)) {
        left -= group.leader == nullptr ? 1 : 2;
        if (!place_group(group, left > 0)) return std::move(out_);
      }
    }
    return std::move(out_);
  }

 private:
  bool fail(const TopologyRequest& request, std::string text) {
    out_.failure = {request.pod_set, request.flavor, std::move(text)};
    return false;
  }

  bool place_group(const Group& group, bool others_follow) {
    const TopologyRequest& workers = *group.workers;
    const TopologyRequest& first =
        group.leader != nullptr && group.leader->pod_set < workers.pod_set ? *group.leader
                                                                           : workers;
    TopologyTree* tree = topologies_.tree(workers.flavor);
    if (tree == nullptr) return fail(first, "topology level not specified");
    auto resolved = resolve(*tree, *workers.terms, workers.implied);
    if (!resolved) return fail(first, resolved.error().what());
    PlacementRequest& request = resolved->placement;
    request.count = workers.count;
    request.leader = group.leader != nullptr;
    request.least_free_first = search_.least_free_first;
    CapacityView& view = topologies_.view(*tree, workers.pods,
                                          group.leader != nullptr ? group.leader->pods : nullptr,
                                          resolved->slices, search_.empty);
    const PlacementResult& result = topologies_.place_cached(view, request);
    if (!result.fits) {
      if (!search_.explain) return fail(first, {});
      return fail(first,
                  placement_failure(view, request, result, resolved->layers, topologies_.names()));
    }
    keep(*tree, workers, result, false, others_follow);
    if (group.leader != nullptr) keep(*tree, *group.leader, result, true, others_follow);
    return true;
  }

  void keep(const TopologyTree& tree, const TopologyRequest& request, const PlacementResult& result,
            bool leader, bool others_follow) {
    PodPlaces places{
        request.flavor, request.pods, topologies_.assignment_levels(request.flavor), {}};
    for (const PlacedLeaf& leaf : result.leaves) {
      const std::int32_t count = leader ? leaf.leaders : leaf.pods;
      if (count > 0) places.places.push_back({tree.places[leaf.leaf], count});
    }
    if (others_follow) {
      if (!trial_) trial_.emplace(topologies_);
      topologies_.assume(places);
    }
    out_.pod_sets.push_back({request.pod_set, std::move(places)});
  }

  struct Trial {
    explicit Trial(Topologies& in) : topologies(in), mark(in.begin_trial()) {}
    ~Trial() { topologies.roll_back(mark); }
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;
    Topologies& topologies;
    std::size_t mark;
  };

  Topologies& topologies_;
  const TopologySearch& search_;
  TopologyPlaces out_;
  std::optional<Trial> trial_;
};

}  // namespace

bool asks_for_topology(const Request& request) {
  return request && (request->unconstrained || request->required || request->preferred ||
                     request->pod_set_slice_required_topology || request->pod_set_slice_size ||
                     !request->slice_constraints.empty());
}

std::vector<api::PodSetTopologyConstraint> slice_layers(const Request& request) {
  if (!request) return {};
  if (!request->slice_constraints.empty()) return request->slice_constraints;
  if (!request->pod_set_slice_required_topology) return {};
  return {{*request->pod_set_slice_required_topology, request->pod_set_slice_size.value_or(0)}};
}

bool has_levels(const TopologyTree& tree, const Request& request) {
  const std::string* key = level_key(tree, request);
  if (key == nullptr || !tree.level_of(*key)) return false;
  const auto layers = slice_layers(request);
  return std::all_of(layers.begin(), layers.end(),
                     [&](const auto& layer) { return tree.level_of(layer.topology).has_value(); });
}

Result<ResolvedRequest> resolve(const TopologyTree& tree, const Request& request, bool implied) {
  ResolvedRequest out;
  out.layers = slice_layers(request);
  if (!out.layers.empty()) {
    out.slices.size = out.layers.front().size;
    if (out.slices.size <= 0) {
      return unusable("slice topology requested, but slice size not provided");
    }
  }
  out.placement.required = request && request->required;
  out.placement.unconstrained =
      implied || slices_only(request) || (request && request->unconstrained.value_or(false));
  const std::string* key = level_key(tree, request);
  if (key == nullptr && implied) key = &tree.level_keys.back();
  if (key == nullptr) return unusable("topology level not specified");
  const auto level = tree.level_of(*key);
  if (!level) return unusable("no requested topology level: " + *key);
  out.placement.level = *level;
  const std::string& slice_key =
      out.layers.empty() ? tree.level_keys.back() : out.layers.front().topology;
  const auto slice_level = tree.level_of(slice_key);
  if (!slice_level) return unusable("no requested topology level for slices: " + slice_key);
  if (*level > *slice_level) {
    return unusable("podset slice topology " + slice_key + " is above the podset topology " + *key);
  }
  out.slices.level = *slice_level;
  auto inner = inner_sizes(tree, out.layers, *slice_level);
  if (!inner) return inner.error();
  out.slices.inner = std::move(*inner);
  return out;
}

TopologyPlaces find_places(Topologies& topologies, const std::vector<TopologyRequest>& requests,
                           const TopologySearch& search) {
  return PlaceFinder(topologies, search).find(requests);
}

}  // namespace regatta::admission
