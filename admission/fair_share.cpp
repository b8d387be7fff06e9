#include "admission/fair_share.h"

#include <limits>

namespace regatta::admission {

double Share::value() const {
  if (ratio == 0) return 0;
  if (weight == 0) return std::numeric_limits<double>::infinity();
  return ratio / weight;
}

int compare(const Share& a, const Share& b) {
  const bool a_last = a.zero_weight_borrower();
  const bool b_last = b.zero_weight_borrower();
  if (a_last && b_last) return a.ratio < b.ratio ? -1 : static_cast<int>(a.ratio > b.ratio);
  if (a_last != b_last) return a_last ? 1 : -1;
  return a.value() < b.value() ? -1 : static_cast<int>(a.value() > b.value());
}

namespace {

struct ResourceSum {
  ResourceId resource = 0;
  Amount borrowed = 0;
  Amount lendable = 0;
};

}  // namespace

Share share_of(const QuotaForest& forest, const Names& names, NodeId id) {
  const QuotaNode& node = forest.node(id);
  Share share;
  share.weight = node.weight;
  if (node.parent == no_node) return share;
  std::vector<ResourceSum> sums;
  for (const Cell& cell : node.cells) {
    const Amount borrowed = cell.declared ? minus(cell.usage, cell.subtree) : 0;
    if (borrowed <= 0) continue;
    share.borrowing = true;
    const ResourceId resource = names.resource_of(cell.fr);
    auto it = sums.begin();
    while (it != sums.end() && it->resource != resource) ++it;
    if (it == sums.end()) it = sums.insert(it, {resource, 0, 0});
    it->borrowed = plus(it->borrowed, borrowed);
  }
  if (!share.borrowing) return share;
  for (const Cell& cell : forest.node(node.root).cells) {
    if (!cell.declared) continue;
    for (ResourceSum& sum : sums) {
      if (sum.resource != names.resource_of(cell.fr)) continue;
      sum.lendable = plus(sum.lendable, forest.potential_available(node.parent, cell.fr));
    }
  }
  for (const ResourceSum& sum : sums) {
    if (sum.lendable <= 0) continue;
    const double ratio =
        static_cast<double>(sum.borrowed) * 1000.0 / static_cast<double>(sum.lendable);
    if (ratio > share.ratio) share.ratio = ratio;
  }
  return share;
}

}  // namespace regatta::admission
