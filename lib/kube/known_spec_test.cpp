#include "lib/kube/known_spec.h"

#include "lib/api/workload.h"
#include "lib/kube/informer.h"
#include "lib/kube/kube_test.h"
#include "lib/kube/object_limits.h"

namespace regatta::kube {
namespace {

using api::Workload;

Json workload_json(const std::string& version, const std::string& condition = "") {
  Json out = Json::parse(R"({
    "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
    "metadata": {"creationTimestamp": "2026-01-01T00:00:00Z", "name": "w", "namespace": "ns",
      "uid": "u"},
    "spec": {"podSets": [{"count": 2, "name": "main", "template": {"metadata": {},
      "spec": {"containers": [{"image": "i", "name": "c"}]}}}], "priority": 5, "queueName": "q"},
    "status": {"clusterName": "c1"}})");
  out["metadata"]["resourceVersion"] = version;
  if (condition.empty()) return out;
  out["status"]["conditions"] = Json::array({{{"type", condition},
                                              {"status", "True"},
                                              {"reason", "R"},
                                              {"message", "m"},
                                              {"lastTransitionTime", "2026-01-01T00:00:00Z"}}});
  return out;
}

Workload read(const Json& json) {
  return api::from_json<Workload>(json).value();
}

struct KnownSpecTest : KubeTest {
  std::shared_ptr<const Workload> stored() { return workloads.get(api::ObjectKey("ns", "w")); }
  /// The object of the list.
  std::shared_ptr<const Workload> listed() {
    server.answer(200, list_text("10", {workload_json("1")}));
    watch = server.answer_watch();
    scope.spawn("informer", workloads.run());
    world.settle();
    return stored();
  }
  std::shared_ptr<const Workload> after(const std::string& line) {
    watch->push(line);
    world.settle();
    return stored();
  }

