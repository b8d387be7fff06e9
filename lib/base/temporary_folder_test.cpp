#include "lib/base/temporary_folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>
#include <stdlib.h>
#include <sys/stat.h>

namespace regatta {
namespace {

namespace fs = std::filesystem;

TEST(TemporaryFolder, IsItsOwnersOnlyAndGoesWithWhatIsInIt) {
  fs::path where;
  {
    const mode_t before = ::umask(0);
    const TemporaryFolder one("regatta-test"), two("regatta-test");
    ::umask(before);
    where = one.path();
    EXPECT_NE(one.path(), two.path());
    EXPECT_EQ(where.filename().string().rfind("regatta-test-", 0), 0u);
    EXPECT_EQ(fs::status(where).permissions(), fs::perms::owner_all);
    fs::create_directories(one / "deep");
    std::ofstream(one / "deep/file") << "text";
  }
  EXPECT_FALSE(fs::exists(where));
}

TEST(TemporaryFolder, OneThatCannotBeMadeSaysWhy) {
  const char* given = ::getenv("TMPDIR");
  const std::string before = given ? given : "";
  ::setenv("TMPDIR", "/nowhere/at/all", 1);
  const auto made = make_temporary_folder("x");
  EXPECT_THROW(TemporaryFolder(), std::runtime_error);
  given ? ::setenv("TMPDIR", before.c_str(), 1) : ::unsetenv("TMPDIR");
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().what().find("cannot make a folder like"), std::string::npos);
  EXPECT_NE(made.error().what().find("No such file or directory"), std::string::npos);
}

}  // namespace
}  // namespace regatta
