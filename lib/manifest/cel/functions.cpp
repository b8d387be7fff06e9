#include "lib/manifest/cel/functions.h"

#include "lib/manifest/cel/library.h"

#include <iterator>

namespace regatta::manifest::cel {

const std::vector<Function>& functions() {
  static const std::vector<Function> all = [] {
    std::vector<Function> out = conversion_functions();
    for (auto part : {text_functions(), list_functions(), time_functions(), quantity_functions()}) {
      out.insert(out.end(), std::make_move_iterator(part.begin()),
                 std::make_move_iterator(part.end()));
    }
    return out;
  }();
  return all;
}

}  // namespace regatta::manifest::cel
