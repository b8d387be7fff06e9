#include "manager/metrics.h"

#include "manager/metrics/catalogue.h"
#include "tests/component/one_cluster.h"

#include <regex>
#include <set>
#include <sstream>

namespace regatta::test_support {
namespace {

using testing::HasSubstr;
using testing::Not;

class Series : public OneCluster {
 protected:
  static manager::QueueGaugesConfig everything() {
    manager::QueueGaugesConfig config;
    config.role = "leader";
    config.resources = true;
    config.local_queues = api::Selector();
    return config;
  }
  void start(manager::QueueGaugesConfig shown = everything()) {
    metrics_.emplace(std::move(shown), "1.2.3");
    apply(flavor_yaml);
    apply(cluster_queue_yaml);
    apply(local_queue_yaml);
    apply("apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: all}\nspec: {}\n");
    apply(
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: team}\nspec: "
        "{parentName: all}\n");
    ASSERT_TRUE(cluster_.patch(api::ClusterQueue::resource, api::ObjectKey("cq"),
                               R"({"spec":{"cohortName":"team"}})"));
    manager::CoreConfig config;
    config.scheduler.admission.fair_sharing.emplace();
    config.scheduler.admission.admission_fair_sharing.emplace().usage_half_life = 10min;
    metrics_->hook_into(&config);
    manager_.emplace(cluster_, network_, std::move(config));
    metrics_->follow(manager_->core());
    until("the manager has synced", [&] { return manager_->started(); });
    settle();
  }
  /// Expects "name{labels} value" among all lines.
  void expect(const std::string& line) { EXPECT_THAT(metrics_->text(), HasSubstr(line + "\n")); }

  /// Of the job `a`.
  void expect_counted_when_it_ends_after_its_eviction(const std::string& yaml, int pods) {
    apply(yaml);
    settle();
    run_job("a", pods);
    ASSERT_TRUE(cluster_.patch(api::Workload::resource, workload_of("a")->metadata.key(),
                               R"({"spec":{"active":false}})"));
    settle();
    patch_job_status("a", R"({"status":{"active":null,"ready":0}})");
    settle();
    EXPECT_THAT(condition_of("a", "QuotaReserved"), HasSubstr("False "));
    complete_job("a", pods);
    settle();
    expect(R"(kueue_finished_workloads_total{cluster_queue="cq",priority_class="",)"
           R"(replica_role="leader"} 1)");
  }

