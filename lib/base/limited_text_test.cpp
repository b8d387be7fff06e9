#include "lib/base/limited_text.h"

#include <gtest/gtest.h>

namespace regatta {
namespace {

TEST(LimitedText, IsCutBetweenCharactersAndSaysSo) {
  EXPECT_EQ(limited_text("twelve bytes", 12), "twelve bytes");
  EXPECT_EQ(limited_text("thirteen byte", 12), "thirteen ...");
  EXPECT_EQ(limited_text("seven öäü beyond", 12), "seven ö ...") << "öäü has two bytes each";
  EXPECT_EQ(limited_text("öäü", 5), " ...") << "half an ö is nothing";
  EXPECT_EQ(limited_text("abc", 2), " .");
}

}  // namespace
}  // namespace regatta
