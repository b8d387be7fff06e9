#include "jobs/read_job.h"

#include "jobs/integrations/external.h"
#include "jobs/integrations/integrations.h"
#include "jobs/integrations/no_objects.h"
#include "jobs/plan.h"
#include "jobs/serving_job.h"
#include "lib/api/codec.h"
#include "lib/api/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>

namespace regatta::jobs {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr TimePoint now{1'800'000'000s};

/// A look-up over a few objects, set by each test.
class FewObjects final : public NoObjects {
 public:
  FewObjects() {
    auto team = std::make_shared<api::Namespace>();
    team->metadata.name = "team";
    team->metadata.labels["env"] = "prod";
    ns = team;
  }

  std::shared_ptr<const Json> runtime(const RuntimeRef&) const override { return found_runtime; }
  JobPtr job(const JobId& id) const override {
    const auto found = jobs.find(id.key.name);
    return found == jobs.end() ? nullptr : found->second;
  }
  WorkloadPtr workload(const api::ObjectKey& key) const override {
    for (const WorkloadPtr& one : workloads) {
      if (one->metadata.key() == key) return one;
    }
    return nullptr;
  }
  std::vector<WorkloadPtr> workloads_of(const JobId& owner) const override {
    std::vector<WorkloadPtr> found;
    for (const WorkloadPtr& one : workloads) {
      const api::OwnerReference* reference = one->metadata.controller();
      if (reference && reference->name == owner.key.name) found.push_back(one);
    }
    return found;
  }
  std::shared_ptr<const api::Namespace> namespace_named(const std::string& name) const override {
    return ns && ns->metadata.name == name ? ns : nullptr;
  }
  std::shared_ptr<const api::LocalQueue> local_queue(const api::ObjectKey& key) const override {
    return queue && queue->metadata.key() == key ? queue : nullptr;
  }
  std::shared_ptr<const api::WorkloadPriorityClass> workload_priority_class(
      const std::string& name) const override {
    return cls && cls->metadata.name == name ? cls : nullptr;
  }
  std::vector<std::shared_ptr<const api::PriorityClass>> priority_classes() const override {
    return pod_classes;
  }

  std::vector<JobPtr> pods_of(const JobId&) const override { return pods; }

  std::shared_ptr<const api::Namespace> ns;
  std::vector<JobPtr> pods;
  std::shared_ptr<api::LocalQueue> queue;
  std::shared_ptr<api::WorkloadPriorityClass> cls;
  std::vector<std::shared_ptr<const api::PriorityClass>> pod_classes;
  std::map<std::string, JobPtr> jobs;
  std::vector<WorkloadPtr> workloads;
  std::shared_ptr<const Json> found_runtime;
};

class ReadJob : public testing::Test {
 protected:
  /// A Job that was created a minute ago, changed by a merge patch.
  JobPtr job(const char* patch = "{}") {
    Json json = Json::parse(R"({
      "apiVersion": "batch/v1", "kind": "Job",
      "metadata": {"name": "j", "namespace": "team", "uid": "u"},
      "spec": {"suspend": true,
               "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}})");
    json["metadata"]["creationTimestamp"] = format_rfc3339(now - 1min);
    json.merge_patch(Json::parse(patch));
    return objects_.kinds().find("batch", "Job")->decode(json, nullptr).value();
  }
  JobView read(const char* patch = "{}") { return read_job(objects_, job(patch), config_, now); }
  /// The LocalQueue `default`, created that long before the Job.
  api::LocalQueue& default_queue(Duration before) {
    objects_.queue = std::make_shared<api::LocalQueue>();
    objects_.queue->metadata.ns = "team";
    objects_.queue->metadata.name = "default";
    objects_.queue->metadata.creation_timestamp = now - 1min - before;
    return *objects_.queue;
  }
  void workload_class(const std::string& name, std::int32_t value) {
    objects_.cls = std::make_shared<api::WorkloadPriorityClass>();
    objects_.cls->metadata.name = name;
    objects_.cls->value = value;
  }
  void pod_class(const std::string& name, std::int32_t value, bool global = false) {
    auto one = std::make_shared<api::PriorityClass>();
    one->metadata.name = name;
    one->value = value;
    one->global_default = global;
    objects_.pod_classes.push_back(one);
  }

  FewObjects objects_;
  JobConfig config_;
};

constexpr const char* queued = R"({"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "q"}}})";

TEST_F(ReadJob, AJobThatNamesAQueueIsManaged) {
  EXPECT_TRUE(read(queued).managed);
  EXPECT_EQ(read(queued).queue_name, "q");
  EXPECT_FALSE(read().managed);
  config_.manage_without_queue_name = true;
  EXPECT_TRUE(read().managed);
}

