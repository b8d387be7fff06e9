#include "lib/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace regatta {

void check_failed(const char* condition, std::string_view explanation, const char* file, int line) {
  std::fprintf(stderr, "regatta: internal error at %s:%d: expected %s: %.*s\n", file, line,
               condition, static_cast<int>(explanation.size()), explanation.data());
  std::fflush(stderr);
  std::abort();
}

}  // namespace regatta
