#pragma once

#include "admission/quota.h"

namespace regatta::admission {

/// Dominant resource share: what the node borrows of a resource, divided by what the tree could
/// lend of it, in thousandths; the largest over all resources, divided by the weight. Computed in
/// doubles in one fixed order of operations, because ties between queues are decided to the last
/// bit.
struct Share {
  double ratio = 0;  ///< before the weight
  double weight = 1;
  bool borrowing = false;  ///< some resource is borrowed, even if the ratio is zero

  bool zero_weight_borrower() const { return weight == 0 && ratio != 0; }
  /// Infinite for a borrower of weight zero.
  double value() const;
};

/// Negative, zero or positive. Borrowers of weight zero come after all others and compare by ratio.
int compare(const Share& a, const Share& b);

/// The share of a node; zero for a root.
Share share_of(const QuotaForest& forest, const Names& names, NodeId node);

}  // namespace regatta::admission
