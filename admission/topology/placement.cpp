#include "admission/topology/placement.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace regatta::admission {
namespace {

constexpr std::int64_t buckets_max = 1 << 16;

/// A domain and what it can take, in units of slices or pods.
struct Item {
  DomainIndex domain = 0;
  std::int64_t units = 0;
  std::int64_t units_with_leader = 0;
  bool leader = false;
  // Order of items
  std::int64_t rank = 0;  ///< ascending; the rest breaks ties
  std::int64_t size = 0;  ///< ascending
  std::int64_t pods = 0;  ///< ascending

  friend bool before(const Item& a, const Item& b) {
    return std::tie(a.rank, a.size, a.pods, a.domain) < std::tie(b.rank, b.size, b.pods, b.domain);
  }
};

struct Pick {
  DomainIndex domain = 0;
  std::int64_t units = 0;
  bool leader = false;
};

/// Hands out items in order without sorting more than it hands out.
class Items {
 public:
  explicit Items(std::vector<Item> items) : items_(std::move(items)) {
    std::make_heap(items_.begin(), items_.end(), after);
  }
  bool empty() const { return items_.empty(); }
  const Item& front() const { return items_.front(); }
  Item pop() {
    std::pop_heap(items_.begin(), items_.end(), after);
    const Item item = items_.back();
    items_.pop_back();
    return item;
  }
  /// The item with the least room that holds `need`, and a leader if asked for; the first of
  /// equals.
  const Item& tightest(std::int64_t need, bool leader) const {
    const Item* best = nullptr;
    for (const Item& item : items_) {
      if (leader && !item.leader) continue;
      const std::int64_t room = leader ? item.units_with_leader : item.units;
      if (room < need) continue;
      const std::int64_t least =
          best == nullptr ? room : (leader ? best->units_with_leader : best->units);
      if (best == nullptr || room < least || (room == least && before(item, *best))) best = &item;
    }
    return best == nullptr ? items_.front() : *best;
  }
  /// Moves to the front the first item where a leader leaves enough room for all units.
  void leader_first(std::int64_t need) {
    std::int64_t total = 0;
    for (const Item& item : items_) total += item.units;
    Item* best = nullptr;
    for (Item& item : items_) {
      if (!item.leader || total - (item.units - item.units_with_leader) < need) continue;
      if (best == nullptr || before(item, *best)) best = &item;
    }
    if (best == nullptr) return;
    best->rank = std::numeric_limits<std::int64_t>::min();
    std::make_heap(items_.begin(), items_.end(), after);
  }
  std::vector<Item> take_all() { return std::move(items_); }

 private:
  static bool after(const Item& a, const Item& b) { return before(b, a); }
  std::vector<Item> items_;
};

class Search {
 public:
  Search(const CapacityView& view, const PlacementRequest& request)
      : view_(view),
        tree_(view.tree()),
        request_(request),
        size_(view.slices().size),
        least_first_(request.unconstrained && request.least_free_first),
        need_((request.count + size_ - 1) / size_) {}

  PlacementResult run() {
    std::vector<Pick> picks;
    if (!choose(request_.level, &picks)) return std::move(result_);
    std::size_t level = result_.level;
    // The chosen domains hold enough. Now each gets its part of what is needed.
    std::vector<Item> chosen;
    for (const Pick& pick : picks) {
      Item& item = chosen.emplace_back(item_of(level, pick.domain));
      item.rank = static_cast<std::int64_t>(chosen.size());
    }
    if (!distribute(std::move(chosen), need_, request_.leader, &picks)) return failed(level, 0);
    for (; level < std::min(tree_.lowest(), view_.slices().level); ++level) {
      std::vector<Item> pool;
      for (const Pick& pick : picks) add_children(level, pick.domain, &pool);
      picks.clear();
      if (!distribute(std::move(pool), need_, request_.leader, &picks)) return failed(level, 0);
    }
    for (Pick& pick : picks) pick.units *= size_;
    for (; level < tree_.lowest(); ++level) {
      if (!descend(level, &picks)) return failed(level, 0);
    }
    finish(picks);
    return std::move(result_);
  }

