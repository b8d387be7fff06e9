#include "lib/manifest/crd/json_path.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::manifest {
namespace {

struct Case {
  const char* path;
  const char* want;
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.path; }
};
class JsonPathTable : public ::testing::TestWithParam<Case> {};

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
    ::testing::Values(Case{".a.b", "[[1,2]]"}, Case{".a.b[1]", "[2]"}, Case{".a.b[-1]", "[2]"},
                      Case{".a.b[7]", "[]"}, Case{".a.b[*]", "[1,2]"}, Case{".a['c.d']", "[3]"},
                      Case{".a.c\\.d", "[3]"}, Case{".a.e.f/g", "[4]"}, Case{".x.y", "[]"},
                      Case{"{.a.b[0]}", "[1]"},
                      Case{".conditions[?(@.type==\"Ready\")].status", "[\"True\"]"},
                      Case{".conditions[?(@.type=='Done')].status", "[\"False\"]"},
                      Case{".conditions[?(@.type != 'Done')].type", "[\"Ready\"]"},
                      Case{".conditions[*].type", "[\"Ready\",\"Done\"]"}));

TEST(JsonPath, RefusesWhatItDoesNotKnow) {
  for (const auto* bad : {"a", ".a[", ".a[x]", ".a[?(b)]", ".a[?(@.b>1)]", ".a..b"}) {
    EXPECT_FALSE(JsonPath::parse(bad)) << bad;
  }
}

}  // namespace
}  // namespace regatta::manifest
