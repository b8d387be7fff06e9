#include "admission/quota.h"

#include <algorithm>
#include <utility>

namespace regatta::admission {
namespace {

Cell& cell_for(std::vector<Cell>* cells, FrId fr) {
  auto it = std::lower_bound(cells->begin(), cells->end(), fr,
                             [](const Cell& cell, FrId id) { return cell.fr < id; });
  if (it == cells->end() || it->fr != fr) {
    it = cells->insert(it, Cell{});
    it->fr = fr;
  }
  return *it;
}

bool uses_nothing(const QuotaNode& node) {
  return std::all_of(node.cells.begin(), node.cells.end(),
                     [](const Cell& cell) { return cell.usage == 0; });
}

}  // namespace

NodeId QuotaForest::add_node(std::string name, bool is_queue) {
  REGATTA_CHECK(!trials_.open(), "the quota tree changes within a trial");
  NodeId id = 0;
  if (free_.empty()) {
    id = static_cast<NodeId>(nodes_.size());
    nodes_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
    nodes_[id] = QuotaNode{};
  }
  QuotaNode& node = nodes_[id];
  node.name = std::move(name);
  node.is_queue = is_queue;
  node.alive = true;
  node.root = id;
  mark(id);
  return id;
}

void QuotaForest::remove_node(NodeId id) {
  const QuotaNode& node = nodes_[id];
  REGATTA_CHECK(node.alive, "a node that does not exist is removed");
  REGATTA_CHECK(node.child_cohorts.empty() && node.child_queues.empty(),
                node.name + " is removed and has members");
  REGATTA_CHECK(!exact_ || !node.is_queue || uses_nothing(node),
                node.name + " is removed and has usage");
  set_parent(id, no_node);
  std::erase(dirty_, id);
  nodes_[id] = QuotaNode{};
  free_.push_back(id);
}

void QuotaForest::set_quotas(NodeId id, std::vector<Quota> quotas) {
  REGATTA_CHECK(!trials_.open(), "the quota tree changes within a trial");
  nodes_[id].quotas = std::move(quotas);
  mark(id);
}

void QuotaForest::set_parent(NodeId id, NodeId parent) {
  REGATTA_CHECK(!trials_.open(), "the quota tree changes within a trial");
  QuotaNode& node = nodes_[id];
  if (node.parent == parent) return;
  const auto siblings = [&](NodeId of) -> std::vector<NodeId>& {
    return node.is_queue ? nodes_[of].child_queues : nodes_[of].child_cohorts;
  };
  if (node.parent != no_node) {
    std::erase(siblings(node.parent), id);
    mark(node.parent);
  }
  node.parent = parent;
  if (parent != no_node) {
    auto& list = siblings(parent);
    if (!list.empty() && node.name < nodes_[list.back()].name) nodes_[parent].in_order = false;
    list.push_back(id);
  }
  mark(id);
}

/// no_node when the way leads into a circle, or past more Cohorts than may stand in a row.
NodeId QuotaForest::find_root(NodeId id) const {
  std::size_t cohorts = nodes_[id].is_queue ? 0 : 1;
  while (nodes_[id].parent != no_node) {
    id = nodes_[id].parent;
    if (++cohorts > cohorts_in_a_row_max) return no_node;
  }
  return id;
}

/// Whether too many Cohorts stand one below another in the tree of a root.
bool QuotaForest::too_deep(NodeId root) const {
  std::vector<std::pair<NodeId, std::size_t>> open{{root, 1}};
  while (!open.empty()) {
    const auto [id, cohorts] = open.back();
    open.pop_back();
    if (cohorts > cohorts_in_a_row_max) return true;
    for (const NodeId child : nodes_[id].child_cohorts) open.emplace_back(child, cohorts + 1);
  }
  return false;
}

bool QuotaForest::leads_into_circle(NodeId id) const {
  std::size_t steps = 0;
  for (NodeId up = nodes_[id].parent; up != no_node; up = nodes_[up].parent) {
    if (++steps > nodes_.size()) return true;
  }
  return false;
}

std::vector<NodeId> QuotaForest::rebuild_dirty() {
  std::vector<std::pair<NodeId, NodeId>> found;  // roots, and the dirty nodes below them
  std::vector<NodeId> roots, cyclic;
  for (const NodeId id : std::exchange(dirty_, {})) found.emplace_back(find_root(id), id);
  std::sort(found.begin(), found.end());
  bool usable = false;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [root, id] = found[i];
    const bool another = i == 0 || root != found[i - 1].first;
    if (another) usable = root != no_node && !too_deep(root);
    // Nodes that were cyclic before are passed over later: all that changed are named.
    if (!usable) {
      cyclic.push_back(id);
    } else if (another) {
      roots.push_back(root);
    }
  }
  for (const NodeId root : roots) rebuild(root, root);
  if (trials_.open()) rebuilt_.insert(rebuilt_.end(), roots.begin(), roots.end());
  mark_cyclic(std::move(cyclic));
  return roots;
}