 private:
  PlacementResult failed(std::size_t level, std::int64_t slices) {
    result_.fits = false;
    result_.level = level;
    result_.slices = slices;
    return std::move(result_);
  }

  Item item_of(std::size_t level, DomainIndex domain) const {
    const CapacityView::Counts& counts = view_.level(level);
    Item item;
    item.domain = domain;
    item.units = item.units_with_leader = counts.slices[domain];
    item.size = least_first_ ? counts.slices[domain] : -counts.slices[domain];
    item.pods = counts.pods[domain];
    if (view_.with_leader()) {
      item.units_with_leader = counts.slices_with_leader[domain];
      item.leader = counts.leaders[domain] != 0;
    }
    return item;
  }

  static bool useless(const Item& item) {
    return item.units == 0 && item.units_with_leader == 0 && !item.leader;
  }

  void add_children(std::size_t level, DomainIndex domain, std::vector<Item>* to) const {
    const auto& first = tree_.levels[level].first_child;
    for (DomainIndex child = first[domain]; child < first[domain + 1]; ++child) {
      const Item item = item_of(level + 1, child);
      if (!useless(item)) to->push_back(item);
    }
  }

  /// The domain that holds everything and has the least room to spare.
  std::optional<DomainIndex> tightest(std::size_t level) const {
    const CapacityView::Counts& counts = view_.level(level);
    const bool leader = request_.leader;
    const auto& slices = leader ? counts.slices_with_leader : counts.slices;
    const auto& pods = leader ? counts.pods_with_leader : counts.pods;
    std::optional<DomainIndex> best;
    for (DomainIndex domain = 0; domain < slices.size(); ++domain) {
      if (slices[domain] < need_) continue;
      if (leader && counts.leaders[domain] == 0) continue;
      if (best && std::tie(slices[*best], pods[*best]) <= std::tie(slices[domain], pods[domain])) {
        continue;
      }
      best = domain;
    }
    return best;
  }

  /// The first domain in order, when none holds everything.
  Item first_of(std::size_t level) const {
    Item best;
    const std::size_t size = tree_.levels[level].size();
    for (DomainIndex domain = 0; domain < size; ++domain) {
      const Item item = leader_item(level, domain);
      if (domain == 0 || before(item, best)) best = item;
    }
    return best;
  }

  /// An item that sorts in the order in which leaders get a place.
  Item leader_item(std::size_t level, DomainIndex domain) const {
    Item item = item_of(level, domain);
    if (!view_.with_leader()) return item;
    item.rank = item.leader ? 0 : 1;
    item.size = least_first_ ? item.units_with_leader : -item.units_with_leader;
    item.pods = view_.level(level).pods_with_leader[domain];
    return item;
  }

  /// Chooses the level, which it puts into result_.level, and the domains.
  bool choose(std::size_t level, std::vector<Pick>* picks) {
    result_.level = level;
    if (tree_.levels[level].size() == 0) return false;
    if (const auto one = tightest(level)) {
      picks->push_back({*one, need_, request_.leader});
      return true;
    }
    if (request_.required) {
      const Item first = first_of(level);
      // As in Kueue, the message says how many slices fit into the first domain; if unconstrained,
      // how many pods fit into the largest.
      result_.slices = least_first_ ? largest_pods(level) : first.units;
      return false;
    }
    if (level > 0 && !request_.unconstrained) return choose(level - 1, picks);
    return choose_several(level, picks);
  }

  std::int64_t largest_pods(std::size_t level) const {
    const auto& pods = view_.level(level).pods;
    return *std::max_element(pods.begin(), pods.end());
  }