  std::shared_ptr<PushStream> watch;
  Informer<Workload> workloads{{client, world, world.rng, world.executor(), Log()}};
};

TEST_F(KnownSpecTest, AnEventWithTheStoredSpecBringsOnlyTheRest) {
  const auto before = listed();
  ASSERT_TRUE(before);
  Json event = workload_json("11", "Admitted");
  event["metadata"]["managedFields"] = Json::array({{{"manager", "m"}}});
  const auto with_condition = after(event_line("MODIFIED", event));
  EXPECT_EQ(*with_condition, read(event));
  EXPECT_TRUE(with_condition->raw_spec.shares_text_with(before->raw_spec));
  event["metadata"].erase("managedFields");
  EXPECT_EQ(client.held()->bytes, counted_bytes(event_line("MODIFIED", event)) - 1)
      << "it counts as much as before";
  EXPECT_FALSE(after(event_line("DELETED", event)));
}

TEST_F(KnownSpecTest, AnotherSpecIsRead) {
  (void)listed();
  Json event = workload_json("11");
  event["spec"]["priority"] = 6;
  EXPECT_EQ(*after(event_line("MODIFIED", event)), read(event));
  event = workload_json("12");
  event.erase("spec");
  EXPECT_EQ(*after(event_line("MODIFIED", event)), read(event)) << "none at all";
  event = workload_json("13");
  EXPECT_EQ(*after(event_line("MODIFIED", event)), read(event)) << "and back";
}

TEST_F(KnownSpecTest, TheSameTextOfAnotherVersionOfTheAPIIsRead) {
  const auto before = listed();
  Json event = workload_json("11");
  event["apiVersion"] = "kueue.x-k8s.io/v1beta1";
  const auto older = after(event_line("MODIFIED", event));
  EXPECT_EQ(older->metadata.resource_version, "11");
  EXPECT_FALSE(older->raw_spec.shares_text_with(before->raw_spec));
}

TEST_F(KnownSpecTest, OfTwoSpecsTheLastOneCounts) {
  (void)listed();
  const auto with_second = [](const std::string& version, const std::string& second) {
    std::string line = event_line("MODIFIED", workload_json(version));
    return line.insert(line.find(R"(,"status":)"), R"(,"spec":)" + second);
  };
  EXPECT_EQ(after(with_second("11", R"({"queueName":"other"})"))->spec.queue_name, "other");
  (void)after(event_line("MODIFIED", workload_json("12")));
  EXPECT_EQ(after(with_second("13", "null"))->spec.queue_name, "");
}

TEST_F(KnownSpecTest, APartOfWhatCannotBeDecodedIsMadeOfTheWhole) {
  Json seen;
  workloads.keep_part(
      [&](const Json& value, const Workload*) -> Result<std::shared_ptr<const Workload>> {
        seen = value;
        return Error(Errc::not_found, "nothing of it");
      });
  (void)listed();
  Json event = workload_json("11");
  event["status"]["clusterName"] = 7;
  (void)after(event_line("MODIFIED", event));
  EXPECT_TRUE(workloads.unreadable(api::ObjectKey("ns", "w")));
  EXPECT_EQ(seen, event);
}

TEST_F(KnownSpecTest, AnAnswerWithTheKnownSpecBringsOnlyTheRest) {
  const Workload known = read(workload_json("1"));
  const Json json = workload_json("2", "Admitted");
  const Result<Workload> answer = decode_like(known, dump_json(json));
  ASSERT_TRUE(answer);
  EXPECT_EQ(*answer, read(json));
  EXPECT_TRUE(answer->raw_spec.shares_text_with(known.raw_spec));
  Json other = json;
  other["spec"]["active"] = false;
  EXPECT_EQ(*decode_like(known, dump_json(other)), read(other));
  EXPECT_EQ(*decode_like(Workload(), dump_json(json)), read(json));
  EXPECT_EQ(decode_like(known, "{").error().code(), Errc::invalid);
}

TEST_F(KnownSpecTest, APatchOfTheStatusHasWhatDiffers) {
  const Workload before = read(workload_json("1", "Admitted"));
  const auto patch_to = [&](const Workload& after) {
    server.seen.clear();
    server.answer(200, dump_json(api::to_json(after)));
    EXPECT_TRUE(run(client.patch_status(before, after)));
    Json body = Json::parse(server.seen.at(0).body);
    EXPECT_EQ(body["metadata"], Json({{"resourceVersion", "1"}}));
    EXPECT_EQ(body.size(), 2u);
    return body["status"];
  };
  Workload after = before;
  after.status.cluster_name.reset();
  EXPECT_EQ(patch_to(after), Json({{"clusterName", nullptr}}));
  after.status.nominated_cluster_names = {"c2"};
  EXPECT_EQ(patch_to(after), Json({{"clusterName", nullptr}, {"nominatedClusterNames", {"c2"}}}));
  after.status = {};
  EXPECT_EQ(patch_to(after), Json({{"clusterName", nullptr}, {"conditions", nullptr}}))
      << "members that are not known stay";
}

TEST(LeaveOutCommon, LeavesTheDifferenceOfEachMember) {
  Workload full = read(workload_json("1", "Admitted"));
  api::WorkloadStatus& status = full.status;
  status.admission.emplace().cluster_queue = "cq";
  status.requeue_state.emplace().count = 3;
  status.reclaimable_pods = {{"main", 1}};
  status.admission_checks.emplace_back().name = "check";
  status.resource_requests.emplace_back().name = "main";
  status.accumulated_past_execution_time_seconds = 4;
  status.evictions = {{"Preempted", "", 1}};
  status.nominated_cluster_names = {"c1", "c2"};
  status.unhealthy_nodes = {"n"};
  status.preemption_gates.emplace_back().name = "gate";
  const Json all = api::to_json(full)["status"];
  EXPECT_EQ(all.size(), 12u) << "a new member belongs here and into leave_out_common()";
  Workload same = full, twin = full;
  leave_out_common(&same.status, &twin.status);
  EXPECT_EQ(same.status, api::WorkloadStatus());
  EXPECT_EQ(twin.status, api::WorkloadStatus());
  for (const auto& [name, value] : all.items()) {
    Json lacking = api::to_json(full);
    lacking["status"].erase(name);
    Workload from = full, to = read(lacking);
    leave_out_common(&from.status, &to.status);
    EXPECT_EQ(api::to_json(from)["status"], Json({{name, value}})) << name;
    EXPECT_EQ(to.status, api::WorkloadStatus()) << name;
  }
}

}  // namespace
}  // namespace regatta::kube
