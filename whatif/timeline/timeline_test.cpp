#include "whatif/timeline/timeline.h"

#include "whatif/timeline/distribution.h"
#include "whatif/timeline/duration.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::whatif {
namespace {

const TimePoint start = *parse_rfc3339("2026-01-01T00:00:00Z");

Timeline read(std::string_view text) {
  ManifestReader reader(start);
  return read_timeline(text, "events.yaml", start, &reader);
}

const api::Job& job_of(const TimedEvent& event) {
  return std::get<api::Job>(std::get<Object>(event.what));
}

constexpr const char* job = R"~({apiVersion: batch/v1, kind: Job, metadata: {name: j,
  labels: {kueue.x-k8s.io/queue-name: lq}}, spec: {template: {spec: {restartPolicy: Never,
  containers: [{name: c, image: i, resources: {requests: {cpu: "$(size)"}}}]}}}})~";

TEST(Durations, AreReadAndWritten) {
  const std::pair<const char*, std::int64_t> rows[] = {
      {"90s", 90'000}, {"1h30m", 5'400'000}, {"1.5h", 5'400'000},
      {"250ms", 250},  {"2d", 172'800'000},  {"7", 7000},
      {"0", 0}};
  for (const auto& [text, millis] : rows) {
    ASSERT_TRUE(parse_duration(text)) << text;
    EXPECT_EQ(parse_duration(text)->count(), millis) << text;
  }
  for (const char* text : {"", "h", "-3s", "3x", "3s4", "1e300h", "nan", "99999d"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
  EXPECT_EQ(format_duration(Duration(5'430'000)), "1h30m");
  EXPECT_EQ(format_duration(Duration(45'000)), "45s");
  EXPECT_EQ(format_duration(Duration(86'400'000 + 5000)), "1d");
  EXPECT_EQ(format_duration(Duration(250)), "250ms");
}

TEST(Timeline, TakesEveryKindOfEntryInOrderOfTime) {
  const Timeline out = read(R"(
- {at: 2h, scale: {clusterQueue: cq, flavor: f, resource: cpu, nominalQuota: 7}}
- {at: 1h, delete: Job team-a/train}
- {at: 1h, delete: ClusterQueue cq}
- {at: "2026-01-01T03:00:00Z", node: n1, ready: false}
- {at: 4h, cluster: east, connected: false}
- at: 30m
  apply:
  - {apiVersion: v1, kind: Namespace, metadata: {name: a}}
)");
  EXPECT_EQ(out.errors, std::vector<std::string>());
  ASSERT_EQ(out.events.size(), 6u);
  EXPECT_EQ(describe(std::get<Object>(out.events[0].what)), "Namespace a");
  EXPECT_EQ(std::get<ObjectName>(out.events[1].what), (ObjectName{"Job", {"team-a", "train"}}));
  EXPECT_EQ(std::get<ObjectName>(out.events[2].what).kind, "ClusterQueue");
  EXPECT_EQ(std::get<ScaleQuota>(out.events[3].what).nominal_quota, api::Quantity(7));
  EXPECT_EQ(out.events[4].at, start + std::chrono::hours(3));
  EXPECT_EQ(out.events[5].cluster, "east");
}

TEST(Timeline, JsonLinesWillDo) {
  const Timeline out = read(
      "{\"at\": \"1m\", \"delete\": \"Job a/b\"}\n\n"
      "{\"at\": 5, \"delete\": \"Job a/c\"}\n");
  EXPECT_EQ(out.errors, std::vector<std::string>());
  ASSERT_EQ(out.events.size(), 2u);
  EXPECT_EQ(out.events[0].at, start + std::chrono::seconds(5));
}

TEST(Timeline, SaysWhichEntryIsWrong) {
  const Timeline out = read(R"(
- {at: soon, delete: Job a/b}
- {at: 1h}
- {at: 1h, delete: b}
- {at: 1h, node: n1}
- {at: 1h, apply: {apiVersion: v1, kind: Namespace}}
- arrivals: {template: {}, until: 1h}
- arrivals: {template: {}, until: 1h, count: 3, colour: red}
)");
  const std::vector<std::string> wanted{
      "events.yaml: entry 1: at: \"soon\" is no duration; write 90s, 1h30m, 2d or a number of "
      "seconds",
      "events.yaml: entry 2: nothing happens; write apply, delete, scale, node, connected or "
      "arrivals",
      "events.yaml: entry 3: delete: write the kind and the name: \"Job team-a/train\"",
      "events.yaml: entry 4: ready: expected true or false",
      "events.yaml: entry 5: apply: metadata.name: Required value: name or generateName is "
      "required",
      "events.yaml: entry 6: arrivals: write one of count, every and perHour",
      "events.yaml: entry 7: arrivals: colour: unknown field"};
  EXPECT_EQ(out.errors, wanted);
}

TEST(Timeline, ASlipDoesNotGoUnnoticed) {
  const Timeline out = read(R"(
- {at: 1h, delete: Job a/b, clutser: east}
- {at: 1h, delete: Job a/b, node: n1, ready: true}
- {at: 1h, delete: Jobs a/b}
- {at: 1h, delete: LimitRange a/b}
- {at: 1h, connected: false, cluster: east, ready: true}
- {at: 1h, scale: {clusterQueue: a, flavor: f, resource: cpu, nominalQuota: -1}}
- {at: 1h, scale: {clusterQueue: a, flavor: f, resource: cpu, nominalQuota: 1, borrowingLimit: 2}}
- {at: 1h, arrivals: {template: {}, until: 1h, count: 3}}
- {arrivals: {template: {}, until: 1h, perhour: 3}}
)");
  const std::vector<std::string> wanted{
      "events.yaml: entry 1: clutser: unknown field; did you mean \"cluster\"?",
      "events.yaml: entry 2: delete and node: write an entry for each",
      "events.yaml: entry 3: delete: a Jobs cannot be deleted here; did you mean \"Job\"?",
      "events.yaml: entry 4: delete: a LimitRange cannot be deleted here",
      "events.yaml: entry 5: ready: unknown field",
      "events.yaml: entry 6: scale.nominalQuota: must not be negative",
      "events.yaml: entry 7: scale: borrowingLimit: unknown field",
      "events.yaml: entry 8: at: arrivals say from and until instead",
      "events.yaml: entry 9: arrivals: perhour: unknown field; did you mean \"perHour\"?"};
  EXPECT_EQ(out.errors, wanted);
}

TEST(Timeline, AKeyThatComesTwiceInAJsonLineIsRefused) {
  const Timeline fine = read(
      "{\"at\": 1, \"delete\": \"Job a/b\"}\n"
      "{\"at\": 2, \"scale\": {\"clusterQueue\": \"q\", \"flavor\": \"f\","
      " \"resource\": \"cpu\", \"nominalQuota\": 1}}\n");
  EXPECT_EQ(fine.errors, std::vector<std::string>());
  EXPECT_EQ(fine.events.size(), 2u);
  const Timeline twice = read(
      "{\"at\": 1, \"delete\": \"Job a/b\"}\n"
      "{\"at\": 2, \"delete\": \"Job a/b\", \"at\": 3}\n");
  EXPECT_EQ(twice.errors,
            std::vector<std::string>{"events.yaml: line 2: key \"at\" is there already"});
}

TEST(Arrivals, AreTheSameForTheSameSeed) {
  const std::string text = std::string("- arrivals:\n    template: ") + job +
                           "\n    until: 24h\n    count: 200\n    seed: 7\n"
                           "    pick: {size: [1, {value: 8, weight: 0.5}]}\n"
                           "    runSeconds: {distribution: exponential, mean: 600, max: 3600}\n";
  const Timeline once = read(text);
  const Timeline again = read(text);
  EXPECT_EQ(once.errors, std::vector<std::string>());
  ASSERT_EQ(once.events.size(), 200u);
  int large = 0;
  for (std::size_t i = 0; i < once.events.size(); ++i) {
    EXPECT_EQ(job_of(once.events[i]), job_of(again.events[i]));
    EXPECT_EQ(job_of(once.events[i]).metadata.name, "j-" + std::to_string(i));
    const auto& spec = job_of(once.events[i]).spec.pod_template.spec();
    large += spec.containers[0].resources.requests.at("cpu") == api::Quantity(8);
  }
  EXPECT_NEAR(large, 67, 20);
}

TEST(Arrivals, ComeAtTheRateAndWhenItIsBusy) {
  const auto count = [](const std::string& how) {
    const Timeline out = read(std::string("- arrivals: {template: ") + job +
                              ", pick: {size: [1]}, until: 10h, " + how + "}");
    EXPECT_EQ(out.errors, std::vector<std::string>());
    std::size_t late = 0;
    for (const auto& event : out.events) late += event.at >= start + std::chrono::hours(5);
    return std::pair(out.events.size(), late);
  };
  EXPECT_EQ(count("every: 1h").first, 10u);
  EXPECT_NEAR(double(count("perHour: 60").first), 600, 80);
  EXPECT_EQ(count("count: 100, weights: [0, 1]"), (std::pair<std::size_t, std::size_t>(100, 100)));
}

TEST(Arrivals, PlaceholdersReachIntoWhatWasPicked) {
  const Timeline out = read(R"~(
- arrivals:
    until: 1h
    count: 3
    pick: {class: [{gpus: 4, run: {distribution: constant, value: 90}}]}
    runSeconds: $(class.run)
    template: {apiVersion: batch/v1, kind: Job, metadata: {name: "g$(class.gpus)-$(index)"},
      spec: {parallelism: $(class.gpus), template: {spec: {restartPolicy: Never,
        containers: [{name: c, image: i}]}}}}
)~");
  EXPECT_EQ(out.errors, std::vector<std::string>());
  ASSERT_EQ(out.events.size(), 3u);
  EXPECT_EQ(job_of(out.events[2]).metadata.name, "g4-2");
  EXPECT_EQ(job_of(out.events[2]).spec.parallelism, 4);
  EXPECT_EQ(job_of(out.events[2]).metadata.annotation("sandbox.regatta.dev/run-seconds"), "90.000");
}

TEST(Distributions, HaveTheMeanTheyClaim) {
  const auto mean = [](const char* text) {
    const auto distribution = Distribution::read(*parse_json(text));
    Rng rng(3);
    double sum = 0;
    for (int i = 0; i < 20000; ++i) sum += distribution->draw(&rng);
    return sum / 20000;
  };
  EXPECT_NEAR(mean(R"({"distribution": "exponential", "mean": 100})"), 100, 3);
  EXPECT_NEAR(mean(R"({"distribution": "uniform", "min": 50, "max": 150})"), 100, 2);
  EXPECT_NEAR(mean(R"({"distribution": "lognormal", "median": 100, "sigma": 0.5})"), 113.3, 4);
  EXPECT_FALSE(Distribution::read(*parse_json(R"({"distribution": "cauchy"})")));
}

}  // namespace
}  // namespace regatta::whatif
