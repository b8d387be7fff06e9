#include "jobs/integrations/job_webhook.h"

#include "jobs/integrations/integrations.h"
#include "jobs/integrations/no_objects.h"
#include "lib/api/codec.h"
#include "lib/api/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>

namespace regatta::jobs {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

template <class T>
using Named = std::map<std::string, std::shared_ptr<T>>;

/// A look-up over what a test puts into it.
class Cluster final : public NoObjects {
 public:
  JobPtr job(const JobId& id) const override {
    const auto found = jobs.find(id.key.str());
    return found == jobs.end() ? nullptr : found->second;
  }
  std::shared_ptr<const api::Namespace> namespace_named(const std::string& name) const override {
    return in(namespaces, name);
  }
  std::shared_ptr<const api::LocalQueue> local_queue(const api::ObjectKey& key) const override {
    return in(local_queues, key.str());
  }
  std::shared_ptr<const api::ClusterQueue> cluster_queue(const std::string& name) const override {
    return in(cluster_queues, name);
  }
  std::shared_ptr<const api::AdmissionCheck> admission_check(
      const std::string& name) const override {
    return in(checks, name);
  }
  std::shared_ptr<const api::WorkloadPriorityClass> workload_priority_class(
      const std::string& name) const override {
    return in(workload_classes, name);
  }

  bool serves_runtimes(const api::ResourceInfo&) const override { return serves; }

  bool serves = true;
  std::map<std::string, JobPtr> jobs;
  Named<api::Namespace> namespaces;
  Named<api::LocalQueue> local_queues;
  Named<api::ClusterQueue> cluster_queues;
  Named<api::AdmissionCheck> checks;
  Named<api::WorkloadPriorityClass> workload_classes;

 private:
  template <class T>
  static std::shared_ptr<const T> in(const Named<T>& all, const std::string& name) {
    const auto found = all.find(name);
    return found == all.end() ? nullptr : found->second;
  }
};

class JobWebhook : public testing::Test {
 protected:
  JobWebhook() {
    auto team = std::make_shared<api::Namespace>();
    team->metadata.name = "team";
    team->metadata.labels["env"] = "prod";
    cluster_.namespaces["team"] = team;
    config_.jobs.namespaces =
        api::Selector::from(api::LabelSelector{{{"env", "prod"}}, {}}).value();
  }
  api::LocalQueue& queue(const std::string& name, const std::string& leads_to = "cq") {
    auto made = std::make_shared<api::LocalQueue>();
    made->metadata.ns = "team";
    made->metadata.name = name;
    made->spec.cluster_queue = leads_to;
    cluster_.local_queues["team/" + name] = made;
    return *made;
  }
  void fleet(const std::string& name) {
    auto check = std::make_shared<api::AdmissionCheck>();
    check->spec.controller_name = std::string(api::multikueue_controller_name);
    cluster_.checks["fleet"] = check;
    auto shared = std::make_shared<api::ClusterQueue>();
    shared->spec.admission_checks.push_back({"fleet", {}});
    cluster_.cluster_queues[name] = shared;
  }
  static JobPtr job(const char* patch = "{}") {
    Json json = Json::parse(R"({
      "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "team"},
      "spec": {"parallelism": 3, "completions": 3,
               "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}})");
    json.merge_patch(Json::parse(patch));
    return all_kinds().find("batch", "Job")->decode(json, nullptr).value();
  }
  static JobPtr queued(const char* patch = "{}") {
    Json json = Json::parse(R"({"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "main"}}})");
    json.merge_patch(Json::parse(patch));
    return job(json.dump().c_str());
  }
  Json defaults(const JobPtr& job) const { return default_job(cluster_, *job, config_).value(); }
  std::vector<std::string> errors(const JobPtr& job) const {
    return texts(validate_job(cluster_, job, config_));
  }
  std::vector<std::string> errors(const JobPtr& before, const JobPtr& after) const {
    return texts(validate_job_update(cluster_, *before, after, config_));
  }
  static std::vector<std::string> texts(const api::FieldErrors& errors) {
    std::vector<std::string> out;
    for (const api::FieldError& error : errors) out.push_back(error.text());
    return out;
  }

  Cluster cluster_;
  JobWebhookConfig config_;
};

const Json nothing = Json::object();
const Json suspended{{"spec", {{"suspend", true}}}};

TEST_F(JobWebhook, a_job_with_a_queue_is_suspended) {
  EXPECT_EQ(defaults(queued()), suspended);
  EXPECT_EQ(defaults(queued(R"({"spec": {"suspend": true}})")), nothing);
  EXPECT_EQ(defaults(job()), nothing);
}

