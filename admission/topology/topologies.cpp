#include "admission/topology/topologies.h"

#include "lib/api/placed.h"
#include "lib/base/check.h"

#include <algorithm>

namespace regatta::admission {
namespace {

constexpr std::size_t views_max = 256;
constexpr std::size_t filters_max = 256;
constexpr std::size_t placements_max = 16;  ///< cached in each view

constexpr std::string_view separator = ",";

std::vector<ResourceAmount> amounts_of(const api::ResourceList& list, Names* names) {
  std::vector<ResourceAmount> out;
  for (const auto& [name, quantity] : list) {
    out.push_back({names->resources.intern(name), api::resource_amount(name, quantity)});
  }
  return out;
}

Amount at(const PlaceAmounts& amounts, const std::pair<PlaceId, ResourceId>& key) {
  const auto it = amounts.find(key);
  return it == amounts.end() ? 0 : it->second;
}

bool terminated(const api::Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

}  // namespace

bool Topologies::NodeState::same_as(const NodeState& other) const {
  return node->labels == other.node->labels && node->taints == other.node->taints &&
         node->allocatable == other.node->allocatable && annotations == other.annotations &&
         conditions == other.conditions && unschedulable == other.unschedulable;
}

void add(PlaceAmounts* to, const PodPlaces& pods) {
  for (const PlacedPods& placed : pods.places) {
    for (const ResourceAmount& request : pods.pods->requests) {
      (*to)[{placed.place, request.resource}] += request.amount * placed.count;
    }
  }
}

// Objects

bool Topologies::set_topology(const std::string& name, const std::vector<std::string>& levels) {
  const auto [it, added] = topologies_.try_emplace(name, levels);
  if (!added && it->second == levels) return false;
  it->second = levels;
  mark_stale_topology(name);
  return true;
}

bool Topologies::erase_topology(const std::string& name) {
  if (topologies_.erase(name) == 0) return false;
  mark_stale_topology(name);
  return true;
}

void Topologies::mark_stale_topology(const std::string& name) {
  for (auto& [id, state] : flavors_) {
    if (state.spec.topology_name == name) state.stale = true;
  }
}

void Topologies::set_flavor(FlavorId id, const api::ResourceFlavorSpec& spec) {
  if (spec.topology_name.empty()) return erase_flavor(id);
  FlavorState& state = flavors_[id];
  if (state.spec == spec) return;
  state.spec = spec;
  state.stale = true;
}

void Topologies::erase_flavor(FlavorId id) {
  const auto it = flavors_.find(id);
  if (it == flavors_.end()) return;
  if (it->second.tree) detach(it->second.tree.get());
  flavors_.erase(it);
}

bool Topologies::concerns_flavor(const api::StringMap& labels) const {
  return std::any_of(flavors_.begin(), flavors_.end(), [&](const auto& entry) {
    const auto topology = topologies_.find(entry.second.spec.topology_name);
    return topology != topologies_.end() &&
           belongs(labels, entry.second.spec.node_labels, topology->second);
  });
}

void Topologies::mark_stale(const api::StringMap& labels) {
  for (auto& [id, state] : flavors_) {
    const auto topology = topologies_.find(state.spec.topology_name);
    if (topology == topologies_.end()) continue;
    if (belongs(labels, state.spec.node_labels, topology->second)) state.stale = true;
  }
}

bool Topologies::upsert(const api::Node& object) {
  auto node = std::make_shared<TopologyNode>();
  node->name = object.metadata.name;
  node->labels = object.metadata.labels;
  node->taints = object.spec.taints;
  node->allocatable = amounts_of(object.status.allocatable, &names_);
  NodeState state;
  state.node = node;
  state.annotations = object.metadata.annotations;
  for (const auto& condition : object.status.conditions) {
    state.conditions[condition.type] = condition.status;
  }
  state.unschedulable = object.spec.unschedulable;
  state.usable = !object.spec.unschedulable && api::is_true(object.status.conditions, "Ready");
  const auto [it, added] = nodes_.try_emplace(node->name);
  NodeState& known = it->second;
  if (!added && known.same_as(state)) return false;
  bool concerned = concerns_flavor(node->labels);
  if (added) {
    if (state.usable) mark_stale(node->labels);
  } else {
    concerned = concerned || concerns_flavor(known.node->labels);
    if (known.usable || state.usable) {
      mark_stale(known.node->labels);
      mark_stale(node->labels);
    }
  }
  known = std::move(state);
  return concerned;
}

bool Topologies::erase_node(const std::string& name) {
  const auto it = nodes_.find(name);
  if (it == nodes_.end()) return false;
  const bool concerned = concerns_flavor(it->second.node->labels);
  mark_stale(it->second.node->labels);
  nodes_.erase(it);
  return concerned;
}

std::vector<FlavorId> Topologies::flavors_of_node(const std::string& node) const {
  std::vector<FlavorId> out;
  const auto it = nodes_.find(node);
  if (it == nodes_.end()) return out;
  for (const auto& [id, state] : flavors_) {
    const auto topology = topologies_.find(state.spec.topology_name);
    if (topology == topologies_.end()) continue;
    if (belongs(it->second.node->labels, state.spec.node_labels, topology->second)) {
      out.push_back(id);
    }
  }
  return out;
}

// Pods that do not belong to a workload placed by topology

/// Of what a node does not offer, its pods leave nothing to others. Anyone may make them ask for
/// it, under any number of names.
bool Topologies::offers(const TopologyNode& node, ResourceId resource) {
  const auto& all = node.allocatable;
  return std::any_of(all.begin(), all.end(),
                     [&](const ResourceAmount& one) { return one.resource == resource; });
}

void Topologies::add_to_node(const std::string& node, const std::vector<ResourceAmount>& requests,
                             int sign) {
  auto& usage = pod_usage_[node];
  const auto known = nodes_.find(node);
  const auto leaves = leaves_of_node_.find(node);
  for (const ResourceAmount& request : requests) {
    const Amount amount = sign * request.amount;
    usage[request.resource] += amount;
    if (leaves == leaves_of_node_.end() || known == nodes_.end()) continue;
    if (!offers(*known->second.node, request.resource)) continue;
    const std::size_t at = column(request.resource);
    for (const Leaf& leaf : leaves->second) {
      for (LeafLedger* ledger : {&leaf.tree->live, &leaf.tree->empty}) {
        ledger->free[at][leaf.leaf] -= amount;
        ledger->note(leaf.leaf);
      }
    }
  }
  const auto none = [](const auto& entry) { return entry.second == 0; };
  if (std::all_of(usage.begin(), usage.end(), none)) pod_usage_.erase(node);
}

std::vector<FlavorId> Topologies::upsert(const api::Pod& pod) {
  if (api::placed_by_topology(pod.metadata.annotations)) return erase_pod(pod.metadata.key());
  return upsert(pod, pod_amounts(pod.spec));
}

std::vector<FlavorId> Topologies::upsert(const api::Pod& pod, const PodAmounts& takes) {
  const api::ObjectKey key = pod.metadata.key();
  if (terminated(pod) || pod.spec.node_name.empty()) return erase_pod(key);
  PodState state;
  state.node = pod.spec.node_name;
  for (const auto& [name, amount] : takes) {
    state.requests.push_back({names_.resources.intern(name), amount});
  }
  const auto [it, added] = pods_.try_emplace(key);
  PodState& known = it->second;
  if (!added && known.node == state.node && known.requests == state.requests) return {};
  std::vector<FlavorId> freed;
  if (!added) {
    freed = flavors_of_node(known.node);
    add_to_node(known.node, known.requests, -1);
  }
  add_to_node(state.node, state.requests, 1);
  known = std::move(state);
  return freed;
}

std::vector<FlavorId> Topologies::erase_pod(const api::ObjectKey& key) {
  const auto it = pods_.find(key);
  if (it == pods_.end()) return {};
  add_to_node(it->second.node, it->second.requests, -1);
  std::vector<FlavorId> freed = flavors_of_node(it->second.node);
  pods_.erase(it);
  return freed;
}

// Trees

TopologyTree* Topologies::tree(FlavorId flavor) const {
  const auto it = flavors_.find(flavor);
  return it == flavors_.end() ? nullptr : it->second.tree.get();
}

std::shared_ptr<const std::vector<std::string>> Topologies::assignment_levels(
    FlavorId flavor) const {
  const auto it = flavors_.find(flavor);
  return it == flavors_.end() ? nullptr : it->second.assignment_levels;
}

void Topologies::settle() {
  for (auto& [id, state] : flavors_) {
    if (std::exchange(state.stale, false)) rebuild(id, &state);
  }
  widen();  // a rebuilt tree may have new resources
}

/// Gives every tree a column for each resource of any tree.
void Topologies::widen() {
  for (auto& [id, state] : flavors_) {
    if (!state.tree || state.tree->live.free.size() == columns_.size()) continue;
    for (LeafLedger* ledger : {&state.tree->live, &state.tree->empty}) {
      ledger->free.resize(columns_.size(), std::vector<Amount>(state.tree->leaves(), 0));
    }
  }
}

void Topologies::detach(TopologyTree* tree) {
  const auto of_tree = [&](const Leaf& leaf) { return leaf.tree == tree; };
  for (const PlaceId place : tree->places) std::erase_if(places_[place].leaves, of_tree);
  for (auto it = leaves_of_node_.begin(); it != leaves_of_node_.end();) {
    std::erase_if(it->second, of_tree);
    it = it->second.empty() ? leaves_of_node_.erase(it) : std::next(it);
  }
  std::erase_if(views_, [&](const auto& entry) { return entry.first.first == tree; });
  std::erase_if(filters_, [&](const auto& entry) { return entry.first.first == tree; });
  last_view_ = nullptr;
}

void Topologies::rebuild(FlavorId id, FlavorState* state) {
  REGATTA_CHECK(!trials_.open(), "a topology is rebuilt within a trial");
  if (state->tree) detach(state->tree.get());
  state->tree.reset();
  const auto topology = topologies_.find(state->spec.topology_name);
  if (topology == topologies_.end() || topology->second.empty()) return;
  auto tree = std::make_unique<TopologyTree>();
  tree->topology = state->spec.topology_name;
  tree->level_keys = topology->second;
  tree->by_hostname = api::lowest_is_hostname(tree->level_keys);
  tree->tolerations = state->spec.tolerations;
  std::vector<TopologyNodePtr> nodes;
  for (const auto& [name, node] : nodes_) {
    const bool mine = belongs(node.node->labels, state->spec.node_labels, tree->level_keys);
    if (node.usable && mine) nodes.push_back(node.node);
  }
  TreeLayout layout = lay_out(nodes, tree->level_keys);
  tree->levels = std::move(layout.levels);
  for (DomainIndex leaf = 0; leaf < layout.members.size(); ++leaf) {
    std::vector<std::string> values = tree->path(tree->lowest(), leaf);
    if (tree->by_hostname) values = {values.back()};
    const PlaceId place_id = place(id, tree->by_hostname, values);
    tree->places.push_back(place_id);
    tree->leaf_of_place[place_id] = leaf;
    places_[place_id].leaves.push_back({tree.get(), leaf});
    if (tree->by_hostname) tree->nodes.push_back(layout.members[leaf].front());
    for (const auto& node : layout.members[leaf]) {
      leaves_of_node_[node->name].push_back({tree.get(), leaf});
    }
  }
  state->assignment_levels = std::make_shared<const std::vector<std::string>>(
      tree->by_hostname ? std::vector{tree->level_keys.back()} : tree->level_keys);
  fill(tree.get(), layout.members);
  state->tree = std::move(tree);
}

/// Computes what is free on the leaves.
void Topologies::fill(TopologyTree* tree,
                      const std::vector<std::vector<TopologyNodePtr>>& members) {
  const auto add = [&](ResourceId resource, DomainIndex leaf, Amount amount) {
    const std::size_t at = columns_.at(resource);
    auto& free = tree->empty.free;
    if (at >= free.size()) free.resize(at + 1, std::vector<Amount>(tree->leaves(), 0));
    free[at][leaf] += amount;
  };
  for (DomainIndex leaf = 0; leaf < members.size(); ++leaf) {
    for (const TopologyNodePtr& node : members[leaf]) {
      for (const ResourceAmount& has : node->allocatable) add(has.resource, leaf, has.amount);
      const auto pods = pod_usage_.find(node->name);
      if (pods == pod_usage_.end()) continue;
      for (const auto& [resource, amount] : pods->second) {
        if (offers(*node, resource)) add(resource, leaf, -amount);
      }
    }
  }
  tree->empty.free.resize(columns_.size(), std::vector<Amount>(tree->leaves(), 0));
  tree->live.free = tree->empty.free;
  for (DomainIndex leaf = 0; leaf < tree->leaves(); ++leaf) {
    const std::vector<Amount>& used = places_[tree->places[leaf]].used;
    for (std::size_t at = 0; at < used.size(); ++at) tree->live.free[at][leaf] -= used[at];
  }
}

std::size_t Topologies::column(ResourceId resource) {
  const std::size_t known = columns_.size();
  const std::size_t at = columns_.at(resource);
  if (at >= known) widen();
  return at;
}

// Places

PlaceId Topologies::place(FlavorId flavor, bool by_hostname,
                          const std::vector<std::string>& values) {
  std::string name;
  if (by_hostname) {
    name = values.back();
  } else {
    name = names_.flavors.name(flavor) + "/";
    for (const std::string& value : values) name.append(separator).append(value);
  }
  const auto [it, added] =
      place_ids_.try_emplace(std::move(name), static_cast<PlaceId>(places_.size()));
  if (added) places_.emplace_back().values = values;
  return it->second;
}

api::TopologyAssignment Topologies::to_api(const PodPlaces& pods) const {
  TopologyDomains domains;
  domains.levels = *pods.levels;
  domains.domains.reserve(pods.places.size());
  for (const PlacedPods& placed : pods.places) {
    domains.domains.push_back({values(placed.place), placed.count});
  }
  return compact(domains);
}

Result<PodPlaces> Topologies::from_api(const api::TopologyAssignment& assignment, FlavorId flavor,
                                       PodProfilePtr pods) {
  Result<TopologyDomains> domains = expand(assignment);
  if (!domains) return domains.error();
  if (domains->levels.empty()) return Error(Errc::invalid, "topologyAssignment: no levels");
  const bool by_hostname = api::lowest_is_hostname(domains->levels);
  PodPlaces out{flavor, std::move(pods), nullptr, {}};
  for (const TopologyDomain& domain : domains->domains) {
    out.places.push_back({place(flavor, by_hostname, domain.values), domain.count});
  }
  out.levels = std::make_shared<const std::vector<std::string>>(std::move(domains->levels));
  return out;
}

void Topologies::change(const PodPlaces& pods, std::int64_t sign, bool assumed) {
  Change change{0, pods.pods, 0, assumed, nullptr, trials_.open()};
  if (!exact_ && change.tried && !assumed) {
    change.only = tree(pods.flavor);
    if (change.only == nullptr) return;
  }
  for (const PlacedPods& placed : pods.places) {
    change.place = placed.place;
    change.count = sign * placed.count;
    apply(change);
    if (change.tried) trial_.push_back(change);
  }
}

void Topologies::apply(const Change& change) {
  Place& place = places_[change.place];
  for (const ResourceAmount& request : change.pods->requests) {
    const Amount amount = request.amount * change.count;
    if (amount == 0) continue;
    const std::size_t at = column(request.resource);
    if (!change.tried) {
      if (place.used.size() <= at) place.used.resize(at + 1, 0);
      place.used[at] += amount;
    }
    for (const Leaf& leaf : place.leaves) {
      if (change.only != nullptr && change.only != leaf.tree) continue;
      leaf.tree->live.free[at][leaf.leaf] -= amount;
      if (change.assumed) leaf.tree->empty.free[at][leaf.leaf] -= amount;
    }
  }
  for (const Leaf& leaf : place.leaves) {
    leaf.tree->live.note(leaf.leaf);
    if (change.assumed) leaf.tree->empty.note(leaf.leaf);
  }
}

std::size_t Topologies::begin_trial() {
  return trials_.begin(trial_.size());
}

void Topologies::roll_back(std::size_t mark) {
  trials_.end(mark, trial_.size());
  while (trial_.size() > mark) {
    Change change = std::move(trial_.back());
    trial_.pop_back();
    change.count = -change.count;
    apply(change);
  }
}

bool Topologies::fits(std::span<const PodPlaces* const> all, const PlaceAmounts& more,
                      const PlaceAmounts& even_more) const {
  PlaceAmounts wanted;
  const auto pods = names_.resources.find(api::pods_resource);
  for (const PodPlaces* each : all) {
    const TopologyTree* in = tree(each->flavor);
    if (in == nullptr) return false;
    for (const PlacedPods& placed : each->places) {
      const auto leaf = in->leaf_of_place.find(placed.place);
      if (leaf == in->leaf_of_place.end()) return false;
      // In Kueue, pods that request nothing fit nowhere.
      if (!exact_ && each->pods->requests.size() == 1 && placed.count > 0) return false;
      for (const ResourceAmount& request : each->pods->requests) {
        if (request.amount <= 0 || (!exact_ && request.resource == pods)) continue;
        const auto column = columns_.find(request.resource);
        if (!column) return false;
        const std::pair<PlaceId, ResourceId> key{placed.place, request.resource};
        Amount& total = wanted[key];
        total = (exact_ ? total : 0) + request.amount * placed.count;
        const Amount free = in->live.free[*column][leaf->second];
        if (free + at(more, key) + at(even_more, key) < total) return false;
      }
    }
  }
  return true;
}

// Views

std::shared_ptr<const NodeFilter> Topologies::filter(const TopologyTree& tree,
                                                     const PodProfile& pods) {
  if (filters_.size() >= filters_max) filters_.clear();
  auto& known = filters_[{&tree, pods.id}];
  if (!known) known = std::make_shared<const NodeFilter>(filter_nodes(tree, pods));
  return known;
}

void Topologies::forget_oldest_view() {
  const auto oldest =
      std::min_element(views_.begin(), views_.end(),
                       [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
  views_.erase(oldest);
  last_view_ = nullptr;
}

CapacityView& Topologies::view(TopologyTree& tree, const PodProfilePtr& pods,
                               const PodProfilePtr& leader, const SliceShape& slices, bool empty) {
  CapacityKey key{pods->id, leader ? leader->id : 0, empty, slices};
  auto it = views_.find({&tree, key});
  if (it == views_.end()) {
    if (views_.size() >= views_max) forget_oldest_view();
    it = views_.try_emplace({&tree, std::move(key)}).first;
    it->second.view = std::make_unique<CapacityView>(tree, columns_, pods, leader, slices, empty,
                                                     filter(tree, *pods));
  }
  it->second.used = ++uses_;
  it->second.view->sync();
  last_view_ = &it->second;
  return *it->second.view;
}

std::unique_ptr<CapacityView> Topologies::confined_view(TopologyTree& tree,
                                                        const PodProfilePtr& pods,
                                                        const SliceShape& slices, std::size_t level,
                                                        DomainIndex domain) {
  auto view = std::make_unique<CapacityView>(tree, columns_, pods, nullptr, slices, false,
                                             filter(tree, *pods));
  view->confine(level, domain);
  view->sync();
  return view;
}

const PlacementResult& Topologies::place_cached(CapacityView& view,
                                                const PlacementRequest& request) {
  CachedView& cached = *last_view_;
  REGATTA_CHECK(cached.view.get() == &view, "the view is not the one that view() returned last");
  if (cached.version != view.version()) {
    cached.placements.clear();
    cached.version = view.version();
  }
  for (const auto& [known, result] : cached.placements) {
    if (known == request) return result;
  }
  if (cached.placements.size() >= placements_max) cached.placements.clear();
  return cached.placements.emplace_back(request, admission::place(view, request)).second;
}

}  // namespace regatta::admission