/// Marks these nodes, the chains of their parents and everything below, which is their whole trees.
void QuotaForest::mark_cyclic(std::vector<NodeId> open) {
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    QuotaNode& node = nodes_[id];
    if (std::exchange(node.cyclic, true)) continue;
    node.root = id;
    node.over.clear();
    for (Cell& cell : node.cells) cell.parent = no_cell;
    if (node.parent != no_node) open.push_back(node.parent);
    open.insert(open.end(), node.child_cohorts.begin(), node.child_cohorts.end());
    open.insert(open.end(), node.child_queues.begin(), node.child_queues.end());
  }
}

/// Once for all children that came since the last time: to put each one into its place would cost
/// the square of their number.
void QuotaForest::order_children(NodeId id) {
  QuotaNode& node = nodes_[id];
  if (std::exchange(node.in_order, true)) return;
  const auto by_name = [&](NodeId a, NodeId b) { return nodes_[a].name < nodes_[b].name; };
  std::sort(node.child_cohorts.begin(), node.child_cohorts.end(), by_name);
  std::sort(node.child_queues.begin(), node.child_queues.end(), by_name);
}

/// Calls itself for the children: no tree is deeper than cohorts_in_a_row_max.
void QuotaForest::rebuild(NodeId id, NodeId root) {
  QuotaNode& node = nodes_[id];
  node.root = root;
  node.cyclic = false;
  node.height = 0;
  ++node.generation;
  order_children(id);
  for (const NodeId child : node.child_cohorts) {
    rebuild(child, root);
    node.height = std::max(node.height, nodes_[child].height + 1);
  }
  for (const NodeId child : node.child_queues) rebuild(child, root);
  if (!node.child_cohorts.empty() || !node.child_queues.empty()) {
    node.height = std::max(node.height, 1);
  }
  std::vector<Cell> old = std::exchange(node.cells, {});
  if (node.is_queue) {
    for (const Cell& cell : old) {
      if (cell.usage != 0) cell_for(&node.cells, cell.fr).usage = cell.usage;
    }
  }
  for (const Quota& quota : node.quotas) {
    Cell& cell = cell_for(&node.cells, quota.fr);
    cell.declared = true;
    cell.nominal = cell.subtree = quota.nominal;
    cell.borrowing_limit = quota.borrowing_limit;
    cell.lending_limit = quota.lending_limit;
  }
  link_children(id);
}

void QuotaForest::link_children(NodeId id) {
  QuotaNode& node = nodes_[id];
  const auto each_child = [&](auto&& visit) {
    for (const NodeId child : node.child_cohorts) visit(nodes_[child]);
    for (const NodeId child : node.child_queues) visit(nodes_[child]);
  };
  each_child([&](QuotaNode& child) {
    for (const Cell& below : child.cells) {
      Cell& cell = cell_for(&node.cells, below.fr);
      cell.declared = cell.declared || below.declared;
      cell.subtree = plus(cell.subtree, minus(below.subtree, below.local_quota()));
      cell.usage = plus(cell.usage, std::max<Amount>(0, minus(below.usage, below.local_quota())));
    }
  });
  each_child([&](QuotaNode& child) {
    for (Cell& below : child.cells) below.parent = find(id, below.fr);
  });
  node.cells_over = static_cast<std::uint32_t>(
      std::count_if(node.cells.begin(), node.cells.end(),
                    [](const Cell& cell) { return cell.usage > cell.subtree; }));
  node.over.clear();
  for (const auto* children : {&node.child_cohorts, &node.child_queues}) {
    for (const NodeId child : *children) {
      if (nodes_[child].cells_over > 0) list_over(child);
    }
  }
}

