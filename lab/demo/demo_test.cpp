#include "lab/demo/board.h"
#include "lab/demo/nominator.h"
#include "lab/demo/summary.h"
#include "lab/federation/examples.h"
#include "lib/api/names.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::lab {
namespace {

using namespace std::chrono_literals;

std::vector<DemoJob> mix(int count, std::uint64_t seed,
                         const std::vector<std::string>& kinds = {"job"}) {
  const auto examples = manifest::objects_below(lab::examples(), "examples/jobs/");
  EXPECT_TRUE(examples);
  Rng rng(seed);
  auto jobs = mix_jobs(*examples, *raced_kinds(kinds), count, rng);
  EXPECT_TRUE(jobs) << jobs.error().what();
  return *jobs;
}

std::string text_of(const std::vector<DemoJob>& jobs) {
  std::string out;
  for (const DemoJob& job : jobs) out += dump_json(job.objects.front()) + "\n";
  return out;
}

TEST(JobMix, IsDecidedByTheSeed) {
  EXPECT_EQ(text_of(mix(30, 7)), text_of(mix(30, 7)));
  EXPECT_NE(text_of(mix(30, 7)), text_of(mix(30, 8)));
}

TEST(JobMix, JobsAreQueuedAndLeftToMultiKueue) {
  std::set<std::string> namespaces, kinds;
  for (const DemoJob& job : mix(100, 1)) {
    namespaces.insert(job.key.ns);
    kinds.insert(job.kind);
    EXPECT_EQ(job.objects.front()["spec"]["suspend"], true);
    EXPECT_EQ(job.objects.front()["spec"]["managedBy"], "kueue.x-k8s.io/multikueue");
    if (job.kind == "train") {
      EXPECT_EQ(job.accelerators, 4);  // two processes of two
      EXPECT_EQ(job.cpu_milli, 16000);
    }
  }
  EXPECT_EQ(namespaces.size(), 2u);
  EXPECT_EQ(kinds.size(), 4u);
}

TEST(JobMix, JobsOfOtherKindsHaveThePodOfAnExample) {
  std::map<std::string, int> kinds;
  for (const DemoJob& job : mix(100, 1, {"job", "jobset", "rayjob"})) {
    const std::string kind(job.resource.kind);
    ++kinds[kind];
    EXPECT_EQ(job.objects.front()["kind"], kind);
    EXPECT_EQ(job.objects.front()["metadata"]["labels"]["kueue.x-k8s.io/queue-name"], "default");
    EXPECT_EQ(job.objects.front()["metadata"]["name"], job.key.name);
    EXPECT_EQ(job.objects.front()["spec"]["managedBy"], "kueue.x-k8s.io/multikueue");
    EXPECT_GT(job.cpu_milli, 0);
    if (kind == "JobSet") EXPECT_EQ(job.kind, "jobset");
  }
  EXPECT_EQ(kinds.size(), 3u);
}

TEST(JobMix, NamesAreAsWideAsTheyMustBe) {
  EXPECT_EQ(mix(3, 1).front().key.name, "job-01");
  EXPECT_EQ(mix(1000, 1).front().key.name, "job-0001");
  EXPECT_EQ(mix(1000, 1).back().key.name, "job-1000");
}

TEST(JobMix, CountsHaveLimits) {
  Rng rng(1);
  const auto examples = manifest::objects_below(lab::examples(), "examples/jobs/");
  const auto kinds = raced_kinds({"job"});
  EXPECT_FALSE(mix_jobs(*examples, *kinds, 0, rng));
  EXPECT_FALSE(mix_jobs(*examples, *kinds, demo_jobs_max + 1, rng));
  EXPECT_FALSE(mix_jobs({}, *kinds, 1, rng));
}

class RaceTest : public ::testing::Test {
 protected:
  RaceTest() : race({"a100", "cpu"}, {{"a100", {96000, 8}}, {"cpu", {64000, 0}}}) {
    DemoJob job;
    job.key = key;
    job.kind = "train";
    job.cpu_milli = 16000;
    job.accelerators = 4;
    job.objects.resize(1);
    race.submitted(job, TimePoint(1000ms));
  }
  void workload(std::string winner, bool admitted, TimePoint now) {
    api::Workload object;
    object.metadata.ns = key.ns;
    object.metadata.name = "job-job-01-abc";
    api::OwnerReference owner;
    owner.kind = "Job";
    owner.name = key.name;
    owner.controller = true;
    object.metadata.owner_references.push_back(owner);
    if (!winner.empty()) object.status.cluster_name = winner;
    api::Condition condition;
    condition.type = api::conditions::admitted;
    condition.status = api::ConditionStatus::True;
    if (admitted) object.status.conditions.push_back(condition);
    race.hub_workload(object, now);
  }
  void finish() { race.hub_job(key, key.name, {.complete = true}, TimePoint(5000ms)); }
  const Runner& runner() { return race.runners().at(key); }

