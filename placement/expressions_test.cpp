#include "placement/expressions.h"

#include <gtest/gtest.h>

namespace regatta::placement {
namespace {

using namespace std::chrono_literals;

WorkloadFacts workload() {
  WorkloadFacts w;
  w.key = {"research", "train"};
  w.queue = "main";
  w.labels = {{"team", "vision"}};
  w.kind = "jobs.batch";
  w.priority = 5;
  w.waited = 90s;
  w.region = "eu";
  w.pod_sets = {{{"cpu", 500}, {"nvidia.com/gpu", 8}}, {{"cpu", 1500}}};
  w.refusals["old"] = {"full", 60s};
  return w;
}

WorkerFacts worker() {
  WorkerFacts w;
  w.name = "east";
  w.labels = std::make_shared<const api::StringMap>(api::StringMap{{"gpu", "a100"}});
  w.region = "eu";
  w.price = 2500;
  w.workloads = 3;
  w.admits_after = std::chrono::milliseconds(1500);
  w.latency = std::chrono::milliseconds(20);
  w.in_flight = {{"cpu", 2000}};
  QueueFacts queue;
  queue.groups = {{{"spot", {{"cpu", {64000, 8000, {}, 16000, {}}}}}}};
  queue.pending = {{-1, 4}, {5, 2}, {9, 1}};
  w.queue = std::make_shared<const QueueFacts>(std::move(queue));
  return w;
}

Expressions::Verdict judged(const std::string& filter, const std::string& score,
                            const WorkerFacts& by = worker(), RoomKind room = RoomKind::free) {
  const auto made = Expressions::compile({filter, score});
  if (!made) return {.objection = made.error().what(), .score = {}, .no_score = {}};
  return (*made)->judge(workload(), Expressions::document_of(workload()), by, room);
}

TEST(Expressions, AFilterSeesTheWorkloadAndTheWorker) {
  for (const char* passes : {
           "worker.name == 'east' && worker.region == workload.region",
           "worker.labels.gpu == 'a100'",
           "worker.labels['gpu'] in ['a100', 'h100']",
           "worker.room == 'free'",
           "worker.price == 2.5",
           "worker.workloads < 5",
           "worker.admitsAfterSeconds == 1.5 && worker.latencySeconds == 0.02",
           "worker.waiting == 3",
           "worker.onTheWay['cpu'] == 2.0",
           "worker.flavors.spot.cpu.nominal - worker.flavors.spot.cpu.used == 48.0",
           "worker.flavors.spot.cpu.borrowable == 8.0",
           "workload.name == 'train' && workload.namespace == 'research'",
           "workload.queue == 'main' && workload.labels.team == 'vision'",
           "workload.kind == 'jobs.batch' && workload.priority == 5",
           "workload.requests.cpu == 2.0 && workload.requests['nvidia.com/gpu'] == 8.0",
           "workload.podSets.exists(p, has(p.cpu) && p.cpu == 0.5)",
           "workload.waitedSeconds == 90.0",
           "workload.refusedSecondsAgo['old'] == 60.0",
           "!(worker.name in workload.refusedSecondsAgo)",
       }) {
    EXPECT_EQ(judged(passes, "").objection, "") << passes;
  }
  EXPECT_EQ(judged("worker.labels.gpu == 'h100'", "").objection, "does not pass the worker-filter");
}

TEST(Expressions, WhatIsNotKnownIsAbsent) {
  WorkerFacts blank;
  blank.name = "west";
  EXPECT_EQ(judged("has(worker.price) || has(worker.waiting) || has(worker.flavors)", "", blank,
                   RoomKind::unknown)
                .objection,
            "does not pass the worker-filter");
  EXPECT_EQ(judged("has(worker.flavors)", "", worker(), RoomKind::unknown).objection,
            "does not pass the worker-filter")
      << "what is old is not known";
  EXPECT_EQ(judged("worker.price < 3.0", "", blank).objection,
            "cannot be judged by the worker-filter: no such key: price");
  EXPECT_EQ(judged("worker.labels.gpu", "").objection,
            "cannot be judged by the worker-filter: is string, not bool");
}

TEST(Expressions, AScoreIsANumberOrSaysWhyItIsNone) {
  EXPECT_EQ(judged("", "100.0 - worker.workloads * 10.0 + workload.priority").score, 75);
  EXPECT_EQ(judged("", "0.0 - worker.price").score, -2.5);
  const auto failed = judged("", "worker.rank");
  EXPECT_EQ(failed.score, std::nullopt);
  EXPECT_EQ(failed.no_score, "has no worker-score: no such key: rank");
  EXPECT_EQ(judged("", "worker.name").no_score,
            "has no worker-score: is string, not a finite number");
  EXPECT_EQ(judged("", "worker.price / 0.0").no_score,
            "has no worker-score: is double, not a finite number");
  EXPECT_EQ(judged("false", "worker.rank").no_score, "") << "it is not asked for";
}

TEST(Expressions, AnEvaluationHasALimit) {
  const std::string many = "[1,2,3,4,5,6,7,8,9,10]";
  const std::string endless = many + ".all(a, " + many + ".all(b, " + many + ".all(c, " + many +
                              ".all(d, a + b + c + d > 0))))";
  EXPECT_EQ(judged(endless, "").objection,
            "cannot be judged by the worker-filter: operation cancelled: actual cost limit "
            "exceeded");
}

TEST(Expressions, WhatCannotBeUsedNamesItsAnnotation) {
  const auto error = [](const std::string& filter, const std::string& score) {
    const auto made = Expressions::compile({filter, score});
    return made ? std::string() : std::string(made.error().what());
  };
  EXPECT_EQ(error("worker.name ==", "").substr(0, 49),
            "annotation multikueue.regatta.dev/worker-filter: ");
  EXPECT_EQ(error("", "cluster.name").substr(0, 48),
            "annotation multikueue.regatta.dev/worker-score: ");
  EXPECT_EQ(error("1 + 1", ""),
            "annotation multikueue.regatta.dev/worker-filter: must evaluate to bool, not int");
  EXPECT_EQ(error("", "'a'"),
            "annotation multikueue.regatta.dev/worker-score: must evaluate to a number, not "
            "string");
}

TEST(Expressions, AreCompiledOnceForEachText) {
  ExpressionCache cache;
  EXPECT_EQ(*cache.get({}), nullptr);
  const auto first = *cache.get({"true", ""});
  EXPECT_EQ(*cache.get({"true", ""}), first);
  EXPECT_NE(*cache.get({"true", "1"}), first);
  EXPECT_FALSE(cache.get({"tru", ""}));
}

TEST(Expressions, AreReadFromTheCheck) {
  const ExpressionTexts texts =
      expression_texts_of({{"multikueue.regatta.dev/worker-filter", "true"},
                           {"multikueue.regatta.dev/worker-score", "1"}});
  EXPECT_EQ(texts.filter, "true");
  EXPECT_EQ(texts.score, "1");
  EXPECT_TRUE(expression_texts_of({{"other", "x"}}).empty());
}

}  // namespace
}  // namespace regatta::placement
