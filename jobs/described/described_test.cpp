#include "jobs/integrations/described.h"

#include "jobs/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::jobs {
namespace {

using testing::ElementsAre;

/// A Pipeline has one driver, perhaps workers, and perhaps helpers: two for each worker.
Json description_json() {
  return Json::parse(R"json({
    "apiVersion": "flows.example.com/v1", "kind": "Pipeline", "resource": "pipelines",
    "podSets": [
      {"name": "driver", "template": "/spec/driver/template"},
      {"name": "workers", "template": "/spec/roles/0/template", "optional": true,
       "count": "/spec/roles/0/replicas",
       "reclaimable": "has(object.status.done) ? object.status.done : 0"},
      {"name": "helpers", "template": "/spec/helper", "optional": true,
       "count": "object.spec.roles[0].replicas * 2"}],
    "suspend": "/spec/run/suspend",
    "managedBy": "/spec/run/managedBy",
    "status": {
      "active": "has(object.status.active) && object.status.active > 0",
      "finished": "has(object.status.phase) && object.status.phase in ['Succeeded', 'Failed']",
      "success": "object.status.phase == 'Succeeded'",
      "message": "object.status.?message.orValue('')",
      "podsReady": "has(object.status.ready) && object.status.ready == 3"}})json");
}

std::shared_ptr<const JobKind> kind_with(const char* patch = "{}") {
  Json description = description_json();
  description.merge_patch(Json::parse(patch));
  return described_kinds({description}).kinds.at(0);
}

Json pipeline_json() {
  return Json::parse(R"({
    "apiVersion": "flows.example.com/v1", "kind": "Pipeline",
    "metadata": {"name": "p", "namespace": "team", "uid": "u", "finalizers": ["f"],
                 "labels": {"kueue.x-k8s.io/queue-name": "main"}},
    "spec": {
      "run": {"suspend": true, "managedBy": "kueue.x-k8s.io/multikueue"},
      "driver": {"template": {"spec": {"containers": [{"name": "c", "image": "i"}],
                                       "nodeSelector": {"own": "x"}}}},
      "roles": [{"replicas": 3, "template": {"spec": {"priorityClassName": "p",
                 "containers": [{"name": "c", "image": "i"}]}}}]}})");
}

JobPtr read(const Json& json, const std::shared_ptr<const JobKind>& kind = kind_with()) {
  return kind->decode(json, nullptr).value();
}
JobPtr pipeline(const char* patch = "{}") {
  Json json = pipeline_json();
  json.merge_patch(Json::parse(patch));
  return read(json);
}

api::Workload workload_of(const JobPtr& job) {
  JobView view;
  view.job = job;
  view.managed = true;
  return build_workload(view).value();
}

std::vector<PodSetInfo> infos() {
  PodSetInfo driver, workers;
  driver.name = "driver";
  driver.node_selector["pool"] = "a";
  workers.name = "workers";
  workers.node_selector["pool"] = "b";
  return {driver, workers};
}

std::string why_unreadable(const char* patch) {
  const auto runtime = pipeline(patch)->runtime();
  return runtime ? "" : runtime.error().what();
}

TEST(DescribedKind, has_the_pod_sets_that_are_there) {
  const JobPtr job = pipeline();
  EXPECT_THAT(job->pod_counts(), ElementsAre(1, 3));
  const auto sets = job->pod_sets({});
  ASSERT_TRUE(sets) << sets.error().what();
  EXPECT_EQ((*sets)[0].name, "driver");
  EXPECT_EQ((*sets)[1].name, "workers");
  EXPECT_EQ(job->pod_priority_class(), "p");
  EXPECT_TRUE(job->equivalent(workload_of(job), nullptr));
  EXPECT_FALSE(pipeline(R"({"spec": {"roles": []}})")->equivalent(workload_of(job), nullptr));
  EXPECT_THAT(pipeline(R"({"spec": {"helper": {}}})")->pod_counts(), ElementsAre(1, 3, 6))
      << "a number may be computed";
  EXPECT_THAT(pipeline(R"({"spec": {"roles": [{"template": {}}]}})")->pod_counts(),
              ElementsAre(1, 1))
      << "one pod where no number is given";
}