  api::ObjectKey key{"team-product", "job-01"};
  api::ObjectKey copy{"team-product", "job-job-01-abc"};
  Race race;
};

TEST_F(RaceTest, FollowsAJobFromPendingToFinished) {
  EXPECT_EQ(describe(runner()), "pending");
  workload("", false, TimePoint(1100ms));
  race.worker_copy("cpu", copy, true);
  race.worker_copy("a100", copy, true);
  EXPECT_EQ(describe(runner()), "racing on a100, cpu");
  race.worker_copy("cpu", copy, false);
  workload("a100", true, TimePoint(1400ms));
  EXPECT_EQ(describe(runner()), "won by a100");
  const JobSeen job{.started = true};
  race.worker_job("a100", key, key.name, &job);
  EXPECT_EQ(describe(runner()), "running on a100");
  EXPECT_EQ(race.lanes().at("a100").used.accelerators, 4);
  EXPECT_FALSE(race.over());
  race.worker_job("a100", key, key.name, nullptr);
  finish();
  EXPECT_EQ(describe(runner()), "finished on a100");
  EXPECT_TRUE(race.over());
  const Summary summary = summarise(race, 4s);
  EXPECT_TRUE(summary.holds());
  EXPECT_EQ(summary.wins.at("a100"), 1);
  EXPECT_EQ(summary.wins.at("cpu"), 0);
  EXPECT_EQ(summary.admission_p50, 400ms);
}

TEST(Race, AGroupRunsWhileOneOfItsPodsDoesAndEndsWithTheLast) {
  Race race({"cpu"}, {});
  DemoJob group;
  group.key = {"team-product", "job-01"};
  group.objects.resize(2);
  race.submitted(group, TimePoint(0ms));
  const Runner& runner = race.runners().at(group.key);
  const JobSeen runs{.started = true}, ended{.started = true, .complete = true};
  race.worker_job("cpu", group.key, "job-01-0", &runs);
  race.worker_job("cpu", group.key, "job-01-1", &runs);
  race.worker_job("cpu", group.key, "job-01-0", &ended);
  EXPECT_EQ(describe(runner), "running on cpu");
  race.hub_job(group.key, "job-01-0", ended, TimePoint(1ms));
  race.hub_job(group.key, "job-01-0", ended, TimePoint(2ms));
  EXPECT_FALSE(race.over());
  race.worker_job("cpu", group.key, "job-01-1", nullptr);
  EXPECT_TRUE(runner.running_on.empty());
  race.hub_job(group.key, "job-01-1", ended, TimePoint(3ms));
  EXPECT_TRUE(race.over());
  EXPECT_EQ(describe(runner), "finished on cpu");
}

TEST_F(RaceTest, CopiesSeenBeforeTheHubsWorkloadCount) {
  race.worker_copy("cpu", copy, true);
  workload("", false, TimePoint(1100ms));
  EXPECT_EQ(describe(runner()), "racing on cpu");
}

TEST_F(RaceTest, AJobThatRanTwiceIsFound) {
  const JobSeen job{.started = true};
  race.worker_job("a100", key, key.name, &job);
  race.worker_job("a100", key, key.name, nullptr);
  race.worker_job("cpu", key, key.name, &job);
  finish();
  const Summary summary = summarise(race, 4s);
  EXPECT_FALSE(summary.holds());
  ASSERT_EQ(summary.ran_twice.size(), 1u);
  EXPECT_EQ(summary.ran_twice[0], "team-product/job-01 on a100, cpu");
  EXPECT_NE(to_text(summary).find("FAIL  1 jobs ran on two clusters"), std::string::npos);
}

TEST_F(RaceTest, ASuspendedCopyOfTheJobDoesNotRun) {
  const JobSeen job;
  race.worker_job("a100", key, key.name, &job);
  EXPECT_TRUE(runner().ran_on.empty());
}

TEST_F(RaceTest, TheBoardFitsTheScreen) {
  const JobSeen job{.started = true};
  race.worker_job("a100", key, key.name, &job);
  for (int i = 2; i < 60; ++i) {
    DemoJob more;
    more.key = api::ObjectKey("team-product", "job-" + std::to_string(i));
    race.submitted(more, TimePoint(1000ms));
  }
  const auto lines = draw_board(race, 2500ms, {60, 20}, false);
  EXPECT_LE(lines.size(), 19u);
  for (const std::string& line : lines) EXPECT_LT(line.size(), 60u) << line;
  EXPECT_EQ(lines[0], "2.5s       58 pending 1 running");
  EXPECT_EQ(lines[1], "a100       cpu [####....................] 16/96   gpu 4/8");
  EXPECT_EQ(lines[3].substr(0, 6), "job-01");
  EXPECT_NE(lines.back().find("more"), std::string::npos);
}

TEST(Percentile, IsTheNearestRank) {
  EXPECT_EQ(percentile({}, 50), 0ms);
  EXPECT_EQ(percentile({30ms, 10ms, 20ms}, 50), 20ms);
  EXPECT_EQ(percentile({30ms, 10ms, 20ms}, 95), 30ms);
  EXPECT_EQ(percentile({10ms, 20ms}, 50), 10ms);
}

TEST(Requests, OfTheEmbeddedServerAreTheManagers) {
  const Json report = *parse_json(R"({"requests":[
    {"userAgent":"regatta-manager/0.1.0","verb":"patch","resource":"workloads","count":5},
    {"userAgent":"regatta-manager/0.1.0","verb":"patch","resource":"leases","count":9},
    {"userAgent":"kubectl/v1.35","verb":"get","resource":"jobs","count":7}]})");
  EXPECT_EQ(manager_requests(report), (Requests{{"lease", 9}, {"patch", 5}}));
}

