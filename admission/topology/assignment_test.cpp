#include "admission/topology/assignment.h"

#include "lib/api/names.h"

#include <gtest/gtest.h>

namespace regatta::admission {
namespace {

const std::vector<std::string> by_host{std::string(api::labels::hostname)};

TopologyDomains hosts(const std::vector<std::pair<std::string, std::int32_t>>& counts) {
  TopologyDomains out;
  out.levels = by_host;
  for (const auto& [name, count] : counts) out.domains.push_back({{name}, count});
  return out;
}

struct EncodingCase {
  std::string name;
  TopologyDomains domains;
  std::size_t slices = 1;
};

class TopologyEncodings : public ::testing::TestWithParam<EncodingCase> {};

TEST_P(TopologyEncodings, ExpandToWhatWasCompacted) {
  const auto& [name, domains, slices] = GetParam();
  const api::TopologyAssignment compacted = compact(domains);
  EXPECT_EQ(compacted.slices.size(), slices);
  const auto expanded = expand(compacted);
  ASSERT_TRUE(expanded) << expanded.error().what();
  EXPECT_EQ(*expanded, domains);
  const auto single = expand(compact(domains, TopologyEncoding::single_slice));
  ASSERT_TRUE(single);
  EXPECT_EQ(*single, domains);
}

std::vector<std::pair<std::string, std::int32_t>> pools(int pool_count, int nodes) {
  std::vector<std::pair<std::string, std::int32_t>> out;
  for (int pool = 0; pool < pool_count; ++pool) {
    for (int node = 0; node < nodes; ++node) {
      out.emplace_back(
          "pool-" + std::string(20, static_cast<char>('a' + pool)) + "-" + std::to_string(node), 1);
    }
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(
    All, TopologyEncodings,
    ::testing::Values(
        EncodingCase{"nothing", hosts({}), 0}, EncodingCase{"one", hosts({{"a", 3}})},
        EncodingCase{"counts_differ", hosts({{"node-1", 3}, {"node-2", 4}})},
        EncodingCase{"prefix_and_suffix_overlap", hosts({{"ababa", 1}, {"aba", 1}})},
        EncodingCase{"one_is_empty", hosts({{"", 1}, {"a", 1}})},
        EncodingCase{"dashes_at_the_end", hosts({{"a-", 1}, {"a-b-", 1}, {"a-b-c", 1}})},
        EncodingCase{"several_levels", {{"block", "rack"}, {{{"b1", "r1"}, 2}, {{"b1", "r2"}, 2}}}},
        EncodingCase{"long_names_of_two_pools", hosts(pools(2, 50)), 2},
        EncodingCase{"two_pools_of_one_node_each", hosts(pools(2, 1)), 1}),
    [](const auto& info) { return info.param.name; });

TEST(TopologyEncoding, SharesPrefixAndSuffixOfEachLevel) {
  const auto compacted = compact(hosts({{"rack-1-node", 2}, {"rack-22-node", 2}}));
  ASSERT_EQ(compacted.slices.size(), 1U);
  const auto& slice = compacted.slices.front();
  EXPECT_EQ(slice.domain_count, 2);
  EXPECT_EQ(slice.pod_counts.universal, 2);
  ASSERT_TRUE(slice.values_per_level.front().individual);
  EXPECT_EQ(slice.values_per_level.front().individual->prefix, "rack-");
  EXPECT_EQ(slice.values_per_level.front().individual->suffix, "-node");
  EXPECT_EQ(slice.values_per_level.front().individual->roots,
            (std::vector<std::string>{"1", "22"}));
}

TEST(TopologyEncoding, RefusesListsOfTheWrongLength) {
  api::TopologyAssignment assignment = compact(hosts({{"x1", 1}, {"x2", 2}}));
  assignment.slices.front().pod_counts.individual.pop_back();
  EXPECT_EQ(expand(assignment).error().code(), Errc::invalid);
  assignment = compact(hosts({{"x1", 1}, {"x2", 2}}));
  assignment.slices.front().values_per_level.front().individual->roots.pop_back();
  EXPECT_FALSE(expand(assignment));
  assignment = compact(hosts({{"x1", 1}, {"x2", 2}}));
  assignment.levels.emplace_back("another");
  EXPECT_FALSE(expand(assignment));
  assignment = compact(hosts({{"x1", 1}, {"x2", 1}}));
  assignment.slices.front().domain_count = 2'000'000;
  EXPECT_FALSE(expand(assignment));
}

TEST(TopologyEncoding, CountsThePodsOfANode) {
  const auto assignment = compact(hosts({{"x1", 1}, {"x2", 2}}));
  EXPECT_EQ(pods_on_node(assignment, "x2"), 2);
  EXPECT_EQ(pods_on_node(assignment, "x3"), 0);
}

}  // namespace
}  // namespace regatta::admission
