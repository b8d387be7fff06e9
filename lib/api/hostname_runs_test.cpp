#include "lib/api/hostname_runs.h"

#include "lib/base/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string_view>

namespace regatta::api {
namespace {

using Begins = std::vector<std::size_t>;

TEST(HostnameRuns, begin_where_the_longest_shared_prefix_changes) {
  EXPECT_EQ(hostname_runs({"a-1", "a-2", "b-1", "b-2"}, 1000, 1000), (Begins{0, 2}));
  EXPECT_EQ(hostname_runs({"a-x-1", "a-x-2", "a-y-1", "a-y-2"}, 1000, 1000), (Begins{0, 2}));
  EXPECT_EQ(hostname_runs({"a-x-1", "a-x-2", "a-y-1", "b-y-1"}, 1000, 1000), (Begins{0, 2, 3}))
      << "a-y-1 shares a- only, and b-y-1 nothing";
  EXPECT_EQ(hostname_runs({"a-1", "b-1", "a-2"}, 1000, 1000), (Begins{0, 1, 2}));
  EXPECT_EQ(hostname_runs({"a-1", "a-1"}, 1000, 1000), (Begins{0}));
  EXPECT_EQ(hostname_runs({"a-", "a-1", "b"}, 1000, 1000), (Begins{0}))
      << "a name is no prefix of itself";
  EXPECT_EQ(hostname_runs({}, 1000, 1000), (Begins{0}));
}

TEST(HostnameRuns, prefixes_become_shorter_until_there_are_few_enough_runs) {
  const std::vector<std::string> names = {"a-x-1", "a-x-2", "a-y-1", "a-y-2", "b-1", "b-2"};
  EXPECT_EQ(hostname_runs(names, 3, 1000), (Begins{0, 2, 4}));
  EXPECT_EQ(hostname_runs(names, 2, 1000), (Begins{0, 4}));
  EXPECT_EQ(hostname_runs(names, 1, 1000), (Begins{0}));
  EXPECT_EQ(hostname_runs(names, 4, 2), (Begins{0, 2, 4}));
  EXPECT_EQ(hostname_runs(names, 2, 3), (Begins{0})) << "a run of four counts twice";
}

/// What hostname_runs() promises, word by word.
Begins expected_runs(const std::vector<std::string>& names, std::size_t runs_max,
                     std::size_t length_max) {
  std::map<std::string, int> uses;
  std::vector<std::vector<std::string>> prefixes(names.size());
  std::size_t depth = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t end = 0; end + 1 < names[i].size(); ++end) {
      if (names[i][end] == '-') ++uses[prefixes[i].emplace_back(names[i].substr(0, end + 1))];
    }
    depth = std::max(depth, prefixes[i].size());
  }
  for (; depth > 0; --depth) {
    Begins begins;
    std::vector<std::string> chosen;
    for (const auto& of_name : prefixes) {
      std::string& longest = chosen.emplace_back();
      for (std::size_t i = 0; i < std::min(depth, of_name.size()); ++i) {
        if (uses[of_name[i]] > 1) longest = of_name[i];
      }
    }
    std::size_t runs = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (i == 0 || chosen[i] != chosen[i - 1]) begins.push_back(i);
      if ((i - begins.back()) % length_max == 0) ++runs;
    }
    if (runs <= runs_max) return begins;
  }
  return {0};
}

TEST(HostnameRuns, are_those_of_the_plain_way_to_find_them) {
  const std::uint64_t seed = 20260301;
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> names(static_cast<std::size_t>(rng.between(1, 12)));
    for (std::string& name : names) {
      for (auto n = rng.between(0, 7); n > 0; --n) name += "ab--"[rng.between(0, 3)];
    }
    const auto runs_max = static_cast<std::size_t>(rng.between(1, 8));
    const auto length_max = static_cast<std::size_t>(rng.between(1, 4));
    EXPECT_EQ(hostname_runs(names, runs_max, length_max),
              expected_runs(names, runs_max, length_max))
        << testing::PrintToString(names) << " " << runs_max << " " << length_max;
  }
}

TEST(HostnameRuns, a_name_that_is_too_long_for_kubernetes_has_no_prefix) {
  const std::string fits(hostname_bytes_max - 2, 'x');
  const std::string long_one(hostname_bytes_max - 1, 'x');
  EXPECT_EQ(hostname_runs({"a-" + fits, "a-1", "a-2"}, 1000, 1000), (Begins{0}));
  EXPECT_EQ(hostname_runs({"a-" + long_one, "a-1", "a-2"}, 1000, 1000), (Begins{0, 1}));
}

/// To hash each prefix of such a name, or to compare the prefixes of two, takes hours.
TEST(HostnameRuns, a_long_name_costs_no_more_than_its_length) {
  const std::string dashes(2'000'000, '-');
  EXPECT_EQ(hostname_runs({dashes, dashes, "a-1", "a-2"}, 1, 1000), (Begins{0}));
}

}  // namespace
}  // namespace regatta::api
