#include "lib/kube/events.h"

#include "lib/kube/kube_test.h"

namespace regatta::kube {
namespace {

using namespace std::chrono_literals;

struct EventsTest : KubeTest {
  EventRecorderOptions options() {
    EventRecorderOptions options;
    options.component = "kueue-admission";
    options.instance = "pod-1";
    return options;
  }
  std::unique_ptr<EventRecorder> recorder;
  EventSubject job{"batch/v1", "Job", "ns", "a", "u1", "5"};

  void begin(EventRecorderOptions with) {
    recorder = std::make_unique<EventRecorder>(client, world, world.rng, world.executor(), Log(),
                                               std::move(with));
    server.otherwise = [](const net::HttpRequest&) { return net::HttpResponse(201, "{}"); };
    scope.spawn("events", recorder->run());
    world.settle();
  }
  void begin() { begin(options()); }
  void say(const std::string& reason, const std::string& message) {
    recorder->event(job, EventType::normal, reason, message);
  }
  Json body(std::size_t i) const { return Json::parse(server.seen.at(i).body); }
};

TEST_F(EventsTest, SaysWhatHappenedToWhom) {
  begin();
  say("Started", "Admitted by clusterQueue cq");
  world.settle();
  ASSERT_EQ(server.seen.size(), 1u);
  EXPECT_EQ(server.line(0), "POST /api/v1/namespaces/ns/events?fieldManager=regatta");
  const Json event = body(0);
  EXPECT_EQ(event["involvedObject"].dump(),
            R"({"apiVersion":"batch/v1","kind":"Job","name":"a","namespace":"ns","uid":"u1"})");
  EXPECT_EQ(event["type"], "Normal");
  EXPECT_EQ(event["reason"], "Started");
  EXPECT_EQ(event["message"], "Admitted by clusterQueue cq");
  EXPECT_EQ(event["source"]["component"], "kueue-admission");
  EXPECT_EQ(event["firstTimestamp"], "2026-01-01T00:00:00Z");
  EXPECT_EQ(event["count"], 1);
  EXPECT_EQ(event["metadata"]["name"].get<std::string>().substr(0, 2), "a.");
}

TEST_F(EventsTest, RepeatsBecomeACount) {
  begin();
  say("Pending", "no quota");
  world.run_for(10s);
  say("Pending", "no quota");
  say("Pending", "no quota");
  world.run_for(10s);
  ASSERT_EQ(server.seen.size(), 2u) << "two repeats in one turn are one write";
  EXPECT_EQ(server.seen[1].method, "PATCH");
  EXPECT_EQ(body(1)["count"], 3);
  EXPECT_EQ(body(1)["lastTimestamp"], "2026-01-01T00:00:10Z");
  world.run_for(11min);
  say("Pending", "no quota");
  world.settle();
  EXPECT_EQ(server.seen[2].method, "POST") << "a new series after the window";
}

TEST_F(EventsTest, WhereAskedForEveryMessageOfOneReasonIsARepeatOfTheFirst) {
  begin();
  for (int i = 0; i < 14; ++i) {
    recorder->event(job, EventType::normal, "PreemptedWorkload", "victim " + std::to_string(i),
                    Repeats::any_message);
  }
  world.settle();
  ASSERT_EQ(server.seen.size(), 1u);
  EXPECT_EQ(body(0)["message"], "victim 0");
  EXPECT_EQ(body(0)["count"], 14);
  world.run_for(1s);
  recorder->event(job, EventType::normal, "PreemptedWorkload", "another", Repeats::any_message);
  world.settle();
  EXPECT_EQ(server.seen[1].method, "PATCH");
  EXPECT_EQ(body(1)["message"], "victim 0");
  EXPECT_EQ(body(1)["count"], 15);
  world.run_for(11min);
  recorder->event(job, EventType::normal, "PreemptedWorkload", "later", Repeats::any_message);
  world.settle();
  EXPECT_EQ(server.seen[2].method, "POST");
  EXPECT_EQ(body(2)["message"], "later");
}

TEST_F(EventsTest, ManyMessagesOfOneReasonAreCombined) {
  begin();
  for (int i = 0; i < 14; ++i) {
    say("Pending", "short of " + std::to_string(i));
    world.run_for(1s);
  }
  ASSERT_EQ(server.seen.size(), 14u);
  EXPECT_EQ(body(10)["message"], "(combined from similar events): short of 10");
  EXPECT_EQ(server.seen[11].method, "PATCH");
  EXPECT_EQ(body(13)["count"], 4);
  EXPECT_EQ(body(13)["message"], "(combined from similar events): short of 13");
}

TEST_F(EventsTest, AnObjectThatTalksTooMuchIsCutOffAndOthersAreNot) {
  begin();
  for (int i = 0; i < 40; ++i) say("Pending", "again");
  EXPECT_EQ(recorder->counters().suppressed, 15u);
  job.name = "b";
  say("Pending", "me too");
  EXPECT_EQ(recorder->counters().suppressed, 15u);
  job.name = "a";
  world.run_for(5min);
  say("Pending", "again");
  EXPECT_EQ(recorder->counters().suppressed, 15u);
}

TEST_F(EventsTest, TheQueueIsBoundedAndFlushWaitsForIt) {
  EventRecorderOptions small = options();
  small.queue_max = 3;
  begin(small);
  for (int i = 0; i < 5; ++i) {
    job.name = "job-" + std::to_string(i);
    say("Pending", "x");
  }
  EXPECT_EQ(recorder->counters().dropped, 2u);
  bool flushed = false;
  auto flushing = [&]() -> Task<> {
    co_await recorder->flush();
    flushed = true;
  };
  scope.spawn("flush", flushing());
  world.settle();
  EXPECT_TRUE(flushed);
  EXPECT_EQ(recorder->counters().written, 3u);
}

TEST_F(EventsTest, FailuresAreRetriedAFewTimesAndRefusalsAreNot) {
  begin();
  server.refuse(500, "InternalError", "etcd");
  say("A", "x");
  world.run_for(10s);
  EXPECT_EQ(recorder->counters().written, 1u);
  server.refuse(403, "Forbidden", "namespace is being terminated");
  say("B", "x");
  world.run_for(10s);
  EXPECT_EQ(recorder->counters().failed, 1u);
  EXPECT_EQ(server.seen.size(), 3u);
}

TEST_F(EventsTest, AnExpiredEventIsWrittenAnew) {
  begin();
  say("A", "x");
  world.settle();
  server.refuse(404, "NotFound", "gone");
  say("A", "x");
  world.settle();
  ASSERT_EQ(server.seen.size(), 3u);
  EXPECT_EQ(body(2)["count"], 2);
  EXPECT_NE(body(2)["metadata"]["name"], body(0)["metadata"]["name"]);
}

TEST_F(EventsTest, EventsOfClusterScopedObjectsLiveInDefault) {
  begin();
  job = EventSubject{"kueue.x-k8s.io/v1beta2", "ClusterQueue", "", "cq", "", ""};
  say("A", std::string(5000, 'x'));
  world.settle();
  EXPECT_EQ(server.line(0), "POST /api/v1/namespaces/default/events?fieldManager=regatta");
  EXPECT_LE(body(0)["message"].get<std::string>().size(), EventRecorder::message_bytes_max);
}

}  // namespace
}  // namespace regatta::kube