  std::optional<manager::Metrics> metrics_;
};

TEST_F(Series, TellWhatQueuesAndCohortsHold) {
  start();
  for (const char* name : {"a", "b", "c"}) apply(job_yaml(name, 2));
  settle();
  for (const char* name : {"a", "b"}) run_job(name, 2);
  settle();
  const std::string cq = R"(cluster_queue="cq",)", role = R"(replica_role="leader")";
  expect("kueue_cluster_queue_info{" + cq + R"(parent_cohort="team",)" + role +
         R"(,root_cohort="all"} 1)");
  expect(R"(kueue_cohort_info{cohort="team",parent_cohort="all",)" + role +
         R"(,root_cohort="all"} 1)");
  expect(R"(kueue_cohort_subtree_quota{cohort="all",flavor="cpu-only",)" + role +
         R"(,resource="cpu"} 4)");
  expect(R"(kueue_cohort_subtree_resource_reservations{cohort="all",flavor="cpu-only",)" + role +
         R"(,resource="cpu"} 4)");
  expect(R"(kueue_cohort_subtree_admitted_active_workloads{cohort="all",)" + role + "} 2");
  expect(R"(kueue_cluster_queue_nominal_quota{)" + cq + R"(cohort="team",flavor="cpu-only",)" +
         role + R"(,resource="cpu"} 4)");
  expect(R"(kueue_cluster_queue_resource_usage{)" + cq + R"(cohort="team",flavor="cpu-only",)" +
         role + R"(,resource="cpu"} 4)");
  expect("kueue_unadmitted_workloads{" + cq + R"(reason="NoReservation",)" + role +
         R"(,underlying_cause="WaitingForQuota"} 1)");
  expect("kueue_pending_workloads{" + cq + role + R"(,status="inadmissible"} 1)");
  expect(R"(kueue_local_queue_pending_workloads{name="main",namespace="default",)" + role +
         R"(,status="inadmissible"} 1)");
  expect(R"(kueue_local_queue_status{active="True",name="main",namespace="default",)" + role +
         "} 1");
  EXPECT_THAT(metrics_->text(), HasSubstr("kueue_cluster_queue_weighted_share{"));
  EXPECT_THAT(metrics_->text(), HasSubstr("kueue_workload_creation_latency_seconds_count{"));
  EXPECT_THAT(metrics_->text(),
              HasSubstr(R"(kueue_cohort_subtree_admitted_workloads_total{cohort="all")"));
  expect(R"(kueue_local_queue_admitted_workloads_total{name="main",namespace="default",)"
         R"(priority_class="",)" +
         role + "} 2");
  complete_job("a", 2);
  settle();
  expect("kueue_finished_workloads{" + cq + role + "} 1");
  EXPECT_THAT(metrics_->text(), Not(HasSubstr("kueue_unadmitted_workloads{")));
}

TEST_F(Series, TellHowMuchOfHowManyKindsWaits) {
  start();
  for (const char* name : {"a", "b", "c"}) apply(job_yaml(name, 3));
  apply(job_yaml("d", 4));
  settle();
  const std::string cq = R"(cluster_queue="cq",)", role = R"(replica_role="leader")";
  const auto kinds = [&](const char* status, int count) {
    expect("kueue_pending_scheduling_hashes{" + cq + role + R"(,status=")" + status + "\"} " +
           std::to_string(count));
  };
  kinds("active", 0);
  kinds("inadmissible", 2);
  expect("kueue_cluster_queue_resource_pending{" + cq + role + R"(,resource="cpu"} 10)");
  cluster_.set_stop_policy("Hold");
  apply(job_yaml("e", 2));
  settle();
  kinds("active", 0);
  kinds("inadmissible", 3);
  expect("kueue_pending_workloads{" + cq + role + R"(,status="inadmissible"} 4)");
}

TEST_F(Series, TellWhatALocalQueueUsedWhereThatCounts) {
  start();
  const char* series = "kueue_local_queue_admission_fair_sharing_usage{";
  EXPECT_THAT(metrics_->text(), Not(HasSubstr(series)));
  ASSERT_TRUE(cluster_.patch(
      api::ClusterQueue::resource, api::ObjectKey("cq"),
      R"({"spec":{"admissionScope":{"admissionMode":"UsageBasedAdmissionFairSharing"}}})"));
  settle();
  const std::string line = std::string(series) + R"(cluster_queue="cq",name="main",)"
                                                 R"(namespace="default",replica_role="leader"})";
  expect(line + " 0");
  apply(job_yaml("a"));
  settle();
  EXPECT_THAT(metrics_->text(), HasSubstr(line));
  EXPECT_THAT(metrics_->text(), Not(HasSubstr(line + " 0\n")));
}