TEST(DescribedKind, a_job_whose_pods_cannot_be_read_says_why_and_keeps_its_workload) {
  EXPECT_EQ(why_unreadable("{}"), "");
  EXPECT_EQ(why_unreadable(R"({"spec": {"driver": null}})"),
            "there is no pod template at spec.driver.template");
  EXPECT_EQ(why_unreadable(R"({"spec": {"driver": {"template": "x"}}})"),
            "there is no pod template at spec.driver.template");
  EXPECT_EQ(why_unreadable(R"({"spec": {"roles": [{"replicas": "two", "template": {}}]}})"),
            "the number of pods of \"workers\" cannot be read: spec.roles[0].replicas is no whole "
            "number");
  EXPECT_EQ(why_unreadable(R"({"spec": {"roles": [{"replicas": -1, "template": {}}]}})"),
            "the number of pods of \"workers\" cannot be read: -1 is out of range");
  EXPECT_EQ(why_unreadable(R"({"spec": {"roles": [{"replicas": "x"}], "helper": {}}})"),
            "the number of pods of \"helpers\" cannot be read: no such overload");
}

TEST(DescribedKind, an_object_that_cannot_be_suspended_is_no_job) {
  Json json = pipeline_json();
  json["spec"]["run"] = "now";
  const auto read = kind_with()->decode(json, nullptr);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().what(),
            "spec.run is no object, so that spec.run.suspend cannot be written");
  json["spec"].erase("run");
  const auto job = kind_with()->decode(json, nullptr);
  ASSERT_TRUE(job);
  EXPECT_FALSE((*job)->suspended());
  json.merge_patch((*job)->suspend_patch());
  EXPECT_EQ(json["spec"]["run"]["suspend"], true);
}

struct StatusCase {
  const char* name;
  const char* status;
  bool active;
  bool ready;
  const char* end;
  const char* unread = "";
  const char* reclaimable = "";
};

std::string text(const std::optional<Finished>& end) {
  return end ? (end->success ? "done: " : "failed: ") + end->message : "";
}
std::string text(const std::vector<api::ReclaimablePod>& pods) {
  std::string out;
  for (const auto& one : pods) out += one.name + " " + std::to_string(one.count) + ";";
  return out;
}

TEST(DescribedKind, is_what_its_expressions_say_of_its_status) {
  const StatusCase cases[] = {
      {"nothing_is_known", "{}", false, false, ""},
      {"pods_run", R"({"active": 3, "ready": 2})", true, false, ""},
      {"pods_are_ready", R"({"active": 3, "ready": 3})", true, true, ""},
      {"it_succeeded", R"({"phase": "Succeeded", "message": "all done"})", false, false,
       "done: all done"},
      {"it_failed_without_a_word", R"({"phase": "Failed"})", false, false,
       "failed: Pipeline failed"},
      {"some_workers_are_done", R"({"active": 2, "done": 2})", true, false, "", "", "workers 2;"},
      {"more_are_done_than_there_are", R"({"done": 5})", false, false, "", "", "workers 3;"},
      {"active_is_a_text", R"({"active": "yes"})", false, false, "",
       "status.active of the described kind Pipeline has no answer: no such overload"},
      {"message_is_a_number", R"({"phase": "Failed", "message": 1})", false, false,
       "failed: Pipeline failed",
       "status.message of the described kind Pipeline has no answer: is int, not string"},
      {"done_is_a_text", R"({"done": "2"})", false, false, "",
       "reclaimable of the pod set workers of the described kind Pipeline has no answer: is "
       "string, not int"},
      {"phase_is_a_list", R"({"phase": [1], "active": 1, "ready": 2})", true, false, "", ""},
  };
  for (const StatusCase& one : cases) {
    SCOPED_TRACE(one.name);
    const JobPtr job = pipeline((R"({"status": )" + std::string(one.status) + "}").c_str());
    EXPECT_EQ(job->active(), one.active);
    EXPECT_EQ(job->pods_ready(), one.ready);
    EXPECT_EQ(text(job->finished()), one.end);
    EXPECT_EQ(job->unread(), one.unread);
    EXPECT_EQ(text(job->reclaimable_pods()), one.reclaimable);
  }
}

TEST(DescribedKind, what_no_expression_says_follows_from_the_rest) {
  const auto kind = kind_with(R"({"status": {"active": null, "podsReady": null}})");
  Json json = pipeline_json();
  EXPECT_FALSE(read(json, kind)->active());
  json["spec"]["run"]["suspend"] = false;
  EXPECT_TRUE(read(json, kind)->active());
  EXPECT_TRUE(read(json, kind)->pods_ready());
  json["status"]["phase"] = "Succeeded";
  EXPECT_FALSE(read(json, kind)->active());
}

