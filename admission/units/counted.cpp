#include "admission/units/counted.h"

namespace regatta::admission {

void add_amount(std::vector<FrAmount>* amounts, FrId fr, Amount amount) {
  auto it = amounts->begin();
  while (it != amounts->end() && it->fr < fr) ++it;
  if (it == amounts->end() || it->fr != fr) it = amounts->insert(it, {fr, 0});
  it->amount = plus(it->amount, amount);
}

}  // namespace regatta::admission