TEST(Requests, OfARealServerComeFromItsMetrics) {
  const char* text =
      "# TYPE apiserver_request_total counter\n"
      "apiserver_request_total{code=\"200\",resource=\"workloads\",verb=\"PATCH\"} 3\n"
      "apiserver_request_total{code=\"409\",resource=\"workloads\",verb=\"PATCH\"} 1\n"
      "apiserver_request_total{code=\"200\",resource=\"jobs\",verb=\"LIST\"} 1.2e+01\n"
      "apiserver_request_total_other 4\n";
  EXPECT_EQ(all_requests(text), (Requests{{"list", 12}, {"patch", 4}}));
  EXPECT_EQ(difference({{"list", 10}, {"patch", 4}}, all_requests(text)), (Requests{{"list", 2}}));
}

api::Workload reserved_at(TimePoint t) {
  api::Workload workload;
  workload.metadata.ns = "n";
  workload.metadata.name = "w";
  api::Condition condition;
  condition.type = api::conditions::quota_reserved;
  condition.status = api::ConditionStatus::True;
  condition.last_transition_time = t;
  workload.status.conditions.push_back(condition);
  return workload;
}

TEST(Nominate, OneFirstThenEverybody) {
  const std::vector<std::string> workers = {"a", "b", "c"};
  api::Workload workload = reserved_at(TimePoint(10s));
  EXPECT_FALSE(nominate(api::Workload(), workers, TimePoint(10s)));
  const auto first = nominate(workload, workers, TimePoint(10s));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->size(), 1u);
  workload.status.nominated_cluster_names = *first;
  EXPECT_FALSE(nominate(workload, workers, TimePoint(10500ms)));
  EXPECT_EQ(nominate(workload, workers, TimePoint(11s)), workers);
  workload.status.nominated_cluster_names = workers;
  EXPECT_FALSE(nominate(workload, workers, TimePoint(20s)));
  workload.status.nominated_cluster_names.clear();
  workload.status.cluster_name = "a";
  EXPECT_FALSE(nominate(workload, workers, TimePoint(20s)));
}

}  // namespace
}  // namespace regatta::lab