TEST_F(Series, EndWithWhatTheyAreAbout) {
  start();
  apply(job_yaml("a"));
  settle();
  const std::string of_queue = R"(cluster_queue="cq")", of_local = R"(name="main",namespace=)",
                    of_cohort = R"(cohort="team")";
  for (const char* family : {"kueue_admitted_workloads_total{", "kueue_local_queue_admitted_workl",
                             "kueue_admission_wait_time_seconds_bucket{",
                             "kueue_cohort_subtree_admitted_workloads_total{"}) {
    EXPECT_THAT(metrics_->text(), HasSubstr(family));
  }
  const api::ObjectKey workload = workload_of("a")->metadata.key();
  ASSERT_TRUE(cluster_.remove(api::Job::resource, key("a")));
  ASSERT_TRUE(cluster_.remove(api::Workload::resource, workload));
  settle();
  ASSERT_TRUE(cluster_.remove(api::LocalQueue::resource, key("main")));
  settle();
  EXPECT_THAT(metrics_->text(), Not(HasSubstr(of_local)));
  EXPECT_THAT(metrics_->text(), HasSubstr(of_queue));
  ASSERT_TRUE(cluster_.remove(api::ClusterQueue::resource, api::ObjectKey("cq")));
  ASSERT_TRUE(cluster_.remove(api::Cohort::resource, api::ObjectKey("team")));
  settle();
  EXPECT_THAT(metrics_->text(), Not(HasSubstr(of_queue)));
  EXPECT_THAT(metrics_->text(), Not(HasSubstr(of_cohort)));
}

TEST_F(Series, OfACohortNeedNoQueueBelowItAndEndWithIt) {
  const std::string tail = R"(,replica_role="leader")";
  const auto info = [&](const std::string& name, const std::string& parent,
                        const std::string& root) {
    return "kueue_cohort_info{cohort=\"" + name + "\",parent_cohort=\"" + parent + '"' + tail +
           ",root_cohort=\"" + root + "\"} 1\n";
  };
  const auto quota = [&](const std::string& name, const std::string& value) {
    return "kueue_cohort_subtree_quota{cohort=\"" + name + "\",flavor=\"cpu-only\"" + tail +
           ",resource=\"cpu\"} " + value + "\n";
  };
  start();
  apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: empty}
spec:
  parentName: implicit
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: cpu-only, resources: [{name: cpu, nominalQuota: "3"}]}]
)");
  settle();
  EXPECT_THAT(metrics_->text(), HasSubstr(info("empty", "implicit", "implicit")));
  EXPECT_THAT(metrics_->text(), HasSubstr(info("implicit", "", "implicit")));
  EXPECT_THAT(metrics_->text(), HasSubstr(quota("empty", "3")));
  EXPECT_THAT(metrics_->text(), HasSubstr(quota("implicit", "3")));
  EXPECT_THAT(metrics_->text(), HasSubstr("kueue_cohort_weighted_share{cohort=\"empty\""));
  EXPECT_THAT(metrics_->text(), HasSubstr("kueue_cohort_weighted_share{cohort=\"implicit\""));
  EXPECT_THAT(metrics_->text(), Not(HasSubstr("active_workloads{cohort=\"empty\"")));
  ASSERT_TRUE(cluster_.remove(api::Cohort::resource, api::ObjectKey("empty")));
  settle();
  EXPECT_THAT(metrics_->text(), Not(HasSubstr("cohort=\"implicit\"")));

  apply(job_yaml("a"));
  settle();
  const std::string below = R"(cohort="team")";
  EXPECT_THAT(metrics_->text(), HasSubstr("admitted_workloads_total{" + below));
  EXPECT_THAT(metrics_->text(), HasSubstr(quota("team", "4")));
  // The queue still names it.
  ASSERT_TRUE(cluster_.remove(api::Cohort::resource, api::ObjectKey("team")));
  apply(job_yaml("b"));
  settle();
  EXPECT_THAT(metrics_->text(), Not(HasSubstr(quota("team", "4"))));
  EXPECT_THAT(metrics_->text(), Not(HasSubstr("workloads_total{" + below)));
  EXPECT_THAT(metrics_->text(), Not(HasSubstr("active_workloads{" + below)));
}