std::vector<NodeId> QuotaForest::queues_of_tree(NodeId id) const {
  std::vector<NodeId> queues;
  if (nodes_[id].cyclic) return queues;
  std::vector<NodeId> open{nodes_[id].root};
  while (!open.empty()) {
    const QuotaNode& node = nodes_[open.back()];
    if (node.is_queue) queues.push_back(open.back());
    open.pop_back();
    open.insert(open.end(), node.child_cohorts.rbegin(), node.child_cohorts.rend());
    open.insert(open.end(), node.child_queues.rbegin(), node.child_queues.rend());
  }
  return queues;
}

std::string QuotaForest::path(NodeId id) const {
  std::string text = "/" + nodes_[id].name;
  std::size_t steps = 0;
  while (nodes_[id].parent != no_node && ++steps <= cohorts_in_a_row_max) {
    id = nodes_[id].parent;
    text = "/" + nodes_[id].name + text;
  }
  return text;
}

bool QuotaForest::is_ancestor(NodeId ancestor, NodeId id) const {
  while (id != no_node && id != ancestor) id = nodes_[id].parent;
  return id == ancestor;
}

void QuotaForest::add_usage(NodeId queue, std::span<const FrAmount> usage) {
  REGATTA_DEBUG_CHECK(settled(), "usage changes in a tree that is not settled");
  for (const FrAmount& entry : usage) apply(queue, entry.fr, entry.amount);
  settle();
  if (trials_.open()) return;
  note_exactness(usage);
  for ([[maybe_unused]] const FrAmount& entry : usage) {
    REGATTA_DEBUG_CHECK((check_sums(queue, entry.fr), true), "");
  }
}

void QuotaForest::add_usages(std::span<const QueueUsage> usages) {
  REGATTA_CHECK(!trials_.open(), "usage of many ClusterQueues is added within a trial");
  REGATTA_DEBUG_CHECK(settled(), "usage changes in a tree that is not settled");
  for (const QueueUsage& one : usages) {
    for (const FrAmount& entry : one.usage) apply(one.queue, entry.fr, entry.amount);
    note_exactness(one.usage);
  }
  settle();
}

void QuotaForest::note_exactness(std::span<const FrAmount> added) {
  const auto negative = [](const FrAmount& entry) { return entry.amount < 0; };
  if (std::any_of(added.begin(), added.end(), negative)) exact_ = false;
}

void QuotaForest::remove_usage(NodeId queue, std::span<const FrAmount> usage) {
  REGATTA_DEBUG_CHECK(settled(), "usage changes in a tree that is not settled");
  for (const FrAmount& entry : usage) apply(queue, entry.fr, -entry.amount);
  settle();
  if (trials_.open()) return;
  for (const FrAmount& entry : usage) {
    REGATTA_CHECK(!exact_ || this->usage(queue, entry.fr) >= 0,
                  nodes_[queue].name + " gives back more than it uses");
    REGATTA_DEBUG_CHECK((check_sums(queue, entry.fr), true), "");
  }
}

/// Checks that a Cohort's usage is what its children use beyond what they keep to themselves.
void QuotaForest::check_sums(NodeId queue, FrId fr) const {
  if (!exact_) return;
  for (const NodeId id : ancestors(queue)) {
    const QuotaNode& node = nodes_[id];
    Amount sum = 0;
    for (const auto* children : {&node.child_cohorts, &node.child_queues}) {
      for (const NodeId child : *children) {
        const std::uint32_t index = find(child, fr);
        if (index == no_cell) continue;
        const Cell& below = cell(child, index);
        sum = plus(sum, std::max<Amount>(0, minus(below.usage, below.local_quota())));
      }
    }
    REGATTA_CHECK(sum == usage(id, fr), node.name + " does not use what its children do");
  }
}

void QuotaForest::apply(NodeId queue, FrId fr, Amount delta) {
  if (delta == 0) return;
  const std::uint32_t index = find(queue, fr);
  if (index == no_cell) {
    // The ClusterQueue has no quota for what the workload holds. The new cell has no parent until
    // the tree is rebuilt.
    set_usage(queue, &cell_for(&nodes_[queue].cells, fr), delta);
    mark(queue);
    return;
  }
  if (delta > 0) {
    add(queue, index, delta);
  } else {
    remove(queue, index, -delta);
  }
}

void QuotaForest::lower_own_usage(NodeId queue, FrId fr, Amount by) {
  REGATTA_CHECK(trials_.open(), "usage is lowered outside a trial");
  const std::uint32_t index = find(queue, fr);
  if (index == no_cell) return;
  Cell& cell = nodes_[queue].cells[index];
  set_usage(queue, &cell, cell.usage - by);
}

