#include "lib/base/joined.h"
#include "tests/component/federation.h"

namespace regatta::test_support {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// A hub whose MultiKueueConfig names no worker that there is, and selects workers by their labels.
class SelectClusters : public Federation {
 protected:
  void select(const std::string& selector) {
    ASSERT_TRUE(cluster_.patch(
        api::MultiKueueConfig::resource, api::ObjectKey("all"),
        R"({"metadata": {"annotations": {"multikueue.regatta.dev/select-clusters": ")" + selector +
            R"("}}, "spec": {"clusters": ["none-such"]}})"));
  }
  /// `region` null: without the label.
  void label(const std::string& worker, const std::string& region) {
    ASSERT_TRUE(cluster_.patch(api::MultiKueueCluster::resource, api::ObjectKey(worker),
                               R"({"metadata": {"labels": {"region": )" + region + "}}}"));
  }
  void run_on_east(const std::string& selector) {
    start_all({"east"});
    label("east", R"("eu")");
    select(selector);
    settle(2s);
    apply(lasting_job_yaml("a"));
    until("runs", [&] { return job("a").status.active == 1; });
  }
  std::string uid_of_job() {
    const auto found = workers_.at("east").cluster->get<api::Job>(key("a"));
    return found ? found->metadata.uid : "no job";
  }
  std::string check() {
    const auto found = cluster_.get<api::AdmissionCheck>(api::ObjectKey("mk"));
    return found ? condition(found->status.conditions, "Active") : "no such check";
  }
};

TEST_F(SelectClusters, WorkersWithTheLabelHaveTheJobs) {
  start_all({"east", "west"});
  label("west", R"("eu")");
  select("region in (eu)");
  settle(2s);
  EXPECT_EQ(check(), "True SomeActiveClusters: Missing clusters: [none-such]");
  apply(remote_job_yaml("a"));
  until("sent", [&] { return held_by("west") == "workloads 1, jobs 1"; });
  EXPECT_EQ(held_by("east"), "workloads 0, jobs 0");
}

TEST_F(SelectClusters, ALabelThatComesLaterIsNewsForWaitingWorkloads) {
  start_all({"east", "west"});
  select("region=eu");
  apply(remote_job_yaml("a"));
  settle(5s);
  EXPECT_THAT(check(), StartsWith("False NoUsableClusters"));
  EXPECT_EQ(held_by("east"), "workloads 0, jobs 0");
  label("east", R"("eu")");
  until("sent", [&] { return held_by("east") == "workloads 1, jobs 1"; }, 10s);
}

TEST_F(SelectClusters, AWorkerThatLosesItsLabelIsNoLongerListed) {
  start_all({"east", "west"});
  label("east", R"("eu")");
  select("region=eu");
  apply(remote_job_yaml("a"));
  until("sent", [&] { return held_by("east") == "workloads 1, jobs 1"; });
  label("west", R"("eu")");
  label("east", "null");
  until("moved", [&] { return held_by("west") == "workloads 1, jobs 1"; });
  until("clean", [&] { return held_by("east") == "workloads 0, jobs 0"; });
}

/// More workers than a config may name, of which two exist.
TEST_F(SelectClusters, OfManyWorkersOneThatComesBackIsAskedAndOneThatIsLostIsNot) {
  for (const char* name : {"east", "west"}) add_worker(name);
  configure_hub();
  network_.faults("west").partitioned = true;
  start_manager();
  for (int i = 0; i < 20; ++i) apply(TestConnector::member_yaml("ghost-" + std::to_string(i)));
  for (int i = 0; i < 20; ++i) label("ghost-" + std::to_string(i), R"("eu")");
  for (const char* name : {"east", "west"}) label(name, R"("eu")");
  select("region=eu");
  settle(5s);
  apply(remote_job_yaml("a"));
  const auto nominated = [&] {
    const auto found = workload_of("a");
    return found ? joined(found->status.nominated_cluster_names, " ") : "no Workload";
  };
  until("east is asked", [&] { return nominated() == "east"; });
  until("sent", [&] { return held_by("east") == "workloads 1, jobs 0"; });
  network_.faults("west").partitioned = false;
  until("west is asked", [&] { return nominated() == "east west"; }, 2min);
  until("sent", [&] { return held_by("west") == "workloads 1, jobs 0"; });
  network_.faults("east").partitioned = true;
  until("east is not asked", [&] { return nominated() == "west"; }, 15min);
  start_worker("west");
  until("runs", [&] { return held_by("west") == "workloads 1, jobs 1"; });
}

TEST_F(SelectClusters, ASelectorThatCannotBeReadIsNamed) {
  start_all({"east"});
  label("east", R"("eu")");
  select("region in (eu");
  until("said", [&] { return check().starts_with("False BadConfig"); });
  EXPECT_THAT(check(), HasSubstr("annotation multikueue.regatta.dev/select-clusters of "
                                 "MultiKueueConfig \"all\": "));
  apply(remote_job_yaml("a"));
  settle(5s);
  EXPECT_EQ(held_by("east"), "workloads 0, jobs 0");
  select("region in (eu)");
  until("sent", [&] { return held_by("east") == "workloads 1, jobs 1"; });
}

TEST_F(SelectClusters, ASelectorThatCannotBeReadLeavesAloneWhatRuns) {
  run_on_east("region in (eu)");
  const std::string uid = uid_of_job();
  select("region in (eu");
  until("said", [&] { return check().starts_with("False BadConfig"); });
  settle(5min);
  EXPECT_EQ(uid_of_job(), uid);
  EXPECT_EQ(condition_of("a", "Evicted"), "");
  EXPECT_EQ(workload_of("a")->status.cluster_name, "east");
}

TEST_F(SelectClusters, AMultiKueueClusterThatCannotBeReadMayBeSelected) {
  run_on_east("region=eu");
  const std::string uid = uid_of_job();
  manager_.reset();
  make_unreadable(api::MultiKueueCluster::resource, "east");
  start_manager();
  settle(5min);
  EXPECT_EQ(uid_of_job(), uid);
  EXPECT_EQ(condition_of("a", "Evicted"), "");
  EXPECT_THAT(condition_of("a", "Dispatched"), HasSubstr("cannot be read"));
}

TEST_F(SelectClusters, OfManyWorkersOneThatTheHubForgotKeepsTheQuotaOfAnEvictedJob) {
  start_all({"east"});
  for (int i = 0; i < 20; ++i) apply(TestConnector::member_yaml("ghost-" + std::to_string(i)));
  for (int i = 0; i < 20; ++i) label("ghost-" + std::to_string(i), R"("eu")");
  label("east", R"("eu")");
  select("region=eu");
  settle(5s);
  apply(lasting_job_yaml("a"));
  until("runs", [&] { return job("a").status.active == 1; }, 5min);
  network_.faults("east").partitioned = true;
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, workload_of("a")->metadata.key(),
                             R"({"spec":{"active":false}})"));
  until("evicted", [&] { return condition_of("a", "Evicted").starts_with("True"); });
  manager_.reset();  // the caches are lost
  start_manager();
  settle(3min);
  EXPECT_EQ(condition_of("a", "QuotaReserved").substr(0, 4), "True") << "it may still run there";
  until("given up", [&] { return condition_of("a", "QuotaReserved").starts_with("False"); }, 20min);
}

}  // namespace
}  // namespace regatta::test_support