TEST_F(JobWebhook, a_job_without_a_queue_is_suspended_where_all_are_managed) {
  config_.jobs.manage_without_queue_name = true;
  EXPECT_EQ(defaults(job()), suspended);
}

TEST_F(JobWebhook, a_namespace_that_takes_no_part_is_left_alone) {
  config_.jobs.manage_without_queue_name = true;
  cluster_.namespaces["team"]->metadata.labels.clear();
  EXPECT_EQ(defaults(queued()), suspended) << "a queue counts in every namespace";
  EXPECT_EQ(defaults(job()), nothing);
}

TEST_F(JobWebhook, a_job_that_a_managed_job_made_is_left_alone) {
  const char* made = R"({"metadata": {"ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job",
    "name": "maker", "uid": "u", "controller": true}]}})";
  const auto refused = default_job(cluster_, *queued(made), config_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what(), "workload owner not found\njobs.batch \"maker\" not found");
  const char* maker = R"({"metadata": {"name": "maker", "uid": "u"}})";
  cluster_.jobs["team/maker"] = job(maker);
  EXPECT_EQ(defaults(queued(made)), suspended) << "the maker is in no queue";
  cluster_.jobs["team/maker"] = queued(maker);
  EXPECT_EQ(defaults(queued(made)), nothing);
  EXPECT_EQ(defaults(job(made)), nothing);
}

TEST_F(JobWebhook, a_maker_of_which_only_some_are_followed_is_not_missed) {
  for (const char* maker : {R"("apiVersion": "v1", "kind": "Pod")",
                            R"("apiVersion": "apps/v1", "kind": "Deployment")"}) {
    const std::string made = R"({"metadata": {"ownerReferences": [{)" + std::string(maker) +
                             R"(, "name": "maker", "uid": "u", "controller": true}]}})";
    EXPECT_EQ(defaults(queued(made.c_str())), suspended) << maker;
    EXPECT_EQ(defaults(job(made.c_str())), nothing) << maker;
  }
}

TEST_F(JobWebhook, owners_in_a_circle_are_refused) {
  const char* made = R"({"metadata": {"uid": "v", "ownerReferences": [{"apiVersion": "batch/v1",
    "kind": "Job", "name": "maker", "uid": "u", "controller": true}]}})";
  cluster_.jobs["team/j"] = job(made);
  cluster_.jobs["team/maker"] = job(R"({"metadata": {"name": "maker", "uid": "u",
    "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "v",
    "controller": true}]}})");
  const auto refused = default_job(cluster_, *queued(made), config_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what(), "cyclic ownership");
}

TEST_F(JobWebhook, the_class_of_a_job_with_quota_is_replaced_but_not_added_or_removed) {
  const char* high = R"({"metadata": {"labels": {"kueue.x-k8s.io/priority-class": "high"}}})";
  const char* low = R"({"metadata": {"labels": {"kueue.x-k8s.io/priority-class": "low"}}})";
  EXPECT_THAT(errors(queued(low), queued(high)), IsEmpty());
  EXPECT_THAT(errors(queued(), queued(high)),
              ElementsAre(testing::EndsWith("cannot be added to a non-suspended workload")));
  EXPECT_THAT(errors(queued(low), queued()),
              ElementsAre(testing::EndsWith("cannot be removed from a workload")));
}

TEST_F(JobWebhook, only_some_kinds_are_elastic_and_none_becomes_it) {
  const char* elastic = R"({"metadata": {"annotations": {"kueue.x-k8s.io/elastic-job": "true"}}})";
  const JobPtr set =
      all_kinds().find("jobset.x-k8s.io", "JobSet")->decode(Json::parse(elastic), nullptr).value();
  EXPECT_THAT(errors(set), ElementsAre("metadata.annotations[kueue.x-k8s.io/elastic-job]: "
                                       "Forbidden: elastic job is not supported for "
                                       "\"jobset.x-k8s.io/v1alpha2, Kind=JobSet\""));
  EXPECT_THAT(errors(job(elastic)), IsEmpty());
  EXPECT_THAT(errors(job(), job(elastic)), ElementsAre(testing::EndsWith("field is immutable")));
}

