#include "lib/base/temporary_folder.h"
#include "whatif/command/progress.h"
#include "whatif/command/simulate.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace regatta::whatif {
namespace {

namespace fs = std::filesystem;

/// Every look at the clock advances it.
class LeapingClock final : public Clock {
 public:
  TimePoint now() const override { return TimePoint(steady().time_since_epoch()); }
  SteadyPoint steady() const override {
    steady_ += std::chrono::seconds(20);
    return steady_;
  }
  Task<> sleep_until(SteadyPoint) override { co_return; }

 private:
  mutable SteadyPoint steady_{};
};

class SimulateCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    command_.simulation.paths = {"examples/hub", "examples/jobs"};
    for (const char* worker : {"a100", "h100", "cpu"}) {
      command_.simulation.workers.push_back(std::string(worker) + "=examples/workers/" + worker +
                                            ".yaml");
    }
    command_.simulation.until = "1h";
  }

  int run() { return run_simulation(command_, clock_, out_, err_); }
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }

  TemporaryFolder folder_;
  SimulateCommand command_;
  LeapingClock clock_;
  std::ostringstream out_, err_;
};

TEST_F(SimulateCommandTest, TheExamplesRunToTheirEnd) {
  command_.output = ReportOutput::json;
  EXPECT_EQ(run(), 0) << err_.str();
  const auto report = parse_json(out_.str());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->at("totals").at("submitted"), 4);
  EXPECT_EQ(report->at("totals").at("finished"), 4) << dump_json_pretty(report->at("workloads"));
  EXPECT_EQ(report->at("clusters"), (Json{"", "a100", "h100", "cpu"}));
}

TEST_F(SimulateCommandTest, PrintsTablesAndYaml) {
  EXPECT_EQ(run(), 0) << err_.str();
  EXPECT_NE(out_.str().find("4 finished"), std::string::npos) << out_.str();
  out_.str("");
  command_.output = ReportOutput::yaml;
  command_.format = {false, false};
  EXPECT_EQ(run(), 0) << err_.str();
  EXPECT_NE(out_.str().find("\ntotals:\n"), std::string::npos) << out_.str();
}

TEST_F(SimulateCommandTest, SaysEverythingThatIsWrongAndRunsNothing) {
  command_.simulation.paths = {write("bad.yaml", "apiVersion: v1\nkind: Namespace\n"),
                               "/nowhere.yaml"};
  command_.simulation.workers = {"east"};
  command_.simulation.until = "soon";
  command_.simulation.dispatcher = "round-robin";
  command_.simulation.events = write("events.yaml", "- {at: 1h}\n");
  EXPECT_EQ(run(), 1);
  EXPECT_EQ(out_.str(), "");
  for (const char* text :
       {"--until: \"soon\" is no duration", "--dispatcher: write one of all-at-once",
        "bad.yaml: Namespace: metadata.name: Required value", "/nowhere.yaml: no such file",
        "--worker: \"east\" is not NAME=PATH", "events.yaml: entry 1: nothing happens"}) {
    EXPECT_NE(err_.str().find(text), std::string::npos) << text << " in\n" << err_.str();
  }
}

TEST_F(SimulateCommandTest, SaysThatFlagsAreWrong) {
  command_.simulation.until = "0";
  command_.simulation.start = "noon";
  EXPECT_EQ(run(), 2);
  EXPECT_EQ(err_.str(),
            "regatta: --start: expected a time like 2026-01-01T00:00:00Z\n"
            "regatta: --until: must be longer than nothing\n");
}

TEST_F(SimulateCommandTest, WarnsOfWhatIsHardlyMeant) {
  const std::string queues = write("queues.yaml", R"(
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {namespace: dev, name: main},
 spec: {clusterQueue: flet}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: fleet}
spec:
  cohortName: a
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: t4, resources: [{name: cpu, nominalQuota: 2}]}]
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: a}, spec: {parentName: b}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: b}, spec: {parentName: a}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}
)");
  const std::string again = write("again.yaml", R"(
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: b}, spec: {parentName: a}}
)");
  command_.simulation.paths = {queues, again};
  command_.simulation.workers = {"east=" + write("east.yaml", "")};
  EXPECT_EQ(run(), 0);
  const std::string at = "warning: " + queues + ": document ";
  for (const std::string& text :
       {at + "1: LocalQueue dev/main: spec.clusterQueue: there is no ClusterQueue flet; its jobs "
             "wait\n",
        at + "2: ClusterQueue fleet: spec.resourceGroups[0].flavors[0].name: there is no "
             "ResourceFlavor t4; it admits nothing until that is applied\n",
        at + "3: Cohort a: spec.parentName: it is its own ancestor (a -> b -> a); the "
             "ClusterQueues below admit nothing\n",
        "warning: " + again + ": Cohort b: there already (" + queues +
            ": document 4); the later one counts\n",
        std::string("warning: --worker east: no MultiKueueConfig of the hub lists it; no job runs "
                    "there\n"),
        std::string("note: left out, because it has no effect here: 1 ConfigMap (v1)\n")}) {
    EXPECT_NE(err_.str().find(text), std::string::npos) << text << " in\n" << err_.str();
  }
  EXPECT_NE(out_.str().find("  fleet admits nothing: "), std::string::npos) << out_.str();
}