  /// Chooses the smallest domains, as many as are needed, when none is enough. It counts domains by
  /// size before it sorts the chosen ones, because there may be very many.
  bool choose_smallest(std::size_t level, std::vector<Pick>* picks) {
    const auto& slices = view_.level(level).slices;
    std::vector<std::int64_t> domains(static_cast<std::size_t>(need_), 0);
    for (const std::int64_t room : slices) ++domains[static_cast<std::size_t>(room)];
    std::int64_t left = need_;
    std::int64_t last = 0;
    while (left > 0 && ++last < need_) left -= last * domains[static_cast<std::size_t>(last)];
    result_.slices = need_ - std::max<std::int64_t>(left, 0);
    if (left > 0) return false;
    // Not all domains of the last size are needed.
    const std::int64_t spare = -left / last;
    const std::int64_t wanted = domains[static_cast<std::size_t>(last)] - spare;
    std::vector<Item> items;
    std::vector<Item> of_last;
    for (DomainIndex domain = 0; domain < slices.size(); ++domain) {
      if (slices[domain] == 0 || slices[domain] > last) continue;
      const Item item = item_of(level, domain);
      if (slices[domain] < last) {
        items.push_back(item);
        continue;
      }
      const bool full = static_cast<std::int64_t>(of_last.size()) == wanted;
      if (full && !before(item, of_last.front())) continue;
      if (full) {
        std::pop_heap(of_last.begin(), of_last.end(), in_order);
        of_last.pop_back();
      }
      of_last.push_back(item);
      std::push_heap(of_last.begin(), of_last.end(), in_order);
    }
    items.insert(items.end(), of_last.begin(), of_last.end());
    std::sort(items.begin(), items.end(), in_order);
    for (const Item& item : items) picks->push_back({item.domain, item.units, false});
    return true;
  }
  static bool in_order(const Item& a, const Item& b) { return before(a, b); }

  bool choose_several(std::size_t level, std::vector<Pick>* picks) {
    if (least_first_ && !request_.leader && need_ <= buckets_max) {
      return choose_smallest(level, picks);
    }
    std::vector<Item> all;
    const std::size_t size = tree_.levels[level].size();
    for (DomainIndex domain = 0; domain < size; ++domain) {
      const Item item = request_.leader ? leader_item(level, domain) : item_of(level, domain);
      if (!useless(item)) all.push_back(item);
    }
    Items items(std::move(all));
    std::int64_t left = need_;
    if (request_.leader) {
      items.leader_first(need_);
      if (items.empty() || !items.front().leader) return false;
      const Item first = items.pop();
      picks->push_back({first.domain, first.units_with_leader, true});
      left -= first.units_with_leader;
      std::vector<Item> rest;
      for (const Item& item : items.take_all()) rest.push_back(item_of(level, item.domain));
      items = Items(std::move(rest));
    }
    while (left > 0 && !items.empty()) {
      Item next = items.front();
      if (!least_first_ && next.units >= left) next = items.tightest(left, false);
      picks->push_back({next.domain, next.units, false});
      left -= next.units;
      items.pop();
    }
    result_.slices = need_ - left;
    return left <= 0;
  }

  /// Gives `need` units to the items in order. The last item is chosen to fit tightly.
  bool distribute(std::vector<Item> from, std::int64_t need, bool leader,
                  std::vector<Pick>* picks) const {
    Items items(std::move(from));
    std::vector<Pick> out;
    if (leader) items.leader_first(need);
    while (!items.empty()) {
      Item next = items.front();
      const std::int64_t room = leader ? next.units_with_leader : next.units;
      const bool enough = room >= need && (!leader || next.leader);
      if (enough) {
        if (!least_first_) next = items.tightest(need, leader);
        out.push_back({next.domain, need, leader});
        *picks = std::move(out);
        return true;
      }
      items.pop();
      const std::int64_t given = std::min(room, need);
      out.push_back({next.domain, given, leader && next.leader});
      need -= given;
      leader = leader && !next.leader;
    }
    return false;
  }