TEST_F(JobWebhook, a_spark_application_makes_its_own_workload) {
  const auto spark = [](const char* metadata) {
    Json json = Json::parse(R"({"spec": {"mode": "cluster", "driver": {}, "executor": {}}})");
    json["metadata"] = Json::parse(metadata);
    json["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "main";
    const JobKind* kind = all_kinds().find("sparkoperator.k8s.io", "SparkApplication");
    return kind->decode(json, nullptr).value();
  };
  EXPECT_THAT(errors(spark("{}")), IsEmpty());
  EXPECT_THAT(errors(spark(R"({"labels": {"kueue.x-k8s.io/prebuilt-workload-name": "w"}})")),
              ElementsAre("metadata.labels[kueue.x-k8s.io/prebuilt-workload-name]: Forbidden: Is "
                          "not supported for \"sparkoperator.k8s.io/v1beta2, "
                          "Kind=SparkApplication\""));
  EXPECT_THAT(errors(spark(R"({"annotations": {"kueue.x-k8s.io/prebuilt-workload-name": "w"}})")),
              ElementsAre(testing::StartsWith("metadata.annotations[")));
}

TEST_F(JobWebhook, a_pod_that_is_not_managed_stays_as_it_is) {
  cluster_.workload_classes["default"] = std::make_shared<api::WorkloadPriorityClass>();
  const auto pod = [](const char* metadata) {
    Json json = Json::parse(R"({"spec": {"containers": [{"name": "c"}]}})");
    json["metadata"] = Json::parse(metadata);
    json["metadata"]["namespace"] = "team";
    return all_kinds().find("", "Pod")->decode(json, nullptr).value();
  };
  EXPECT_EQ(defaults(pod(R"({"name": "p"})")), Json::object());
  const Json queued = defaults(pod(R"({"labels": {"kueue.x-k8s.io/queue-name": "main"}})"));
  EXPECT_EQ(queued["metadata"]["labels"], Json({{"kueue.x-k8s.io/managed", "true"},
                                                {"kueue.x-k8s.io/priority-class", "default"}}));
  EXPECT_EQ(queued["spec"]["schedulingGates"].size(), 2U);
  const Json of_parent =
      defaults(pod(R"({"annotations": {"kueue.x-k8s.io/pod-suspending-parent": "statefulset"}})"));
  EXPECT_EQ(of_parent["spec"]["schedulingGates"].size(), 2U);
  EXPECT_FALSE(of_parent["metadata"].contains("finalizers"));
}

TEST_F(JobWebhook, an_elastic_job_has_neither_places_nor_a_least_number_of_pods) {
  const char* elastic = R"({"metadata": {"annotations": {"kueue.x-k8s.io/elastic-job": "true",
    "kueue.x-k8s.io/job-min-parallelism": "1"}}, "spec": {"template": {"metadata": {"annotations":
    {"kueue.x-k8s.io/podset-required-topology": "rack"}}}}})";
  EXPECT_THAT(errors(job(elastic)),
              ElementsAre(testing::EndsWith("partial admission and elastic job cannot be used "
                                            "together"),
                          testing::EndsWith("required topology is not supported with elastic "
                                            "jobs")));
}

TEST_F(JobWebhook, the_default_queue_takes_a_job_without_one) {
  const Json expected = Json::parse(R"({"spec": {"suspend": true},
    "metadata": {"labels": {"kueue.x-k8s.io/queue-name": "default"}}})");
  queue("default");
  EXPECT_EQ(defaults(job()), expected);
  EXPECT_EQ(defaults(queued()), suspended);
  queue("default").spec.stop_policy = api::StopPolicy::Hold;
  EXPECT_EQ(defaults(job()), nothing);
  queue("default");
  config_.jobs.default_queue = false;
  EXPECT_EQ(defaults(job()), nothing);
}

TEST_F(JobWebhook, a_job_whose_queue_leads_to_workers_is_given_to_multikueue) {
  fleet("cq");
  queue("main");
  const Json expected =
      Json::parse(R"({"spec": {"suspend": true, "managedBy": "kueue.x-k8s.io/multikueue"}})");
  EXPECT_EQ(defaults(queued()), expected);
  EXPECT_EQ(defaults(queued(R"({"spec": {"managedBy": "kubernetes.io/job-controller"}})")),
            expected);
  EXPECT_EQ(defaults(queued(R"({"spec": {"managedBy": "example.com/own"}})")), suspended);
  config_.multikueue = false;
  EXPECT_EQ(defaults(queued()), suspended);
  config_.multikueue = true;
  queue("main", "other");
  EXPECT_EQ(defaults(queued()), suspended);
}

