#include "whatif/render/compare.h"
#include "whatif/render/plot.h"
#include "whatif/render/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace regatta::whatif {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr TimePoint start{std::chrono::hours(24 * 365 * 56)};

WorkloadRecord workload(const std::string& name, std::optional<int> waited) {
  WorkloadRecord record;
  record.ns = "dev";
  record.name = name;
  record.cluster_queue = "fleet";
  record.created_at = start + std::chrono::minutes(5);
  if (waited) record.admitted_at = record.created_at + std::chrono::seconds(*waited);
  record.outcome = waited ? Outcome::admitted : Outcome::pending;
  return record;
}

/// An hour of one queue with 8 GPUs.
Report report(const std::string& name, double waiting_mean, double utilisation) {
  Report out;
  out.name = name;
  out.start = start;
  out.length = std::chrono::hours(1);
  out.step = std::chrono::minutes(15);
  out.samples = 4;
  out.clusters = {""};
  out.workloads = {workload("a", 30), workload("b", 3600), workload("c", std::nullopt)};
  out.workloads[2].reason = "WaitingForQuota";
  out.workloads[2].message = "2 more needed";
  QueueReport queue;
  queue.name = "fleet";
  queue.cohort = "team";
  queue.submitted = 3;
  queue.admitted = 2;
  queue.pending = 1;
  queue.waiting = {2, waiting_mean, waiting_mean, waiting_mean * 2, waiting_mean * 3};
  queue.usage = {{"a100", "nvidia.com/gpu", 8, 8 * utilisation, 8, 0, {}}};
  queue.waiting_length = {0, 2, 4, 1};
  out.queues = {queue};
  CapacityReport capacity;
  capacity.flavor = "a100";
  capacity.resource = "nvidia.com/gpu";
  capacity.capacity = 8;
  capacity.utilisation = utilisation;
  capacity.used = {2, 4, 8, 8};
  capacity.total = {8, 8, 8, 8};
  out.over_time = {{1360, 0, 0, 0}, {3, 0, 0, 0}, {0, 2, 4, 1}, {1, 2, 2, 2}, {.25, .5, 1, 1}};
  out.capacity = {capacity};
  out.totals.submitted = 3;
  out.totals.admitted = 2;
  out.totals.pending = 1;
  out.totals.waiting = queue.waiting;
  out.totals.waiting_all = queue.waiting;
  out.totals.utilisation = utilisation;
  out.totals.scarcest = "a100/nvidia.com/gpu";
  return out;
}

TEST(Tables, ShowTotalsQueuesUseAndWorkloads) {
  std::ostringstream out;
  print(report("fleet", 450, 0.65), out);
  EXPECT_EQ(out.str(), R"(fleet: 1h from 2025-12-18T00:00:00Z

  Workloads     3 submitted, 2 admitted, 0 finished, 0 failed, 1 waiting at the end
)"
                       "  Waiting       mean 7m30s, median 7m30s, 95th percentile 15m, longest "
                       "22m30s\n"
                       "                with those that wait at the end: mean 7m30s, median 7m30s, "
                       "95th percentile 15m, longest 22m30s\n"
                       R"(  Throughput    0 jobs an hour
  Utilisation   65.0 % of a100/nvidia.com/gpu
  Fairness      1.000 between ClusterQueues, 1.000 between LocalQueues (1: all alike)
  Preemptions   0, 0 h of work done again

Queues (share: of what the cluster has of the resource it used most, over its weight, on average)
)"
                       "  CLUSTERQUEUE   COHORT   SUBMITTED   ADMITTED   FINISHED   WAITING   "
                       "PREEMPTED   MEAN WAIT   MEDIAN   95 %   LONGEST   WEIGHT   SHARE\n"
                       "  fleet          team             3          2          0         1       "
                       "    0       7m30s    7m30s    15m    22m30s        1   0.0 %\n"
                       R"(
Use of quota, over the whole time
  CLUSTERQUEUE   FLAVOR   RESOURCE         NOMINAL   MEAN USE   PEAK   BORROWED
  fleet          a100     nvidia.com/gpu         8       5.20      8          0