  /// Distributes the pods of each domain among its children.
  bool descend(std::size_t level, std::vector<Pick>* picks) const {
    const std::int32_t inner = view_.slices().inner_at(level + 1);
    const std::int64_t unit = inner > 0 ? inner : 1;
    const CapacityView::Counts& counts = view_.level(level + 1);
    const auto& first = tree_.levels[level].first_child;
    std::vector<Pick> below;
    for (const Pick& pick : *picks) {
      std::vector<Item> items;
      for (DomainIndex child = first[pick.domain]; child < first[pick.domain + 1]; ++child) {
        Item item = item_of(level + 1, child);
        item.units = counts.pods[child] / unit;
        item.units_with_leader =
            view_.with_leader() ? counts.pods_with_leader[child] / unit : item.units;
        if (!useless(item)) items.push_back(item);
      }
      std::vector<Pick> mine;
      if (!distribute(std::move(items), pick.units / unit, pick.leader, &mine)) return false;
      for (Pick& one : mine) {
        one.units *= unit;
        below.push_back(one);
      }
    }
    *picks = std::move(below);
    return true;
  }

  void finish(const std::vector<Pick>& picks) {
    for (const Pick& pick : picks) {
      if (pick.units == 0 && !pick.leader) continue;
      result_.leaves.push_back(
          {pick.domain, static_cast<std::int32_t>(pick.units), pick.leader ? 1 : 0});
    }
    std::sort(result_.leaves.begin(), result_.leaves.end(),
              [](const PlacedLeaf& a, const PlacedLeaf& b) { return a.leaf < b.leaf; });
    // The last slice may be incomplete, but it got the room of a whole slice.
    std::int64_t excess = need_ * size_ - request_.count;
    for (std::size_t i = result_.leaves.size(); i-- > 0 && excess > 0;) {
      PlacedLeaf& last = result_.leaves[i];
      const std::int64_t less = std::min<std::int64_t>(excess, last.pods);
      last.pods -= static_cast<std::int32_t>(less);
      excess -= less;
      if (last.pods == 0 && last.leaders == 0) {
        result_.leaves.erase(result_.leaves.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    result_.fits = true;
  }

  const CapacityView& view_;
  const TopologyTree& tree_;
  const PlacementRequest& request_;
  std::int64_t size_;
  bool least_first_;
  std::int64_t need_;
  PlacementResult result_;
};

std::int64_t slices_below(const CapacityView& view, std::size_t level, DomainIndex domain,
                          std::size_t target, std::int32_t size) {
  if (level == target) return view.level(level).pods[domain] / size;
  const auto& first = view.tree().levels[level].first_child;
  std::int64_t sum = 0;
  for (DomainIndex child = first[domain]; child < first[domain + 1]; ++child) {
    sum += slices_below(view, level + 1, child, target, size);
  }
  return sum;
}

}  // namespace

PlacementResult place(const CapacityView& view, const PlacementRequest& request) {
  return Search(view, request).run();
}

std::string placement_failure(const CapacityView& view, const PlacementRequest& request,
                              const PlacementResult& result,
                              const std::vector<api::PodSetTopologyConstraint>& layers,
                              const Names& names) {
  const TopologyTree& tree = view.tree();
  const std::string topology = "topology \"" + tree.topology + "\"";
  const TopologyTree::Level& level = tree.levels[result.level];
  if (level.size() == 0) return "no topology domains at level: " + tree.level_keys[result.level];
  if (!view.slices().inner.empty()) {
    const auto& slices = view.level(result.level).slices;
    const auto best =
        static_cast<DomainIndex>(std::max_element(slices.begin(), slices.end()) - slices.begin());
    std::string text = topology + " doesn't allow to fit";
    for (const api::PodSetTopologyConstraint& layer : layers) {
      const auto at = tree.level_of(layer.topology);
      if (!at || *at < result.level) continue;
      text += "; " + std::to_string(slices_below(view, result.level, best, *at, layer.size)) + "/" +
              std::to_string(request.count / layer.size) + " slice(s) fit on level " +
              layer.topology;
    }
    return text + view.exclusions(names);
  }
  const std::int64_t wanted = request.count / view.slices().size;
  const std::string unit = view.slices().size == 1 ? " pod(s)" : " slice(s)";
  const std::string fit = result.slices == 0
                              ? " doesn't allow to fit any of " + std::to_string(wanted)
                              : " allows to fit only " + std::to_string(result.slices) +
                                    " out of " + std::to_string(wanted);
  return topology + fit + unit + view.exclusions(names);
}

}  // namespace regatta::admission