TEST_F(JobWebhook, a_job_in_such_a_queue_may_ask_to_run_on_the_hub) {
  fleet("cq");
  queue("main");
  const auto with = [](const char* wish) {
    return queued((R"({"metadata": {"annotations": {"multikueue.regatta.dev/run-on-hub": ")" +
                   std::string(wish) + "\"}}}")
                      .c_str());
  };
  EXPECT_EQ(defaults(with("true")), suspended);
  EXPECT_NE(defaults(with("false")), suspended);
  const std::string field = "metadata.annotations[multikueue.regatta.dev/run-on-hub]: ";
  EXPECT_THAT(errors(with("true")), IsEmpty());
  EXPECT_THAT(errors(with("yes")),
              ElementsAre(field + "Invalid value: \"yes\": must be true or false"));
  EXPECT_THAT(errors(queued(), with("true")), ElementsAre(testing::EndsWith("is immutable")))
      << "it is not suspended";
  constexpr auto waiting = R"({"metadata": {"annotations":
    {"multikueue.regatta.dev/run-on-hub": "true"}}, "spec": {"suspend": true}})";
  EXPECT_THAT(errors(queued(R"({"spec": {"suspend": true}})"), queued(waiting)), IsEmpty());
}

TEST_F(JobWebhook, a_job_whose_runtime_has_no_api_can_only_be_deleted) {
  const auto with = [](const char* patch) {
    Json json = Json::parse(R"({"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob",
        "metadata": {"name": "t", "namespace": "team",
                     "labels": {"kueue.x-k8s.io/queue-name": "main"}},
        "spec": {"suspend": true, "runtimeRef": {"name": "torch"}}})");
    json.merge_patch(Json::parse(patch));
    return all_kinds().find("trainer.kubeflow.org", "TrainJob")->decode(json, nullptr).value();
  };
  const JobPtr before = with("{}");
  const JobPtr after = with(R"({"metadata": {"labels": {"a": "b"}}})");
  EXPECT_THAT(errors(before), ElementsAre("runtime 'torch' not found"));
  EXPECT_THAT(errors(before, after), IsEmpty()) << "it may come";
  cluster_.serves = false;
  const char* never = "unsupported runtime: ClusterTrainingRuntime.trainer.kubeflow.org";
  EXPECT_THAT(errors(before), ElementsAre(never));
  EXPECT_THAT(errors(before, after), ElementsAre(never));
  EXPECT_THAT(
      errors(before, with(R"({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}})")),
      IsEmpty());
}

TEST_F(JobWebhook, names_in_labels_are_names) {
  EXPECT_THAT(errors(queued()), IsEmpty());
  EXPECT_THAT(errors(job(R"({"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "A_b"}}})")),
              ElementsAre(testing::StartsWith("metadata.labels[kueue.x-k8s.io/queue-name]: "
                                              "Invalid value: \"A_b\": a lowercase RFC 1123")));
}

TEST_F(JobWebhook, the_limit_of_time_is_a_number_above_zero) {
  const auto with = [](const char* limit) {
    return job((R"({"metadata": {"labels": {"kueue.x-k8s.io/max-exec-time-seconds": ")" +
                std::string(limit) + "\"}}}")
                   .c_str());
  };
  const std::string field =
      "metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]: Invalid value: ";
  EXPECT_THAT(errors(with("10")), IsEmpty());
  EXPECT_THAT(errors(with("0")), ElementsAre(field + "0: should be greater than 0"));
  EXPECT_THAT(errors(with("1m")),
              ElementsAre(field + R"("1m": strconv.Atoi: parsing "1m": invalid syntax)"));
  EXPECT_THAT(errors(with("99999999999999999999")),
              ElementsAre(testing::HasSubstr("value out of range")));
}

TEST_F(JobWebhook, the_least_number_of_pods_is_below_their_number) {
  const auto with = [](const char* least) {
    return job((R"({"metadata": {"annotations": {"kueue.x-k8s.io/job-min-parallelism": ")" +
                std::string(least) + "\"}}}")
                   .c_str());
  };
  const std::string field = "metadata.annotations[kueue.x-k8s.io/job-min-parallelism]: ";
  EXPECT_THAT(errors(with("2")), IsEmpty());
  EXPECT_THAT(errors(with("3")),
              ElementsAre(field + "Invalid value: 3: should be between 0 and 2"));
  EXPECT_THAT(errors(with("x")), ElementsAre(testing::HasSubstr("invalid syntax")));
}

TEST_F(JobWebhook, completions_that_follow_the_parallelism_are_indexed_and_equal) {
  constexpr auto follows = R"({"metadata": {"annotations":
    {"kueue.x-k8s.io/job-completions-equal-parallelism": "true"}}, "spec": {"completions": 5}})";
  EXPECT_THAT(errors(job(follows)),
              ElementsAre(testing::EndsWith("should not be enabled for NonIndexed jobs"),
                          testing::StartsWith("spec.completions: Invalid value: 5: should be")));
}