TEST_F(SimulateCommandTest, FilesThatAreNoTextAreNamed) {
  for (const std::string& bytes : {std::string("kind: Job\n\0", 11),
                                   std::string("\x7f"
                                               "ELF\x80"),
                                   std::string("\xff\xfek\0i\0", 6), std::string("a: \xc3")}) {
    err_.str("");
    command_.simulation.paths = {write("binary.yaml", bytes)};
    EXPECT_EQ(run(), 1);
    EXPECT_EQ(err_.str(), "regatta: " + command_.simulation.paths[0] +
                              ": is no text (UTF-8): a binary file?\n");
  }
  command_.simulation.paths = {write("text.yaml", "# grüße, 时间, 🙂\n")};
  EXPECT_EQ(run(), 0) << err_.str();
}

std::string cohort_below(const std::string& name, const std::string& parent) {
  return "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: " + name +
         "}, spec: {parentName: " + parent + "}}\n";
}

TEST_F(SimulateCommandTest, WarnsOfTooManyCohortsInARowAndOfACircleThatOthersLeadInto) {
  std::string cohorts = cohort_below("a", "d") + cohort_below("d", "e") + cohort_below("e", "d");
  for (int i = 1; i <= 101; ++i) {
    cohorts += cohort_below("c" + std::to_string(i), "c" + std::to_string(i - 1));
  }
  command_.simulation.paths = {write("cohorts.yaml", cohorts)};
  EXPECT_EQ(run(), 0);
  const std::string warnings = err_.str();
  for (const char* text : {"Cohort d: spec.parentName: it is its own ancestor (d -> e -> d)",
                           "Cohort c100: spec.parentName: 100 Cohorts stand above it already"}) {
    EXPECT_NE(warnings.find(text), std::string::npos) << text << " in\n" << warnings;
  }
  EXPECT_EQ(warnings.find("Cohort c101: spec.parentName"), std::string::npos) << warnings;
}

TEST_F(SimulateCommandTest, FoldersAreReadOnceThoughLinksLeadInCircles) {
  const auto ns = [](const std::string& name) {
    return "{apiVersion: v1, kind: Namespace, metadata: {name: " + name + "}}\n";
  };
  for (const char* name : {"in", "in/sub", "in/.hidden", "elsewhere"}) {
    fs::create_directory(folder_ / name);
  }
  write("in/a.yaml", ns("a"));
  write("in/sub/b.yaml", ns("b"));
  write("in/.hidden/c.yaml", "{apiVersion: v1, kind: Namespac}");
  write("in/.d.yaml", "{apiVersion: v1, kind: Namespac}");
  write("elsewhere/e.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: e}}");
  fs::create_directory_symlink(folder_ / "elsewhere", folder_ / "in/linked");
  fs::create_directory_symlink(folder_ / "in", folder_ / "in/sub/one");
  fs::create_directory_symlink(folder_ / "in", folder_ / "in/sub/two");
  command_.simulation.workers = {};
  command_.simulation.paths = {(folder_ / "in").string()};
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(err_.str().find("warning:"), std::string::npos) << "read twice: " << err_.str();
  EXPECT_NE(err_.str().find("note: left out, because it has no effect here: 1 ConfigMap (v1)\n"),
            std::string::npos)
      << err_.str();
}

TEST_F(SimulateCommandTest, WhatFilesHoldDoesNotControlTheTerminal) {
  command_.simulation.paths = {write("a.yaml", "{apiVersion: v1, kind: \"a\\e[31m\"}")};
  run();
  EXPECT_EQ(err_.str().find('\x1b'), std::string::npos) << err_.str();
  EXPECT_NE(err_.str().find("a [31m"), std::string::npos) << err_.str();
}

