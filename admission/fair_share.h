#pragma once

#include "admission/quota.h"

namespace regatta::admission {

/// Dominant resource share: the largest part of what the tree could lend of one resource that the
/// node borrows, in thousandths, over its weight. Computed in doubles in one fixed order of
/// operations, because ties between queues are decided to the last bit.
struct Share {
  double ratio = 0;  ///< before the weight
  double weight = 1;
  bool borrowing = false;  ///< some resource is borrowed, be the ratio zero

  bool zero_weight_borrower() const { return weight == 0 && ratio != 0; }
  /// Infinite for a borrower of weight zero.
  double value() const;
};

/// Negative, zero or positive. Borrowers of weight zero come after all others and compare by ratio.
int compare(const Share& a, const Share& b);

/// Of a root: zero.
Share share_of(const QuotaForest& forest, const Names& names, NodeId node);

}  // namespace regatta::admission