Utilisation of all quota together
  CLUSTER   FLAVOR   RESOURCE         CAPACITY   UTILISATION
            a100     nvidia.com/gpu          8        65.0 %

Over time (mean wait: of those created then; those that wait at the end, so far)
  FROM   CREATED   MEAN WAIT   WAITING   RUNNING   UTILISATION
    0s         3      22m40s         0         1        25.0 %
   15m         0                     2         2        50.0 %
   30m         0                     4         2       100.0 %
   45m         0                     1         2       100.0 %

Workloads, times since the start
)"
                       "  WORKLOAD   CLUSTERQUEUE   PRIORITY   CREATED   ADMITTED   ENDED   WHERE  "
                       " OUTCOME   WHY IT WAITED\n"
                       "  dev/a      fleet                 0        5m      5m30s                  "
                       " runs\n"
                       "  dev/b      fleet                 0        5m       1h5m                  "
                       " runs\n"
                       "  dev/c      fleet                 0        5m                             "
                       " waits     WaitingForQuota: 2 more needed\n");
}

TEST(Tables, TellWhyWorkloadsWerePreemptedAndWhichQueuesAdmitNone) {
  Report told = report("fleet", 450, 0.65);
  told.totals.preemptions = 3;
  told.totals.preemptions_by_reason = {{"InClusterQueue", 2}, {"InCohortReclamation", 1}};
  told.queues[0].inactive = "it is stopped";
  std::ostringstream out;
  print(told, out);
  EXPECT_THAT(out.str(), HasSubstr("3 (2 InClusterQueue, 1 InCohortReclamation), 0 h of work"));
  EXPECT_THAT(out.str(), HasSubstr("\n  fleet admits nothing: it is stopped\n"));
  out.str("");
  print(compare(report("fleet", 450, 0.65), told), out);
  EXPECT_THAT(out.str(), HasSubstr("preemptions, InCohortReclamation"));
  EXPECT_THAT(out.str(), HasSubstr("Over time: of fleet"));
}

TEST(Tables, SayWhatTheyLeaveOut) {
  std::ostringstream out;
  print(report("fleet", 450, 0.65), out, {.rows_max = 1});
  EXPECT_THAT(out.str(), HasSubstr("… and 2 more: -o json has them all"));
}

TEST(Tables, WriteNumbersForPeople) {
  EXPECT_EQ(seconds_text(0), "0s");
  EXPECT_EQ(seconds_text(4.25), "4.2s");
  EXPECT_EQ(seconds_text(7200), "2h");
  EXPECT_EQ(percent_text(0.8512), "85.1 %");
  EXPECT_EQ(number_text(12), "12");
  EXPECT_EQ(number_text(8.333), "8.33");
  EXPECT_EQ(number_text(123.4), "123");
  EXPECT_EQ(resource_text("memory", 64.0 * 1024 * 1024 * 1024), "64Gi");
  EXPECT_EQ(resource_text("cpu", 1.5), "1.50");
}

