#include "admission/topology/capacity.h"

#include <algorithm>
#include <limits>
#include <set>

namespace regatta::admission {
namespace {

constexpr std::int64_t count_max = std::numeric_limits<std::int32_t>::max();

const api::Taint* untolerated(const std::vector<api::Taint>& taints, const PodProfile& pods,
                              const std::vector<api::Toleration>& more) {
  for (const api::Taint& taint : taints) {
    if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") continue;
    const auto tolerated = [&](const api::Toleration& toleration) {
      return api::tolerates(toleration, taint);
    };
    if (std::any_of(pods.tolerations.begin(), pods.tolerations.end(), tolerated)) continue;
    if (std::any_of(more.begin(), more.end(), tolerated)) continue;
    return &taint;
  }
  return nullptr;
}

bool selected(const api::StringMap& labels, const api::StringMap& selector) {
  return std::all_of(selector.begin(), selector.end(), [&](const auto& wanted) {
    const auto it = labels.find(wanted.first);
    return it != labels.end() && it->second == wanted.second;
  });
}

bool affinity_matches(const TopologyNode& node, const PodProfile& pods) {
  if (!pods.node_affinity) return true;
  return std::any_of(pods.node_affinity->begin(), pods.node_affinity->end(),
                     [&](const auto& term) { return api::matches(term, node.labels, node.name); });
}

std::string text_of(const api::Taint& taint) {
  return taint.key + (taint.value.empty() ? "" : "=" + taint.value) + ":" + taint.effect;
}

}  // namespace

NodeFilter filter_nodes(const TopologyTree& tree, const PodProfile& pods) {
  NodeFilter filter;
  filter.allowed.assign(tree.leaves(), 1);
  if (!tree.by_hostname) return filter;
  for (std::size_t leaf = 0; leaf < tree.leaves(); ++leaf) {
    const TopologyNode& node = *tree.nodes[leaf];
    if (const auto* taint = untolerated(node.taints, pods, tree.tolerations); taint != nullptr) {
      ++filter.taints[text_of(*taint)];
    } else if (!selected(node.labels, pods.node_selector)) {
      ++filter.node_selector;
    } else if (!affinity_matches(node, pods)) {
      ++filter.affinity;
    } else {
      continue;
    }
    filter.allowed[leaf] = 0;
  }
  return filter;
}

std::size_t ColumnMap::at(ResourceId resource) {
  if (resource >= columns_.size()) columns_.resize(resource + 1, 0);
  if (columns_[resource] == 0) columns_[resource] = static_cast<std::uint32_t>(++count_);
  return columns_[resource] - 1;
}

CapacityView::CapacityView(const TopologyTree& tree, const ColumnMap& columns, PodProfilePtr pods,
                           PodProfilePtr leader, SliceShape slices, bool empty,
                           std::shared_ptr<const NodeFilter> filter)
    : tree_(tree),
      columns_(columns),
      pods_(std::move(pods)),
      leader_(std::move(leader)),
      slices_(std::move(slices)),
      empty_(empty),
      filter_(std::move(filter)),
      seen_(tree.leaves(), 0) {}

void CapacityView::confine(std::size_t level, DomainIndex domain) {
  outside_.assign(tree_.leaves(), 0);
  for (DomainIndex leaf = 0; leaf < tree_.leaves(); ++leaf) {
    outside_[leaf] = tree_.ancestor(leaf, level) == domain ? 0 : 1;
  }
  built_ = false;
}

std::vector<CapacityView::Request> CapacityView::requests_of(const PodProfile& profile) const {
  std::vector<Request> out;
  for (const ResourceAmount& request : profile.requests) {
    if (request.amount <= 0) continue;  // fits any number of times
    out.push_back({columns_.find(request.resource), request.amount, request.resource});
  }
  return out;
}

/// How many pods fit on the leaf after the requests `minus` of a leader are taken.
std::int64_t CapacityView::fitting(DomainIndex leaf, const std::vector<Request>* minus) const {
  std::int64_t least = count_max;
  for (const Request& request : requests_) {
    if (!request.column) return 0;
    Amount free = ledger().free[*request.column][leaf];
    for (std::size_t i = 0; minus != nullptr && i < minus->size(); ++i) {
      if ((*minus)[i].resource == request.resource) free -= (*minus)[i].amount;
    }
    if (free < request.amount) return 0;
    least = std::min(least, free / request.amount);
  }
  return least;
}

CapacityView::LeafCounts CapacityView::count(DomainIndex leaf) const {
  LeafCounts out;
  if (filter_->allowed[leaf] == 0 || (!outside_.empty() && outside_[leaf] != 0)) return out;
  out.pods = fitting(leaf, nullptr);
  out.pods_with_leader = out.pods;
  if (leader_ == nullptr) return out;
  const auto room = [&](const Request& request) {
    return request.column && ledger().free[*request.column][leaf] >= request.amount;
  };
  if (std::all_of(leader_requests_.begin(), leader_requests_.end(), room)) {
    out.leader = 1;
    out.pods_with_leader = fitting(leaf, &leader_requests_);
  }
  return out;
}

std::int64_t CapacityView::rounded(std::size_t level, std::int64_t pods) const {
  const std::int32_t inner = slices_.inner_at(level);
  return inner > 0 ? pods / inner * inner : pods;
}

void CapacityView::rebuild() {
  requests_ = requests_of(*pods_);
  if (leader_ != nullptr) leader_requests_ = requests_of(*leader_);
  column_count_ = columns_.size();
  levels_.resize(tree_.levels.size());
  for (std::size_t at = 0; at < levels_.size(); ++at) {
    const std::size_t size = tree_.levels[at].size();
    levels_[at].pods.assign(size, 0);
    levels_[at].slices.assign(size, 0);
    if (leader_ == nullptr) continue;
    levels_[at].pods_with_leader.assign(size, 0);
    levels_[at].slices_with_leader.assign(size, 0);
    levels_[at].leaders.assign(size, 0);
  }
  Counts& lowest = levels_.back();
  const bool sliced = slices_.level == tree_.lowest();
  for (DomainIndex leaf = 0; leaf < tree_.leaves(); ++leaf) {
    const LeafCounts counts = count(leaf);
    lowest.pods[leaf] = counts.pods;
    if (sliced) lowest.slices[leaf] = counts.pods / slices_.size;
    if (leader_ == nullptr) continue;
    lowest.pods_with_leader[leaf] = counts.pods_with_leader;
    lowest.leaders[leaf] = counts.leader;
    if (sliced) lowest.slices_with_leader[leaf] = counts.pods_with_leader / slices_.size;
  }
  for (std::size_t at = tree_.lowest(); at-- > 0;) {
    for (DomainIndex domain = 0; domain < tree_.levels[at].size(); ++domain) {
      sum_children(at, domain);
    }
  }
  ++version_;
  built_ = true;
}

/// A domain holds what its children hold. A leader costs as much as in the child where it costs
/// least.
void CapacityView::sum_children(std::size_t level, DomainIndex domain) {
  const Counts& below = levels_[level + 1];
  const auto& first = tree_.levels[level].first_child;
  std::int64_t pods = 0;
  std::int64_t slices = 0;
  std::int64_t pods_lost = count_max;
  std::int64_t slices_lost = count_max;
  bool leader = false;
  for (DomainIndex child = first[domain]; child < first[domain + 1]; ++child) {
    const std::int64_t mine = rounded(level + 1, below.pods[child]);
    pods += mine;
    slices += below.slices[child];
    if (leader_ == nullptr || below.leaders[child] == 0) continue;
    leader = true;
    pods_lost = std::min(pods_lost, mine - rounded(level + 1, below.pods_with_leader[child]));
    slices_lost = std::min(slices_lost, below.slices[child] - below.slices_with_leader[child]);
  }
  Counts& counts = levels_[level];
  counts.pods[domain] = pods;
  counts.slices[domain] = level == slices_.level ? pods / slices_.size : slices;
  if (leader_ == nullptr) return;
  counts.leaders[domain] = leader ? 1 : 0;
  counts.pods_with_leader[domain] = leader ? pods - pods_lost : 0;
  const std::int64_t with_leader = leader ? slices - slices_lost : 0;
  counts.slices_with_leader[domain] =
      level == slices_.level ? counts.pods_with_leader[domain] / slices_.size : with_leader;
}

void CapacityView::set_leaf(DomainIndex leaf, const LeafCounts& counts) {
  Counts& lowest = levels_.back();
  const bool sliced = slices_.level == tree_.lowest();
  const std::int64_t slices = sliced ? counts.pods / slices_.size : 0;
  if (leader_ != nullptr) {
    if (lowest.pods[leaf] == counts.pods && lowest.leaders[leaf] == counts.leader &&
        lowest.pods_with_leader[leaf] == counts.pods_with_leader) {
      return;
    }
    lowest.pods[leaf] = counts.pods;
    lowest.slices[leaf] = slices;
    lowest.leaders[leaf] = counts.leader;
    lowest.pods_with_leader[leaf] = counts.pods_with_leader;
    if (sliced) lowest.slices_with_leader[leaf] = counts.pods_with_leader / slices_.size;
    ++version_;
    for (std::size_t at = tree_.lowest(); at-- > 0;) sum_children(at, tree_.ancestor(leaf, at));
    return;
  }
  if (lowest.pods[leaf] == counts.pods) return;
  ++version_;
  const std::int64_t more_pods =
      rounded(tree_.lowest(), counts.pods) - rounded(tree_.lowest(), lowest.pods[leaf]);
  const std::int64_t more_slices = slices - lowest.slices[leaf];
  lowest.pods[leaf] = counts.pods;
  lowest.slices[leaf] = slices;
  if (tree_.lowest() > 0) {
    raise(tree_.lowest() - 1, tree_.levels.back().parents[leaf], more_pods, more_slices);
  }
}

/// To be called when a child of the domain holds this much more.
void CapacityView::raise(std::size_t level, DomainIndex domain, std::int64_t pods,
                         std::int64_t slices) {
  while (pods != 0 || slices != 0) {
    Counts& counts = levels_[level];
    const std::int64_t old_pods = counts.pods[domain];
    const std::int64_t old_slices = counts.slices[domain];
    counts.pods[domain] += pods;
    if (level == slices_.level) {
      counts.slices[domain] = counts.pods[domain] / slices_.size;
    } else {
      counts.slices[domain] += slices;
    }
    if (level == 0) return;
    pods = rounded(level, counts.pods[domain]) - rounded(level, old_pods);
    slices = counts.slices[domain] - old_slices;
    domain = tree_.levels[level].parents[domain];
    --level;
  }
}

void CapacityView::sync() {
  const LeafLedger& from = ledger();
  if (!built_ || column_count_ != columns_.size() || synced_ < from.first) {
    rebuild();
  } else if (synced_ != from.end()) {
    ++syncs_;
    for (std::uint64_t at = synced_; at != from.end(); ++at) {
      const DomainIndex leaf = from.changed[at - from.first];
      if (std::exchange(seen_[leaf], syncs_) != syncs_) set_leaf(leaf, count(leaf));
    }
  }
  synced_ = from.end();
}

std::string CapacityView::exclusions(const Names& names) const {
  std::map<std::string, int> by_resource;
  int elsewhere = 0;
  for (DomainIndex leaf = 0; leaf < tree_.leaves(); ++leaf) {
    if (filter_->allowed[leaf] == 0) continue;
    if (!outside_.empty() && outside_[leaf] != 0) {
      ++elsewhere;
      continue;
    }
    if (levels_.back().pods[leaf] > 0) continue;
    // Requests are sorted by name. The first one that does not fit is reported.
    for (const Request& request : requests_) {
      const Amount free = request.column ? ledger().free[*request.column][leaf] : 0;
      if (free >= request.amount) continue;
      ++by_resource[names.resources.name(request.resource)];
      break;
    }
  }
  std::set<std::string> reasons;
  const auto add = [&](const std::string& what, int nodes) {
    if (nodes > 0) reasons.insert(what + ": " + std::to_string(nodes));
  };
  add("nodeSelector", filter_->node_selector);
  add("affinity", filter_->affinity);
  add("topologyDomain", elsewhere);
  for (const auto& [taint, nodes] : filter_->taints) add("taint \"" + taint + "\"", nodes);
  for (const auto& [resource, nodes] : by_resource) add("resource \"" + resource + "\"", nodes);
  std::string text;
  for (const std::string& reason : reasons) text += (text.empty() ? "" : ", ") + reason;
  if (text.empty()) return text;
  return ". Total nodes: " + std::to_string(tree_.leaves()) + "; excluded: " + text;
}

}  // namespace regatta::admission