TEST(DescribedKind, an_expression_that_costs_too_much_has_no_answer) {
  const auto kind = kind_with(
      R"json({"status": {"finished": "object.l.all(a, object.l.all(b, a + b > 0))"}})json");
  Json json = pipeline_json();
  json["l"] = std::vector<int>(20, 1);
  EXPECT_TRUE(read(json, kind)->finished());
  json["l"] = std::vector<int>(200, 1);
  const JobPtr job = read(json, kind);
  EXPECT_FALSE(job->finished());
  EXPECT_THAT(job->unread(), testing::HasSubstr("status.finished of the described kind Pipeline "
                                                "has no answer: operation cancelled"));
}

TEST(DescribedKind, a_long_message_is_cut_between_characters) {
  Json json = pipeline_json();
  std::string message = "x";
  for (int i = 0; i < 1000; ++i) message += "\xc3\xa9";
  json["status"] = {{"phase", "Failed"}, {"message", message}};
  EXPECT_EQ(read(json)->finished()->message, message.substr(0, 1023));
}

TEST(DescribedKind, a_stop_restores_what_the_start_added) {
  Json json = pipeline_json();
  const JobPtr job = pipeline();
  const api::Workload workload = workload_of(job);
  const Json start = job->start_patch(infos()).value();
  EXPECT_EQ(start["metadata"]["uid"], "u");
  json.merge_patch(start);
  const JobPtr running = read(json);
  EXPECT_FALSE(running->suspended());
  EXPECT_EQ(json["spec"]["driver"]["template"]["spec"]["nodeSelector"],
            Json::parse(R"({"own": "x", "pool": "a"})"));
  EXPECT_EQ(json["spec"]["roles"][0]["template"]["spec"]["nodeSelector"]["pool"], "b");
  EXPECT_EQ(json["spec"]["roles"][0]["replicas"], 3);
  const auto filled = infos();
  EXPECT_TRUE(running->equivalent(workload, &filled));
  const auto step = running->next_stop_step(&workload, false);
  ASSERT_TRUE(step);
  EXPECT_TRUE(step->last);
  json.merge_patch(step->patch);
  EXPECT_EQ(json["spec"]["driver"]["template"]["spec"],
            pipeline_json()["spec"]["driver"]["template"]["spec"]);
  EXPECT_FALSE(json["spec"]["roles"][0]["template"]["spec"].contains("nodeSelector"));
  EXPECT_TRUE(read(json)->suspended());
  EXPECT_FALSE(read(json)->next_stop_step(&workload, false));
}

TEST(DescribedKind, only_what_names_multikueue_goes_to_a_worker) {
  EXPECT_EQ(pipeline()->not_managed_reason(), "");
  EXPECT_EQ(pipeline(R"({"spec": {"run": {"managedBy": "other"}}})")->not_managed_reason(),
            "Expecting spec.run.managedBy to be \"kueue.x-k8s.io/multikueue\" not \"other\"");
  EXPECT_FALSE(pipeline(R"({"spec": {"run": {"managedBy": "other"}}})")->managed_by()->replaceable);
  EXPECT_TRUE(pipeline(R"({"spec": {"run": {"managedBy": null}}})")->managed_by()->replaceable);
  const auto local_only = kind_with(R"({"managedBy": null})");
  EXPECT_FALSE(read(pipeline_json(), local_only)->managed_by());
  EXPECT_EQ(read(pipeline_json(), local_only)->not_managed_reason(),
            "Pipeline cannot name MultiKueue as its manager");
}

TEST(DescribedKind, goes_to_a_worker_suspended_and_without_its_manager) {
  api::Workload workload = workload_of(pipeline());
  workload.metadata.name = "w";
  Json running = pipeline_json();
  running.merge_patch(pipeline()->start_patch(infos()).value());
  const Json copy = read(running)->remote_job(workload, "hub");
  Json spec = pipeline_json()["spec"];
  spec["run"] = {{"suspend", true}};
  EXPECT_EQ(copy["spec"]["run"], spec["run"]);
  EXPECT_EQ(copy["spec"]["driver"]["template"]["spec"], spec["driver"]["template"]["spec"]);
  EXPECT_EQ(copy["apiVersion"], "flows.example.com/v1");
  EXPECT_EQ(copy["kind"], "Pipeline");
  EXPECT_EQ(copy["metadata"], Json::parse(R"({"name": "p", "namespace": "team",
    "labels": {"kueue.x-k8s.io/queue-name": "main", "kueue.x-k8s.io/multikueue-origin": "hub"},
    "annotations": {"kueue.x-k8s.io/prebuilt-workload-name": "w"}})"));
}