TEST_F(Series, OfACohortWithoutAnObjectEndWhenNoQueueNamesIt) {
  start();
  const auto move_to = [&](const char* cohort) {
    ASSERT_TRUE(cluster_.patch(api::ClusterQueue::resource, api::ObjectKey("cq"),
                               std::string(R"({"spec":{"cohortName":")") + cohort + "\"}}"));
    settle();
  };
  move_to("implicit");
  apply(job_yaml("a"));
  settle();
  const std::string total = "kueue_cohort_subtree_admitted_workloads_total{cohort=\"implicit\"";
  EXPECT_THAT(metrics_->text(), HasSubstr(total));
  move_to("team");
  EXPECT_THAT(metrics_->text(), Not(HasSubstr(total)));
}

TEST_F(Series, HaveValuesWithAsManyDigitsAsTheyTake) {
  start();
  apply(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: lender}
spec:
  cohortName: team
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: cpu-only, resources: [{name: cpu, nominalQuota: "5"}]}]
)");
  settle();
  apply(job_yaml("borrows", 6));
  settle();
  EXPECT_THAT(metrics_->text(),
              HasSubstr(R"(kueue_cluster_queue_weighted_share{cluster_queue="cq",cohort="team",)"
                        R"(replica_role="leader"} 222.22222222222223)"));
}

TEST_F(Series, CountAWorkloadThatEndsAfterItsEvictionForItsQueue) {
  start();
  expect_counted_when_it_ends_after_its_eviction(job_yaml("a"), 1);
}

TEST_F(Series, CountAnElasticJobThatEndsAfterItsEvictionOnce) {
  start();
  expect_counted_when_it_ends_after_its_eviction(
      job_yaml("a", 2, "main", R"({kueue.x-k8s.io/elastic-job: "true"})"), 2);
}

TEST_F(Series, OfAFollowerAreGaugesOnly) {
  start();
  metrics_->set_role("follower");
  apply(job_yaml("a"));
  settle();
  EXPECT_THAT(metrics_->text(), Not(HasSubstr("kueue_admitted_workloads_total{")));
  expect(R"(kueue_admitted_active_workloads{cluster_queue="cq",replica_role="follower"} 1)");
  metrics_->set_role("leader");
  apply(job_yaml("b"));
  settle();
  expect(R"(kueue_admitted_workloads_total{cluster_queue="cq",priority_class="",)"
         R"(replica_role="leader"} 1)");
}

TEST_F(Series, OfPlacesInTheTreeAndOfCreationCanBeLeftOut) {
  manager::QueueGaugesConfig shown = everything();
  shown.cohort_info = shown.creation_latency = false;
  start(std::move(shown));
  apply(job_yaml("a"));
  settle();
  EXPECT_THAT(metrics_->text(), HasSubstr("kueue_admitted_workloads_total{"));
  EXPECT_THAT(metrics_->text(), Not(HasSubstr("kueue_cohort_info")));
  EXPECT_THAT(metrics_->text(), Not(HasSubstr("kueue_cluster_queue_info")));
  EXPECT_THAT(metrics_->text(), HasSubstr("kueue_cohort_subtree_admitted_active_workloads{"));
  EXPECT_THAT(metrics_->text(), Not(HasSubstr("creation_latency_seconds_count")));
}

TEST_F(Series, AreSplitByTheLabelsOfWorkloads) {
  manager::QueueGaugesConfig shown = everything();
  shown.custom_labels.resize(1);
  shown.custom_labels[0].name = "size";
  shown.custom_labels[0].source_kind = manager::MetricSource::Workload;
  shown.custom_labels[0].tracked_values = {"big"};
  start(std::move(shown));
  apply(job_yaml("a"));
  apply(job_yaml("waits", 100));
  settle();
  for (const char* name : {"a", "waits"}) {
    ASSERT_TRUE(cluster_.patch(api::Workload::resource, workload_of(name)->metadata.key(),
                               std::string(R"({"metadata":{"labels":{"size":")") +
                                   (name[0] == 'w' ? "big" : "tiny") + "\"}}}"));
  }
  settle();
  const std::string untracked = R"(custom_size="kueue.x-k8s.io/_UNTRACKED_VALUE_",)";
  const std::string role = R"(replica_role="leader")";
  expect(R"(kueue_pending_workloads{cluster_queue="cq",custom_size="big",)" + role +
         R"(,status="inadmissible"} 1)");
  expect(R"(kueue_admitted_active_workloads{cluster_queue="cq",)" + untracked + role + "} 1");
  expect("kueue_local_queue_admitted_active_workloads{" + untracked +
         R"(name="main",namespace="default",)" + role + "} 1");
  // Without such a Workload there is no series.
  EXPECT_THAT(metrics_->text(),
              Not(HasSubstr(R"(kueue_pending_workloads{cluster_queue="cq",)" + untracked)));
}

