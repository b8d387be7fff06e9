#include "bench/report/comparison.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::bench {
namespace {

TEST(Comparison, TheMiddleOfAnOddCountIsTheRunInTheMiddle) {
  const Json all = middle_of({{{"seconds", 9.0}}, {{"seconds", 1.5}}, {{"seconds", 2.0}}});
  EXPECT_EQ(all.at("seconds"), 2.0);
}

TEST(Comparison, TheMiddleOfAnEvenCountLiesBetween) {
  const Json all = middle_of({{{"jobs", 4}}, {{"jobs", 1}}});
  EXPECT_EQ(all.at("jobs"), 2.5);
}

TEST(Comparison, WholeNumbersStayWhole) {
  const Json all = middle_of({{{"jobs", 200}}, {{"jobs", 200}}});
  EXPECT_EQ(dump_json(all), R"({"jobs":200})");
}

TEST(Comparison, TheMiddleReachesIntoObjectsAndKeepsTexts) {
  const Json slow = {{"kind", "job"}, {"processes", {{"hub manager", {{"cpu_seconds", 3.0}}}}}};
  const Json fast = {{"kind", "job"}, {"processes", {{"hub manager", {{"cpu_seconds", 1.0}}}}}};
  const Json all = middle_of({slow, fast});
  EXPECT_EQ(all.at("kind"), "job");
  EXPECT_EQ(all.at("processes").at("hub manager").at("cpu_seconds"), 2.0);
}

TEST(Comparison, MoreWorkloadsPerSecondAndLowerCostsAreBetter) {
  const Json regatta = {{"workloads_per_second", 6.0}, {"hub_writes_per_workload", 7.0}};
  const Json kueue = {{"workloads_per_second", 2.0}, {"hub_writes_per_workload", 14.0}};
  const Json times = ratios(regatta, kueue);
  EXPECT_EQ(times.at("workloads_per_second"), 3.0);
  EXPECT_EQ(times.at("hub_writes_per_workload"), 2.0);
}

TEST(Comparison, NothingIsDividedByZero) {
  const Json none = {{"worker_gets_per_workload", 0}};
  const Json some = {{"worker_gets_per_workload", 29.5}};
  EXPECT_TRUE(ratios(none, some).at("worker_gets_per_workload").is_null());
  EXPECT_TRUE(ratios(some, none).at("worker_gets_per_workload").is_null());
}

TEST(Comparison, TheTableHasBothNumbersAndTheirRatio) {
  const Json regatta = {{"workloads_per_second", 6.0}};
  const Json kueue = {{"workloads_per_second", 2.0}, {"worker_gets_per_workload", 29.5}};
  const std::string table = comparison_table(regatta, kueue);
  const std::string begin =
      "                                                  Regatta      Kueue      ratio\n"
      "workloads per second                                 6.00       2.00       3.00\n";
  EXPECT_EQ(table.substr(0, begin.size()), begin);
  const std::string gets =
      "GETs on workers per workload                         0.00      29.50          -\n";
  EXPECT_NE(table.find(gets), std::string::npos) << table;
}

}  // namespace
}  // namespace regatta::bench