TEST_F(ReadJob, NamespacesThatTheSelectorLeavesOutAreLeftAlone) {
  api::LabelSelector selector;
  selector.match_labels["env"] = "test";
  config_.namespaces = *api::Selector::from(selector);
  EXPECT_FALSE(read(queued).managed);
  default_queue(1h);
  EXPECT_EQ(read().default_queue, "");
  objects_.ns = nullptr;
  config_.namespaces = {};
  EXPECT_FALSE(read(queued).managed);
}

TEST_F(ReadJob, TheDefaultQueueTakesJobsThatCameAfterIt) {
  EXPECT_EQ(read().default_queue, "");
  default_queue(1s);
  EXPECT_EQ(read().default_queue, "default");
  EXPECT_EQ(read(queued).default_queue, "");
  default_queue(-1s);
  EXPECT_EQ(read().default_queue, "");
  default_queue(1s).spec.stop_policy = api::StopPolicy::Hold;
  EXPECT_EQ(read().default_queue, "");
  default_queue(1s).metadata.deletion_timestamp = now;
  EXPECT_EQ(read().default_queue, "");
  default_queue(1s);
  EXPECT_EQ(
      read(R"({"status": {"conditions": [{"type": "Complete", "status": "True"}]}})").default_queue,
      "");
  config_.default_queue = false;
  EXPECT_EQ(read().default_queue, "");
}

TEST_F(ReadJob, WhatAnotherControllerManagesIsLeftAlone) {
  const auto kind = external_kind("Pipeline.v1.flows.example.com", true).value();
  Json json = Json::parse(R"({"metadata": {"name": "p", "namespace": "team", "uid": "u"}})");
  json["metadata"]["creationTimestamp"] = format_rfc3339(now - 1min);
  default_queue(1s);
  JobView view = read_job(objects_, kind->decode(json, nullptr).value(), config_, now);
  EXPECT_EQ(view.default_queue, "");
  json.merge_patch(Json::parse(queued));
  view = read_job(objects_, kind->decode(json, nullptr).value(), config_, now);
  EXPECT_FALSE(view.managed);
}

TEST_F(ReadJob, AnElasticJobHasTheSizeOfItsClusterIfThatIsThere) {
  const JobKind* kind = objects_.kinds().find("ray.io", "RayJob");
  const auto workers = [&](const char* patch = "{}") {
    Json json = Json::parse(R"({
      "metadata": {"name": "r", "namespace": "team", "uid": "u",
                   "labels": {"kueue.x-k8s.io/queue-name": "q"},
                   "annotations": {"kueue.x-k8s.io/elastic-job": "true"}},
      "spec": {"submissionMode": "HTTPMode", "rayClusterSpec": {
        "enableInTreeAutoscaling": true, "headGroupSpec": {"template": {}},
        "workerGroupSpecs": [{"groupName": "g", "replicas": 2, "template": {}}]}},
      "status": {"rayClusterName": "rc"}})");
    json.merge_patch(Json::parse(patch));
    const JobView view = read_job(objects_, kind->decode(json, nullptr).value(), config_, now);
    EXPECT_FALSE(view.without_runtime);
    return view.job->pod_counts().back();
  };
  EXPECT_EQ(workers(), 2);
  objects_.found_runtime = std::make_shared<const Json>(
      Json::parse(R"({"spec": {"workerGroupSpecs": [{"groupName": "g", "replicas": 5}]}})"));
  EXPECT_EQ(workers(), 5);
  EXPECT_EQ(workers(R"({"metadata": {"annotations": {"kueue.x-k8s.io/elastic-job": null}}})"), 2);
  EXPECT_EQ(workers(R"({"metadata": {"annotations":
                        {"kueue.x-k8s.io/prebuilt-workload-name": "w"}}})"),
            2)
      << "its Workload is made elsewhere";
  EXPECT_EQ(workers(R"({"spec": {"managedBy": "kueue.x-k8s.io/multikueue"}})"), 2);
  config_.policy.elastic = false;
  EXPECT_EQ(workers(), 2);
}

TEST_F(ReadJob, AJobIsPlannedWithItsRuntimeOrSaysThatItLacksIt) {
  const JobKind* kind = objects_.kinds().find("trainer.kubeflow.org", "TrainJob");
  const auto train_job = [&](const char* ref) {
    Json json = Json::parse(R"({"metadata": {"name": "t", "namespace": "team", "uid": "u"}})");
    json["spec"]["runtimeRef"] = Json::parse(ref);
    return read_job(objects_, kind->decode(json, nullptr).value(), config_, now);
  };
  JobView view = train_job(R"({"name": "torch"})");
  EXPECT_TRUE(view.without_runtime);
  EXPECT_EQ(view.invalid->what(), "runtime 'torch' not found");
  objects_.found_runtime = std::make_shared<const Json>(Json::parse(R"({"spec": {"template": {
      "spec": {"replicatedJobs": [{"name": "node", "replicas": 1}]}}}})"));
  view = train_job(R"({"name": "torch"})");
  EXPECT_FALSE(view.without_runtime);
  EXPECT_EQ(view.job->pod_counts(), std::vector<std::int32_t>{1});
  EXPECT_TRUE(train_job(R"({"name": "torch", "kind": "Other"})").without_runtime);
}