/// Names of the labels of a sample.
std::set<std::string> label_names(const std::string& sample) {
  std::set<std::string> names;
  static const std::regex label("([a-z_]+)=\"");
  for (auto it = std::sregex_iterator(sample.begin(), sample.end(), label);
       it != std::sregex_iterator(); ++it) {
    if ((*it)[1] != "le") names.insert((*it)[1]);
  }
  return names;
}

TEST_F(Series, HaveTheKindsAndLabelsOfTheCatalogue) {
  start();
  apply(job_yaml("a"));
  apply(job_yaml("waits", 100));
  settle();
  run_job("a", 1);
  complete_job("a", 1);
  settle();
  std::istringstream lines(metrics_->text());
  const manager::MetricInfo* info = nullptr;
  int families = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string hash, type, name, kind;
    words >> hash >> type >> name >> kind;
    if (type == "TYPE") {
      info = manager::find_metric(name);
      if (info == nullptr) info = manager::find_own_metric(name);
      // The only one that Kueue does not export.
      EXPECT_TRUE(info != nullptr || name == "kueue_replaced_workload_slices_total") << name;
      if (info == nullptr) continue;
      ++families;
      using Kind = manager::MetricKind;
      EXPECT_EQ(kind, info->kind == Kind::counter     ? "counter"
                      : info->kind == Kind::histogram ? "histogram"
                                                      : "gauge")
          << name;
    }
    if (hash == "#" || info == nullptr || info->name == "kueue_build_info") continue;
    EXPECT_EQ(label_names(line), std::set<std::string>(info->labels.begin(), info->labels.end()))
        << line;
  }
  EXPECT_GT(families, 40);
}

TEST_F(Series, HaveTheLabelsThatTheirQueuesHave) {
  std::vector<manager::CustomMetricLabel> labels(3);
  labels[0].name = "team";
  labels[0].source_annotation_key = "example.com/team";
  labels[1].name = "tier";
  labels[1].source_kind = manager::MetricSource::LocalQueue;
  labels[1].tracked_values = {"gold"};
  labels[2].name = "site";
  labels[2].source_kind = manager::MetricSource::Cohort;
  manager::QueueGaugesConfig shown = everything();
  shown.custom_labels = labels;
  start(std::move(shown));
  ASSERT_TRUE(cluster_.patch(api::ClusterQueue::resource, api::ObjectKey("cq"),
                             R"({"metadata":{"annotations":{"example.com/team":"red"}}})"));
  ASSERT_TRUE(cluster_.patch(api::LocalQueue::resource, key("main"),
                             R"({"metadata":{"labels":{"tier":"tin"}}})"));
  settle();
  const std::string role = R"(replica_role="leader")";
  expect(R"(kueue_admitted_active_workloads{cluster_queue="cq",)" + role +
         R"(,custom_team="red"} 0)");
  expect(R"(kueue_local_queue_admitted_active_workloads{name="main",namespace="default",)" + role +
         R"(,custom_tier="kueue.x-k8s.io/_UNTRACKED_VALUE_"} 0)");
  expect(R"(kueue_cohort_subtree_admitted_active_workloads{cohort="all",)" + role +
         R"(,custom_site=""} 0)");
}

}  // namespace
}  // namespace regatta::test_support