/// To be called when a cell's usage rose above its subtree's quota, or fell back.
void QuotaForest::crossed(NodeId id, bool is_over) {
  QuotaNode& node = nodes_[id];
  if (is_over) {
    if (node.cells_over++ == 0) list_over(id);
  } else if (--node.cells_over == 0) {
    unlist_over(id);
  }
}

void QuotaForest::list_over(NodeId id) {
  QuotaNode& node = nodes_[id];
  if (node.parent == no_node || node.cyclic) return;
  auto& list = nodes_[node.parent].over;
  node.over_position = static_cast<std::uint32_t>(list.size());
  list.push_back(id);
}

void QuotaForest::unlist_over(NodeId id) {
  const QuotaNode& node = nodes_[id];
  if (node.parent == no_node || node.cyclic) return;
  auto& list = nodes_[node.parent].over;
  REGATTA_CHECK(node.over_position < list.size() && list[node.over_position] == id,
                node.name + " is not listed as using too much");
  const NodeId last = list.back();
  list[node.over_position] = last;
  nodes_[last].over_position = node.over_position;
  list.pop_back();
}

void QuotaForest::add(NodeId id, std::uint32_t index, Amount value) {
  while (value > 0) {
    QuotaNode& node = nodes_[id];
    Cell& cell = node.cells[index];
    const Amount kept = cell.local_available();
    set_usage(id, &cell, plus(cell.usage, value));
    if (cell.usage == unlimited) [[unlikely]]
      exact_ = false;
    if (node.parent == no_node || cell.parent == no_cell) return;
    value = minus(value, kept);
    index = cell.parent;
    id = node.parent;
  }
}

void QuotaForest::remove(NodeId id, std::uint32_t index, Amount value) {
  while (value > 0) {
    QuotaNode& node = nodes_[id];
    Cell& cell = node.cells[index];
    const Amount shared = minus(cell.usage, cell.local_quota());
    set_usage(id, &cell, minus(cell.usage, value));
    if (node.parent == no_node || cell.parent == no_cell) return;
    value = std::min(value, shared);
    index = cell.parent;
    id = node.parent;
  }
}

std::size_t QuotaForest::begin_trial() {
  return trials_.begin(trial_.size());
}

void QuotaForest::roll_back(std::size_t mark) {
  trials_.end(mark, trial_.size());
  for (; trial_.size() > mark; trial_.pop_back()) {
    const Change& change = trial_.back();
    auto& cells = nodes_[change.node].cells;
    if (change.index < cells.size() && cells[change.index].fr == change.fr) {
      write_usage(change.node, &cells[change.index], change.before);
    } else if (const auto index = find(change.node, change.fr); index != no_cell) {
      write_usage(change.node, &cells[index], change.before);
    } else if (change.before != 0) {
      write_usage(change.node, &cell_for(&cells, change.fr), change.before);
      this->mark(change.node);
    }
  }
  // A tree that was rebuilt during the trial has sums with usage that is rolled back now.
  if (!rebuilt_.empty()) {
    dirty_.insert(dirty_.end(), rebuilt_.begin(), rebuilt_.end());
    rebuilt_.clear();
  }
  settle();
}

std::uint32_t QuotaForest::find(NodeId id, FrId fr) const {
  const auto& cells = nodes_[id].cells;
  const auto it = std::lower_bound(cells.begin(), cells.end(), fr,
                                   [](const Cell& cell, FrId wanted) { return cell.fr < wanted; });
  if (it == cells.end() || it->fr != fr) return no_cell;
  return static_cast<std::uint32_t>(it - cells.begin());
}

Amount QuotaForest::available_at(NodeId id, std::uint32_t index) const {
  const QuotaNode& node = nodes_[id];
  const Cell& cell = node.cells[index];
  if (node.parent == no_node || cell.parent == no_cell) return minus(cell.subtree, cell.usage);
  Amount from_parent = available_at(node.parent, cell.parent);
  if (cell.borrowing_limit) {
    const Amount local = cell.local_quota();
    const Amount lent = minus(cell.subtree, local);
    const Amount shared = std::max<Amount>(0, minus(cell.usage, local));
    from_parent = std::min(from_parent, plus(minus(lent, shared), *cell.borrowing_limit));
  }
  return plus(cell.local_available(), from_parent);
}