TEST_F(SimulateCommandTest, NamespacesWithoutManifestAreThere) {
  command_.simulation.workers = {};
  command_.simulation.paths = {write("queue.yaml", R"(
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: q}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: f, resources: [{name: cpu, nominalQuota: 2}]}]
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {namespace: dev, name: main},
 spec: {clusterQueue: q}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: dev, labels: {kueue.x-k8s.io/queue-name: main}}
spec: {template: {spec: {restartPolicy: Never,
       containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}
)")};
  command_.simulation.events = write("events.yaml", "- {at: 2h, delete: Job dev/j}\n");
  EXPECT_EQ(run(), 0);
  EXPECT_NE(out_.str().find("1 finished"), std::string::npos) << out_.str();
  const std::string notes =
      "note: " + command_.simulation.events +
      ": 1 event comes after the end (--until 1h), the first at "
      "2026-01-01T02:00:00Z\n"
      "note: no manifest defines these namespaces, so they have no labels: dev\n";
  EXPECT_TRUE(err_.str().starts_with(notes)) << err_.str();
}

TEST_F(SimulateCommandTest, WhatIsKnownIsPrintedWhenItIsInterrupted) {
  command_.simulation.events = write("events.yaml", "- {at: 30m, delete: Job a/b}\n");
  command_.interrupted = [] { return true; };
  EXPECT_EQ(run(), 130);
  EXPECT_NE(out_.str().find("interrupted before its end"), std::string::npos) << out_.str();
  EXPECT_NE(err_.str().find("interrupted after "), std::string::npos) << err_.str();
}

constexpr const char* two_gpus = R"(
{apiVersion: v1, kind: Namespace, metadata: {name: dev}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: t4}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: team}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: fleet}
spec:
  cohortName: team
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{name: t4, resources: [{name: nvidia.com/gpu, nominalQuota: 2}]}]
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {namespace: dev, name: main},
 spec: {clusterQueue: fleet}}
)";

constexpr const char* four_gpus = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: fleet}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{name: t4, resources: [{name: nvidia.com/gpu, nominalQuota: 4}]}]
)";

std::string gpu_job(const std::string& name) {
  return R"(---
apiVersion: batch/v1
kind: Job
metadata: {namespace: dev, name: )" +
         name + R"(, labels: {kueue.x-k8s.io/queue-name: main}}
spec:
  suspend: true
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: i,
    resources: {requests: {nvidia.com/gpu: 2}, limits: {nvidia.com/gpu: 2}}}]}}
)";
}

/// Two jobs of ten minutes that need all of two GPUs each.
class OneQueueTest : public SimulateCommandTest {
 protected:
  void SetUp() override {
    SimulateCommandTest::SetUp();
    command_.simulation.workers.clear();
    command_.simulation.paths = {
        write("queues.yaml", two_gpus + gpu_job("first") + gpu_job("second"))};
  }
  bool says(const std::string& text) const { return out_.str().find(text) != std::string::npos; }
};

TEST_F(OneQueueTest, IsComparedWithAnotherConfigurationForTheSameJobs) {
  command_.simulation.name = "two";
  command_.compared = command_.simulation;
  command_.compared->name = "four";
  command_.compared->base_paths = command_.simulation.paths;
  command_.compared->paths = {write("other.yaml", four_gpus)};
  command_.plot = (folder_ / "plot.svg").string();
  EXPECT_EQ(run(), 0) << err_.str();
  EXPECT_TRUE(says("two against four")) << out_.str();
  EXPECT_TRUE(says("dev/second")) << "waits ten minutes with two, not with four\n" << out_.str();
  EXPECT_FALSE(says("dev/first")) << out_.str();
  std::ifstream plot(command_.plot);
  const std::string svg((std::istreambuf_iterator<char>(plot)), std::istreambuf_iterator<char>());
  EXPECT_NE(svg.find("four: all queues"), std::string::npos);

  out_.str("");
  command_.output = ReportOutput::json;
  EXPECT_EQ(run(), 0) << err_.str();
  const auto json = parse_json(out_.str());
  ASSERT_TRUE(json);
  EXPECT_EQ(json->at("comparison").at("workloads").at(0).at("waitedBefore"), 601)
      << "one second for the queue to wake";
  EXPECT_EQ(json->at("comparison").at("workloads").at(0).at("waitedAfter"), 0);
  EXPECT_EQ(json->at("after").at("totals").at("finished"), 2);
}