TEST_F(ReadJob, AJobThatAManagedJobMadeIsAccountedForByThatOne) {
  config_.manage_without_queue_name = true;
  const char* made = R"({"metadata": {"ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job",
                          "name": "maker", "uid": "m", "controller": true}]}})";
  EXPECT_TRUE(read(made).managed) << "its maker is not there";
  objects_.jobs["maker"] = job(R"({"metadata": {"name": "maker", "uid": "m"}})");
  EXPECT_FALSE(read(made).managed);
  objects_.jobs["maker"] = job(R"({"metadata": {"name": "maker", "uid": "another"}})");
  EXPECT_TRUE(read(made).managed);
}

TEST_F(ReadJob, AnotherLifeOfTheMakerIsNotTheMaker) {
  const JobPtr made = job(R"({"metadata": {"ownerReferences": [{"apiVersion": "batch/v1",
      "kind": "Job", "name": "maker", "uid": "m", "controller": true}]}})");
  EXPECT_TRUE(unseen_maker(objects_, *made));
  objects_.jobs["maker"] = job(R"({"metadata": {"name": "maker", "uid": "another"}})");
  EXPECT_TRUE(unseen_maker(objects_, *made));
  objects_.jobs["maker"] = job(R"({"metadata": {"name": "maker", "uid": "m"}})");
  EXPECT_FALSE(unseen_maker(objects_, *made));
}

TEST_F(ReadJob, APodThatItsMakerHoldsBackIsAJobOfItsOwn) {
  const auto decoded = [&](const char* group, const char* kind, const char* text) {
    return objects_.kinds().find(group, kind)->decode(Json::parse(text), nullptr).value();
  };
  objects_.jobs["db"] = decoded("apps", "StatefulSet", R"({"metadata": {"name": "db",
      "namespace": "team", "uid": "s", "labels": {"kueue.x-k8s.io/queue-name": "q"}}})");
  Json pod = Json::parse(R"({"metadata": {"name": "db-0", "namespace": "team", "uid": "p",
      "labels": {"kueue.x-k8s.io/queue-name": "q", "kueue.x-k8s.io/managed": "true"},
      "ownerReferences": [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db",
                           "uid": "s", "controller": true}]}, "spec": {}})");
  const auto managed = [&] {
    const JobPtr read = decoded("", "Pod", pod.dump().c_str());
    return read_job(objects_, read, config_, now).managed;
  };
  EXPECT_FALSE(managed()) << "its maker is";
  pod["metadata"]["annotations"]["kueue.x-k8s.io/pod-suspending-parent"] = "statefulset";
  EXPECT_TRUE(managed());
}

TEST_F(ReadJob, APodOfAServingJobComesWithTheWorkloadOfItsGroup) {
  Json set = Json::parse(R"({"metadata": {"name": "db", "namespace": "team", "uid": "s"},
      "spec": {"replicas": 1, "template": {"spec": {"containers": [
        {"name": "c", "image": "i"}]}}}})");
  const auto decoded = [&] {
    return objects_.kinds().find("apps", "StatefulSet")->decode(set, nullptr).value();
  };
  JobView of_set;
  of_set.job = decoded();
  const std::string group = of_set.job->serving()->groups({}).value().front().name;
  auto workload = build_group_workload(of_set, {group, std::nullopt}).value();
  objects_.workloads = {std::make_shared<const api::Workload>(workload)};
  objects_.pods = {objects_.kinds()
                       .find("", "Pod")
                       ->decode(Json::parse(R"({"metadata": {
      "name": "db-0", "namespace": "team", "uid": "p"}, "spec": {}})"),
                                nullptr)
                       .value()};
  const auto found = [&] {
    return read_job(objects_, decoded(), config_, now).pods.at(0).workload != nullptr;
  };
  EXPECT_TRUE(found());
  workload.metadata.owner_references.clear();
  objects_.workloads = {std::make_shared<const api::Workload>(workload)};
  EXPECT_FALSE(found()) << "it has the name only";
  // On a worker it is made by the hub, and named by the hub's StatefulSet.
  set["metadata"]["labels"]["kueue.x-k8s.io/multikueue-origin"] = "hub";
  set["metadata"]["annotations"]["kueue.x-k8s.io/multikueue-origin-uid"] = "s";
  set["metadata"]["uid"] = "of the copy";
  EXPECT_TRUE(found());
}