TEST_F(JobWebhook, a_running_job_keeps_its_queue_and_its_limit) {
  const char* other = R"({"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "other"}}})";
  const char* held = R"({"spec": {"suspend": true}})";
  const char* other_held = R"({"spec": {"suspend": true},
    "metadata": {"labels": {"kueue.x-k8s.io/queue-name": "other"}}})";
  EXPECT_THAT(errors(queued(), job(other)),
              ElementsAre("metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"other\": "
                          "field is immutable"));
  EXPECT_THAT(errors(queued(held), queued(other_held)), IsEmpty());
  const char* limited =
      R"({"metadata": {"labels": {"kueue.x-k8s.io/max-exec-time-seconds": "5"}}})";
  EXPECT_THAT(errors(queued(held), queued(limited)),
              ElementsAre(testing::EndsWith("field is immutable")));
}

TEST_F(JobWebhook, a_queue_is_not_taken_away_where_there_is_a_default_queue) {
  const char* held = R"({"spec": {"suspend": true}})";
  EXPECT_THAT(errors(queued(held), job(held)), IsEmpty());
  queue("default");
  EXPECT_THAT(errors(queued(held), job(held)),
              ElementsAre(testing::EndsWith("must not be empty in namespace with default queue")));
}

TEST_F(JobWebhook, a_running_job_of_partial_admission_keeps_its_size) {
  const char* partial = R"({"metadata": {"annotations":
    {"kueue.x-k8s.io/job-min-parallelism": "1"}}})";
  const char* smaller = R"({"spec": {"parallelism": 2}, "metadata": {"annotations":
    {"kueue.x-k8s.io/job-min-parallelism": "1"}}})";
  EXPECT_THAT(errors(job(partial), job(smaller)),
              ElementsAre("spec.parallelism: Forbidden: cannot change when partial admission is "
                          "enabled and the job is not suspended"));
}

TEST_F(JobWebhook, a_marked_pod_of_a_job_is_warned_of) {
  const auto warnings = [&](const char* patch) {
    Json json = Json::parse(R"({"metadata": {"name": "p", "namespace": "team",
        "labels": {"kueue.x-k8s.io/managed": "true"},
        "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u",
                             "controller": true}]}})");
    json.merge_patch(Json::parse(patch));
    return job_warnings(cluster_, **all_kinds().find("", "Pod")->decode(json, nullptr));
  };
  EXPECT_EQ(warnings("{}"),
            std::vector<std::string>{"pod owner is managed by kueue, label "
                                     "'kueue.x-k8s.io/managed=true' might lead to unexpected "
                                     "behaviour"});
  EXPECT_TRUE(warnings(R"({"metadata": {"ownerReferences": null}})").empty());
  EXPECT_TRUE(warnings(R"({"metadata": {"labels": null}})").empty());
  EXPECT_TRUE(warnings(R"({"metadata": {"annotations":
                           {"kueue.x-k8s.io/pod-suspending-parent": "x"}}})")
                  .empty());
  EXPECT_TRUE(job_warnings(cluster_, *queued(R"({"metadata": {"labels":
                                                 {"kueue.x-k8s.io/managed": "true"}}})"))
                  .empty());
}

TEST_F(JobWebhook, pods_of_an_elastic_cluster_are_gated_where_their_workload_is_made) {
  const auto gated = [&](const char* patch = "{}") {
    Json json = Json::parse(R"({"metadata": {"name": "c", "namespace": "team",
        "labels": {"kueue.x-k8s.io/queue-name": "main"},
        "annotations": {"kueue.x-k8s.io/elastic-job": "true"}},
        "spec": {"headGroupSpec": {"template": {"spec": {}}}}})");
    json.merge_patch(Json::parse(patch));
    json.merge_patch(default_job(cluster_,
                                 **all_kinds().find("ray.io", "RayCluster")->decode(json, nullptr),
                                 config_)
                         .value());
    return json["spec"]["headGroupSpec"]["template"]["spec"].contains("schedulingGates");
  };
  queue("main");
  EXPECT_TRUE(gated());
  EXPECT_FALSE(gated(R"({"metadata": {"labels": null}})")) << "nothing would open them";
  EXPECT_FALSE(gated(R"({"metadata": {"annotations": {"kueue.x-k8s.io/elastic-job": null}}})"));
  EXPECT_FALSE(gated(R"({"metadata": {"annotations":
                         {"kueue.x-k8s.io/prebuilt-workload-name": "w"}}})"));
  fleet("cq");
  EXPECT_FALSE(gated()) << "it runs elsewhere";
  config_.multikueue = false;
  config_.jobs.policy.elastic = false;
  EXPECT_FALSE(gated());
}

}  // namespace
}  // namespace regatta::jobs
