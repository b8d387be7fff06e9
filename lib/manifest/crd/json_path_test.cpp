#include "lib/manifest/crd/json_path.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::manifest {
namespace {

struct PathCase {
  const char* path;
  const char* want;
  friend void PrintTo(const PathCase& c, std::ostream* out) { *out << c.path; }
};
class JsonPathTable : public ::testing::TestWithParam<PathCase> {};

TEST_P(JsonPathTable, Finds) {
  const auto root = Json::parse(R"({"a": {"b": [1, 2], "c.d": 3, "e": {"f/g": 4}},
    "conditions": [{"type": "Ready", "status": "True"}, {"type": "Done", "status": "False"}]})");
  const auto path = JsonPath::parse(GetParam().path);
  ASSERT_TRUE(path) << path.error().what();
  Json found = Json::array();
  for (const auto* value : path->find(root)) found.push_back(*value);
  EXPECT_EQ(found.dump(), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    , JsonPathTable,
    ::testing::Values(PathCase{".a.b", "[[1,2]]"}, PathCase{".a.b[1]", "[2]"},
                      PathCase{".a.b[-1]", "[2]"}, PathCase{".a.b[7]", "[]"},
                      PathCase{".a.b[-1:]", "[2]"}, PathCase{".a.b[:1]", "[1]"},
                      PathCase{".a.b[0:9]", "[1,2]"}, PathCase{".x[-1:]", "[]"},
                      PathCase{".conditions[-1:].type", "[\"Done\"]"}, PathCase{".a.b[*]", "[1,2]"},
                      PathCase{".a['c.d']", "[3]"}, PathCase{".a.c\\.d", "[3]"},
                      PathCase{".a.e.f/g", "[4]"}, PathCase{".x.y", "[]"},
                      PathCase{"{.a.b[0]}", "[1]"},
                      PathCase{".conditions[?(@.type==\"Ready\")].status", "[\"True\"]"},
                      PathCase{".conditions[?(@.type=='Done')].status", "[\"False\"]"},
                      PathCase{".conditions[?(@.type != 'Done')].type", "[\"Ready\"]"},
                      PathCase{".conditions[*].type", "[\"Ready\",\"Done\"]"}));

TEST(JsonPath, RefusesWhatItDoesNotKnow) {
  for (const auto* bad : {"a", ".a[", ".a[x]", ".a[1:x]", ".a[?(b)]", ".a[?(@.b>1)]", ".a..b"}) {
    EXPECT_FALSE(JsonPath::parse(bad)) << bad;
  }
}

}  // namespace
}  // namespace regatta::manifest