TEST_F(OneQueueTest, TellsWhyAJobWaitsAtSomeTime) {
  command_.explain = {*parse_wish("dev/second@5m")};
  EXPECT_EQ(run(), 0) << err_.str();
  EXPECT_TRUE(says("It waits for quota")) << out_.str();
  EXPECT_TRUE(says("or wait for dev/job-first")) << out_.str();

  out_.str("");
  command_.output = ReportOutput::json;
  command_.explain = {*parse_wish("dev/second"), *parse_wish("dev/first@2026-01-01T00:01:00Z"),
                      *parse_wish("dev/nobody@1m")};
  EXPECT_EQ(run(), 1) << "of one nothing is known";
  const auto json = parse_json(out_.str());
  ASSERT_TRUE(json);
  EXPECT_EQ(json->at(0).at("standing"), "Finished");
  EXPECT_NE(dump_json(json->at(0)).find("ended after 20m1s"), std::string::npos) << json->at(0);
  EXPECT_EQ(json->at(1).at("standing"), "Admitted");
  EXPECT_EQ(json->at(2).at("summary"), "There is no Workload or Job dev/nobody at that time.");
}

TEST_F(SimulateCommandTest, TellsWhichWorkerRunsAJob) {
  command_.output = ReportOutput::json;
  command_.explain = {*parse_wish("team-product/train@1s")};
  EXPECT_EQ(run(), 0) << err_.str();
  const auto json = parse_json(out_.str());
  ASSERT_TRUE(json);
  ASSERT_TRUE(json->contains("multiKueue")) << out_.str();
  const auto winner = json->at("multiKueue").at("clusterName").get<std::string>();
  EXPECT_EQ(json->at("onClusters").at(winner).at("standing"), "Admitted");
}

TEST_F(SimulateCommandTest, SaysWhatIsWrongWithAWish) {
  command_.explain = {*parse_wish("a/b@soon")};
  EXPECT_EQ(run(), 1);
  EXPECT_NE(err_.str().find("the time is neither like 90m"), std::string::npos) << err_.str();
  command_.explain = {*parse_wish("a/b@2h")};
  err_.str("");
  EXPECT_EQ(run(), 1);
  EXPECT_NE(err_.str().find("the simulation lasts from"), std::string::npos) << err_.str();
  for (const char* text : {"a", "/b", "a/", "a/b/c", "a/b@", "@1h", "a@1h"}) {
    EXPECT_FALSE(parse_wish(text)) << text;
  }
}

TEST_F(SimulateCommandTest, APictureThatCannotBeWrittenIsSaidAtOnce) {
  command_.plot = "/nowhere/plot.svg";
  EXPECT_EQ(run(), 1);
  EXPECT_EQ(out_.str(), "");
  EXPECT_NE(err_.str().find("--plot /nowhere/plot.svg: cannot be written"), std::string::npos);
}

TEST(Inherit, TakesEveryKindThatTheOtherOneHasNothingOf) {
  const auto named = [](auto object, const char* name) {
    object.metadata.name = name;
    return Object(std::move(object));
  };
  const std::vector<Object> base = {named(api::Cohort(), "old"), named(api::ClusterQueue(), "old"),
                                    named(api::Job(), "job")};
  const auto texts = [&](std::vector<Object> own) {
    std::string out;
    for (const Object& object : inherit(base, std::move(own))) out += describe(object) + ", ";
    return out;
  };
  EXPECT_EQ(texts({}), "Cohort old, ClusterQueue old, Job job, ");
  EXPECT_EQ(texts({named(api::ClusterQueue(), "new")}), "Job job, ClusterQueue new, ");
  EXPECT_EQ(texts({named(api::Job(), "new")}), "Cohort old, ClusterQueue old, Job new, ");
}

TEST(ProgressBar, IsABarOnATerminalAndPlainLinesElsewhere) {
  const Progress progress{std::chrono::hours(12), std::chrono::hours(24), 5, 10, 3};
  EXPECT_EQ(progress_line(progress),
            "[###############---------------]  50 %  12h of 1d, 5 of 10 events, 3 jobs unfinished");
  LeapingClock clock;
  std::ostringstream lines, terminal;
  {
    ProgressBar plain(lines, false, clock);
    plain.show(progress);
    ProgressBar bar(terminal, true, clock);
    bar.show(progress);
  }
  EXPECT_EQ(lines.str(), progress_line(progress) + "\n");
  EXPECT_TRUE(terminal.str().starts_with("\r["));
  EXPECT_TRUE(terminal.str().ends_with(" \r"));
}

}  // namespace
}  // namespace regatta::whatif