TEST(Compare, MarksWhatIsBetterAndWhatIsWorse) {
  Report after = report("regatta", 270, 0.85);
  after.totals.preemptions = 3;
  after.workloads = {workload("a", 30), workload("b", 600), workload("c", 900), workload("new", 0)};
  const Comparison comparison = compare(report("fifo", 450, 0.65), after);
  std::ostringstream out;
  print(comparison, out);
  EXPECT_THAT(out.str(), HasSubstr("fifo against regatta"));
  EXPECT_THAT(out.str(), HasSubstr(R"(
  waiting, mean              7m30s     4m30s      -40.0 %   better
)"));
  EXPECT_THAT(out.str(), HasSubstr(R"(
  utilisation               65.0 %    85.0 %   +20 points   better
)"));
  EXPECT_THAT(out.str(), HasSubstr(R"(
  preemptions                    0         3           +3   worse
)"));
  EXPECT_THAT(out.str(), HasSubstr(R"(
  submitted                      3         3            =
)"));
  EXPECT_THAT(out.str(), HasSubstr("0 in fifo, 1 in regatta"));
  EXPECT_THAT(out.str(), HasSubstr(R"(
Workloads that waited differently: 2
  WORKLOAD    FIFO   REGATTA
  dev/c      never       15m
  dev/b         1h       10m
)"));
  const Json json = to_json(comparison);
  EXPECT_EQ(json["totals"][4]["what"], "waiting, mean");
  EXPECT_EQ(json["totals"][4]["verdict"], "better");
  EXPECT_EQ(json["workloads"][0]["waitedBefore"], nullptr);
}

TEST(Compare, AQueueThatOnlyOneHasIsNotJudged) {
  Report after = report("b", 450, 0.65);
  after.queues[0].name = "other";
  for (const Difference& one : compare(report("a", 450, 0.65), after).queues) {
    EXPECT_EQ(one.verdict(), 0) << one.of << " " << one.what;
    EXPECT_NE(one.before.has_value(), one.after.has_value()) << one.of << " " << one.what;
  }
}

TEST(Compare, TheSameIsTheSame) {
  const Comparison comparison = compare(report("a", 450, 0.65), report("b", 450, 0.65));
  for (const Difference& one : comparison.totals) EXPECT_FALSE(one.differs()) << one.what;
  EXPECT_TRUE(comparison.workloads.empty());
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(Plot, DrawsUtilisationAndQueuesWithAxesAndLegend) {
  const Report one = report("fleet", 450, 0.65);
  const std::string svg = plot_svg({&one});
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_EQ(count_of(svg, "<polyline"), 2U);
  EXPECT_THAT(svg, HasSubstr(">100 %</text>"));
  EXPECT_THAT(svg, HasSubstr(">a100/nvidia.com/gpu</text>"));
  EXPECT_THAT(svg, HasSubstr(">fleet</text>"));
  EXPECT_THAT(svg, HasSubstr(">time since 2025-12-18T00:00:00Z</text>"));
  EXPECT_THAT(svg, HasSubstr(">1h</text>"));
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme: dark"));
  // Panel from y=56 to 276: 2 of 8 GPUs in the first quarter is a quarter of the way up.
  EXPECT_THAT(svg, HasSubstr("points=\"146,221 "));
}

TEST(Plot, OfTwoReportsHasALineForEach) {
  const Report one = report("fifo", 450, 0.65);
  const Report two = report("<b> & co", 450, 0.65);
  const std::string svg = plot_svg({&one, &two});
  EXPECT_EQ(count_of(svg, "<polyline"), 4U);
  EXPECT_THAT(svg, HasSubstr("fifo against &lt;b&gt; &amp; co"));
  EXPECT_THAT(svg, Not(HasSubstr("<b>")));
}

TEST(Plot, ManyQueuesBecomeTheLongestAndTheOthers) {
  Report many = report("many", 450, 0.65);
  for (int i = 0; i < 20; ++i) {
    many.queues.push_back(many.queues.front());
    many.queues.back().name = "q" + std::to_string(i);
    many.queues.back().waiting_length = Series(4, i);
  }
  const std::string svg = plot_svg({&many});
  EXPECT_EQ(count_of(svg, "<polyline"), 9U) << "one of utilisation, eight of queues";
  EXPECT_THAT(svg, HasSubstr(">14 others</text>"));
  EXPECT_THAT(svg, HasSubstr(">q19</text>"));
}

TEST(Plot, OfNothingSaysSo) {
  const Report nothing;
  EXPECT_THAT(plot_svg({&nothing}), HasSubstr("nothing to show"));
}

TEST(Plot, LongSeriesAreThinnedToPixels) {
  Report fine = report("fine", 450, 0.65);
  fine.samples = 100'000;
  fine.step = Duration(1000);
  fine.capacity[0].used = Series(fine.samples, 4);
  fine.capacity[0].total = Series(fine.samples, 8);
  fine.queues[0].waiting_length = Series(fine.samples, 1);
  EXPECT_LT(plot_svg({&fine}).size(), 40'000U);
}

}  // namespace
}  // namespace regatta::whatif