TEST_F(ReadJob, PriorityComesFromTheLabelTheDefaultClassOrThePods) {
  pod_class("global", 3, true);
  EXPECT_EQ(read(queued).priority, 3);
  pod_class("urgent", 9);
  const char* urgent = R"({"spec": {"template": {"spec": {"priorityClassName": "urgent"}}}})";
  EXPECT_EQ(read(urgent).priority, 9);
  workload_class("default", 5);
  EXPECT_EQ(read(urgent).priority, 5);
  EXPECT_EQ(read(urgent).priority_class->kind, "WorkloadPriorityClass");
  config_.default_priority_class = false;
  EXPECT_EQ(read(urgent).priority, 9);
  const char* labelled =
      R"({"metadata": {"labels": {"kueue.x-k8s.io/priority-class": "default"}}})";
  EXPECT_EQ(read(labelled).priority, 5);
}

TEST_F(ReadJob, AClassThatDoesNotExistKeepsTheJobFromHavingAWorkload) {
  const JobView by_label =
      read(R"({"metadata": {"labels": {"kueue.x-k8s.io/priority-class": "none"}}})");
  EXPECT_TRUE(by_label.missing_workload_class);
  EXPECT_THAT(by_label.invalid.value().what(),
              HasSubstr("WorkloadPriorityClass \"none\" not found"));
  const JobView by_pods =
      read(R"({"spec": {"template": {"spec": {"priorityClassName": "none"}}}})");
  EXPECT_FALSE(by_pods.missing_workload_class);
  EXPECT_THAT(by_pods.invalid.value().what(), HasSubstr("PriorityClass \"none\" does not exist"));
}

TEST_F(ReadJob, OnlyWorkloadsOfThisVeryJobAreItsOwn) {
  const auto add = [this](const char* name, const char* uid) {
    auto one = std::make_shared<api::Workload>();
    one->metadata.ns = "team";
    one->metadata.name = name;
    one->metadata.owner_references.push_back({"batch/v1", "Job", "j", uid, true, true});
    objects_.workloads.push_back(one);
  };
  add("mine", "u");
  add("of-the-one-before", "older");
  const JobView view = read(queued);
  ASSERT_EQ(view.owned.size(), 1U);
  EXPECT_EQ(view.owned[0]->metadata.name, "mine");
  EXPECT_TRUE(owner_of(objects_, *view.owned[0]) == nullptr);
  objects_.jobs["j"] = view.job;
  EXPECT_EQ(owner_of(objects_, *view.owned[0]), view.job);
}

TEST_F(ReadJob, APrebuiltWorkloadIsNamedByAnnotationOrLabel) {
  const JobView view = read(R"({"metadata": {"annotations": {
      "kueue.x-k8s.io/prebuilt-workload-name": "w"}}})");
  EXPECT_TRUE(view.prebuilt);
  EXPECT_TRUE(view.managed);
  EXPECT_EQ(view.prebuilt_workload, nullptr);
}

TEST(OwnersOfWorkloads, a_workload_is_left_when_its_job_or_all_of_its_group_is_gone) {
  api::Workload workload;
  EXPECT_FALSE(left_by_owner(workload, nullptr)) << "a copy on a worker, before its pods come";
  workload.metadata.owner_references.emplace_back().uid = "a";
  EXPECT_TRUE(left_by_owner(workload, nullptr));
  api::Job one;
  one.metadata.uid = "b";
  const JobPtr namesake = job_of(one);
  EXPECT_FALSE(left_by_owner(workload, namesake.get()));
  workload.metadata.owner_references[0].controller = true;
  EXPECT_TRUE(left_by_owner(workload, nullptr));
  EXPECT_FALSE(left_by_owner(workload, namesake.get()));
  workload.metadata.deletion_timestamp = TimePoint();
  EXPECT_TRUE(left_by_owner(workload, namesake.get())) << "of an earlier job of that name";
}

TEST(OwnersOfWorkloads, that_of_a_group_is_found_by_its_name) {
  api::Workload workload;
  workload.metadata.name = "g";
  workload.metadata.ns = "team";
  EXPECT_FALSE(group_of(all_kinds(), workload));
  workload.metadata.annotations["kueue.x-k8s.io/is-group-workload"] = "true";
  EXPECT_EQ(group_of(all_kinds(), workload)->str(), "PodGroup team/g");
  EXPECT_FALSE(group_of(enabled_kinds({}), workload)) << "groups are not followed";
}

}  // namespace
}  // namespace regatta::jobs
