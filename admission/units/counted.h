#pragma once

/// Amounts of resources, in which quota, usage and places are counted.

#include "admission/units/amount.h"
#include "admission/units/names.h"

#include <vector>

namespace regatta::admission {

struct ResourceAmount {
  ResourceId resource = 0;
  Amount amount = 0;
  friend bool operator==(const ResourceAmount&, const ResourceAmount&) = default;
};

/// An amount of one (flavor, resource).
struct FrAmount {
  FrId fr = 0;
  Amount amount = 0;
  friend bool operator==(const FrAmount&, const FrAmount&) = default;
};

/// Adds to the entry of `fr` and keeps the list sorted by fr.
void add_amount(std::vector<FrAmount>* amounts, FrId fr, Amount amount);

}  // namespace regatta::admission