TEST(DescribedKind, the_status_comes_home_and_goes_when_the_copy_is_gone) {
  Json hub = pipeline_json();
  hub["status"] = {{"phase", "Old"}, {"gone", 1}};
  const JobPtr remote = pipeline(R"({"status": {"phase": "Running", "active": 2, "list": [1]}})");
  hub.merge_patch(read(hub)->status_patch(*remote));
  EXPECT_EQ(hub["status"], Json::parse(R"({"phase": "Running", "active": 2, "list": [1]})"));
  EXPECT_TRUE(read(hub)->status_patch(*remote).empty());
  Json again = hub;
  again.merge_patch(read(hub)->status_patch(*pipeline()));
  EXPECT_EQ(again["status"], Json::object()) << "a new copy has not run";
  EXPECT_TRUE(read(hub)->active());
  hub.merge_patch(read(hub)->release_patch());
  EXPECT_EQ(hub["status"], Json::object());
  EXPECT_FALSE(read(hub)->active());
  EXPECT_TRUE(read(hub)->release_patch().empty());
}

TEST(DescribedKind, an_end_that_no_worker_can_show_is_written_as_described) {
  const auto kind = kind_with(R"({"finalStatus": {"succeeded": {"phase": "Succeeded", "active": 0},
                                                  "failed": {"phase": "Failed"}}})");
  Json hub = pipeline_json();
  hub["status"] = {{"active", 2}, {"phase", "Running"}};
  Json good = hub, bad = hub;
  good.merge_patch(read(hub, kind)->final_patch(true, "done", {}));
  EXPECT_EQ(good["status"], Json::parse(R"({"phase": "Succeeded", "active": 0})"));
  EXPECT_TRUE(read(good, kind)->final_patch(false, "no", {}).empty()) << "it says so already";
  bad.merge_patch(read(hub, kind)->final_patch(false, "no", {}));
  EXPECT_EQ(text(read(bad, kind)->finished()), "failed: Pipeline failed");
  EXPECT_TRUE(read(hub)->final_patch(true, "done", {}).empty()) << "nothing is described";
}

TEST(DescribedKind, a_part_of_the_status_may_come_home_alone) {
  const auto kind = kind_with(R"({"remoteStatus": "/status/run"})");
  Json hub = pipeline_json(), worker = pipeline_json();
  hub["status"] = {{"own", 1}};
  worker["status"] = {{"run", {{"phase", "R"}}}, {"own", 2}};
  hub.merge_patch(read(hub, kind)->status_patch(*read(worker, kind)));
  EXPECT_EQ(hub["status"], Json::parse(R"({"own": 1, "run": {"phase": "R"}})"));
  const auto deep = kind_with(R"({"remoteStatus": "/status/own/deep"})");
  worker["status"] = {{"own", {{"deep", 1}}}};
  EXPECT_TRUE(read(hub, deep)->status_patch(*read(worker, deep)).empty())
      << "the hub's own status has a number on the way";
}

TEST(DescribedKind, a_job_that_says_something_unreadable_is_complained_of) {
  JobView view;
  view.job = pipeline(R"({"status": {"active": "yes"}})");
  view.managed = true;
  const auto complaint = [](const JobView& seen) {
    const auto plan = plan_job(seen);
    const auto* last = plan.empty() ? nullptr : std::get_if<Complain>(&plan.back());
    return last ? last->reason + ": " + last->message : "";
  };
  EXPECT_EQ(complaint(view),
            "UnreadableJob: status.active of the described kind Pipeline has no answer: no such "
            "overload");
  view.managed = false;
  EXPECT_EQ(complaint(view), "");
  view.managed = true;
  view.job = pipeline();
  EXPECT_EQ(complaint(view), "") << "a job without a status has an empty one in expressions";
}

}  // namespace
}  // namespace regatta::jobs
