#include "whatif/table.h"

#include <gtest/gtest.h>

#include <sstream>

namespace regatta::whatif {
namespace {

TEST(Table, AlignsColumnsByCharacters) {
  Table table({"name", ">count", "note"});
  table.add({"naïve", "7", "é"});
  table.add({"b", "1000"});
  std::ostringstream out;
  table.print(out, 2);
  EXPECT_EQ(out.str(),
            "  NAME    COUNT   NOTE\n"
            "  naïve       7   é\n"
            "  b        1000\n");
}

}  // namespace
}  // namespace regatta::whatif