Amount QuotaForest::available(NodeId queue, FrId fr) const {
  const std::uint32_t index = find(queue, fr);
  return index == no_cell ? 0 : std::max<Amount>(0, available_at(queue, index));
}

std::vector<NodeId> QuotaForest::ancestors(NodeId id) const {
  std::vector<NodeId> above;
  if (nodes_[id].cyclic) return above;
  for (NodeId up = nodes_[id].parent; up != no_node; up = nodes_[up].parent) above.push_back(up);
  return above;
}

QuotaForest::Headroom QuotaForest::headroom(NodeId queue, FrId fr) const {
  const std::uint32_t index = find(queue, fr);
  if (index == no_cell) return {};
  const QuotaNode& node = nodes_[queue];
  const Cell& cell = node.cells[index];
  Headroom out{available_at(queue, index), 0};
  out.with_any_borrowing = out.now;
  if (node.parent == no_node || cell.parent == no_cell) return out;
  out.with_any_borrowing = plus(cell.local_available(), available_at(node.parent, cell.parent));
  return out;
}

Amount QuotaForest::potential_at(NodeId id, std::uint32_t index) const {
  const QuotaNode& node = nodes_[id];
  const Cell& cell = node.cells[index];
  if (node.parent == no_node || cell.parent == no_cell) return cell.subtree;
  const Amount whole = plus(cell.local_quota(), potential_at(node.parent, cell.parent));
  if (!cell.borrowing_limit) return whole;
  return std::min(whole, plus(cell.subtree, *cell.borrowing_limit));
}

Amount QuotaForest::potential_available(NodeId id, FrId fr) const {
  const std::uint32_t index = find(id, fr);
  return index == no_cell ? 0 : potential_at(id, index);
}

bool QuotaForest::borrowing_with(NodeId id, FrId fr, Amount more) const {
  const std::uint32_t index = find(id, fr);
  if (index == no_cell) return more > 0;
  const Cell& cell = nodes_[id].cells[index];
  return plus(cell.usage, more) > (nodes_[id].is_queue ? cell.nominal : cell.subtree);
}

Amount QuotaForest::usage(NodeId id, FrId fr) const {
  const std::uint32_t index = find(id, fr);
  return index == no_cell ? 0 : nodes_[id].cells[index].usage;
}

Amount QuotaForest::nominal(NodeId id, FrId fr) const {
  const std::uint32_t index = find(id, fr);
  return index == no_cell ? 0 : nodes_[id].cells[index].nominal;
}

bool QuotaForest::within_nominal(NodeId id, std::span<const FrId> frs) const {
  return std::all_of(frs.begin(), frs.end(), [&](FrId fr) {
    const std::uint32_t index = find(id, fr);
    return index == no_cell || nodes_[id].cells[index].subtree >= nodes_[id].cells[index].usage;
  });
}

bool QuotaForest::fits_in_quota(NodeId id, std::span<const FrAmount> requests,
                                std::vector<FrAmount>* rest) const {
  static constexpr Cell none;
  bool fits = true;
  std::vector<FrAmount> left;
  left.reserve(requests.size());
  for (const FrAmount& request : requests) {
    const std::uint32_t index = find(id, request.fr);
    const Cell& cell = index == no_cell ? none : nodes_[id].cells[index];
    if (cell.subtree < plus(cell.usage, request.amount)) fits = false;
    left.push_back(
        {request.fr, std::max<Amount>(0, minus(request.amount, cell.local_available()))});
  }
  *rest = std::move(left);  // `requests` may look into *rest
  return fits;
}

QuotaForest::Height QuotaForest::lowest_fitting_subtree(NodeId queue, FrId fr, Amount value) const {
  const bool has_parent = nodes_[queue].parent != no_node;
  if (!has_parent || !borrowing_with(queue, fr, value)) return {0, has_parent};
  std::uint32_t index = find(queue, fr);
  NodeId id = queue;
  Amount remaining = value;
  while (index != no_cell) {
    const Cell& below = nodes_[id].cells[index];
    remaining = minus(remaining, below.local_available());
    if (nodes_[id].parent == no_node) break;
    id = nodes_[id].parent;
    index = below.parent;
    if (index == no_cell) break;
    const Cell& cell = nodes_[id].cells[index];
    if (cell.subtree >= plus(cell.usage, remaining)) {
      return {nodes_[id].height, nodes_[id].parent != no_node};
    }
  }
  return {nodes_[nodes_[queue].root].height, false};
}

}  // namespace regatta::admission
