#include "jobs/elastic.h"

#include "jobs/batch/kind.h"
#include "lib/api/codec.h"
#include "lib/api/names.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::jobs {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint now{1'800'000'000s};

/// A running elastic job of two pods; its first slice has quota for them.
class Elastic : public testing::Test {
 protected:
  Elastic() {
    json_ = Json::parse(R"({
      "apiVersion": "batch/v1", "kind": "Job",
      "metadata": {"name": "j", "namespace": "ns", "uid": "u", "generation": 1,
                   "labels": {"kueue.x-k8s.io/queue-name": "q"},
                   "annotations": {"kueue.x-k8s.io/elastic-job": "true"}},
      "spec": {"suspend": false, "parallelism": 2, "completions": 10,
               "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}},
      "status": {"startTime": "2026-01-01T00:00:00Z", "active": 2, "ready": 2}})");
  }
  JobView view() const {
    JobView view;
    view.job = generic(api::from_json<api::Job>(json_).value());
    view.managed = true;
    view.queue_name = "q";
    view.now = now;
    view.policy.pods_ready_after = Duration(0);
    for (const auto& workload : slices_) {
      view.owned.push_back(std::make_shared<const api::Workload>(workload));
    }
    return view;
  }
  static void set(api::Workload* workload, std::string_view type, std::string_view reason = "R") {
    api::set_condition(
        &workload->status.conditions,
        {std::string(type), api::ConditionStatus::True, 0, {}, std::string(reason), "m"}, now);
  }
  /// Adds the slice that the job asks for when it grows or shrinks to that many pods.
  api::Workload& slice(int pods, bool with_quota) {
    Json before = json_;
    json_["spec"]["parallelism"] = pods;
    json_["metadata"]["generation"] = ++generation_;
    api::Workload made = build_workload(view()).value();
    json_ = std::move(before);
    made.metadata.uid = "u-" + std::to_string(slices_.size());
    made.metadata.creation_timestamp = now + std::chrono::seconds(slices_.size());
    if (with_quota) {
      made.status.admission.emplace();
      made.status.admission->cluster_queue = "cq";
      set(&made, "QuotaReserved");
      set(&made, "Admitted");
    }
    slices_.push_back(std::move(made));
    return slices_.back();
  }
  void pods(int count) {
    json_["spec"]["parallelism"] = count;
    json_["metadata"]["generation"] = ++generation_;
  }
  std::string plan() const { return describe(plan_job(view())); }
  /// Expects that the end of that slice is the only action.
  void expect_finish(std::size_t i, std::string_view reason) const {
    const auto actions = plan_job(view());
    ASSERT_EQ(actions.size(), 1U) << describe(actions);
    const auto& finish = std::get<FinishWorkload>(actions[0]);
    EXPECT_EQ(finish.workload->metadata.name, name(i));
    EXPECT_EQ(finish.reason, reason);
  }
  std::string name(std::size_t i) const { return slices_[i].metadata.name; }

  Json json_;
  std::vector<api::Workload> slices_;
  int generation_ = 0;
};

TEST_F(Elastic, TheFirstSliceIsNamedAfterItself) {
  const api::Workload& first = slice(2, false);
  EXPECT_EQ(first.metadata.annotation("kueue.x-k8s.io/elastic-job"), "true");
  EXPECT_EQ(first.metadata.annotation("kueue.x-k8s.io/workload-slice-name"), first.metadata.name);
  EXPECT_EQ(first.metadata.annotation("kueue.x-k8s.io/workload-slice-replacement-for"), "");
}

TEST_F(Elastic, AsManyPodsAsTheSliceHasNeedNothing) {
  slice(2, true);
  const auto actions = plan_slices(view());
  EXPECT_TRUE(actions.empty()) << describe(actions);
}

TEST_F(Elastic, AGrowingJobAsksForASecondSlice) {
  slice(2, true);
  pods(5);
  const auto actions = plan_job(view());
  ASSERT_EQ(actions.size(), 1U) << describe(actions);
  const auto& made = std::get<CreateWorkload>(actions[0]).workload;
  EXPECT_NE(made.metadata.name, name(0));
  EXPECT_EQ(made.spec.pod_sets[0].count, 5);
  EXPECT_EQ(made.metadata.annotation("kueue.x-k8s.io/workload-slice-replacement-for"),
            "ns/" + name(0));
  EXPECT_EQ(made.metadata.annotation("kueue.x-k8s.io/workload-slice-name"), name(0));
}

TEST_F(Elastic, AShrinkingJobKeepsItsSlice) {
  slice(3, true);
  const auto actions = plan_job(view());
  ASSERT_EQ(actions.size(), 1U) << describe(actions);
  EXPECT_EQ(std::get<UpdateWorkload>(actions[0]).spec.pod_sets[0].count, 2);
}

TEST_F(Elastic, AWaitingSliceFollowsTheJob) {
  slice(2, true);
  slice(5, false);
  pods(4);
  const auto actions = plan_job(view());
  ASSERT_EQ(actions.size(), 1U) << describe(actions);
  const auto& update = std::get<UpdateWorkload>(actions[0]);
  EXPECT_EQ(update.workload->metadata.name, name(1));
  EXPECT_EQ(update.spec.pod_sets[0].count, 4);
}

TEST_F(Elastic, AJobThatShrinksWhileALargerSliceWaitsGivesItsQuotaBack) {
  slice(4, true);
  slice(2, false);
  pods(2);
  const auto actions = plan_job(view());
  ASSERT_EQ(actions.size(), 1U) << describe(actions);
  const auto& update = std::get<UpdateWorkload>(actions[0]);
  EXPECT_EQ(update.workload->metadata.name, name(0));
  EXPECT_EQ(update.spec.pod_sets[0].count, 2);
}

TEST_F(Elastic, AJobRunsOnWhileALargerSliceWaits) {
  slice(2, true);
  slice(5, false);
  pods(5);
  EXPECT_EQ(plan(), describe({}));
}

TEST_F(Elastic, OfTwoSlicesOfOneSecondTheOneThatWasReplacedIsTheOlder) {
  slice(2, true);
  api::Workload& next = slice(5, true);
  next.metadata.creation_timestamp = now;
  next.metadata.uid = "a";
  pods(5);
  expect_finish(0, "WorkloadSliceReplaced");
}

TEST_F(Elastic, ASliceIsNewerThanTheOneItReplacesWhateverTheClockOfTheServerSays) {
  slice(2, true);
  slice(5, true).metadata.creation_timestamp = now - std::chrono::minutes(5);
  pods(5);
  expect_finish(0, "WorkloadSliceReplaced");
}

TEST_F(Elastic, SlicesThatReplaceEachOtherAreInThatOrderThoughTheClockGoesBackEachTime) {
  for (int i = 0; i < 4; ++i) {
    slice(2 + i, true).metadata.creation_timestamp = now - std::chrono::minutes(5 * i);
  }
  const std::vector<WorkloadPtr> known = view().owned;
  const auto sorted = by_age({known[2], known[0], known[3], known[1]}, known);
  EXPECT_EQ(sorted, known);
}

TEST_F(Elastic, OfTwoSlicesWithQuotaTheOlderOneEnds) {
  slice(2, true);
  slice(5, true);
  pods(5);
  expect_finish(0, "WorkloadSliceReplaced");
}

TEST_F(Elastic, ThirdSlicesAndSlicesOfNoUseAreOutOfSync) {
  slice(2, true);
  slice(5, false);
  slice(6, false);
  pods(6);
  expect_finish(1, "OutOfSync");
}

/// Its creation reached the API server late, when the job had a size that was made meanwhile.
TEST_F(Elastic, ASliceThatCameLateEnds) {
  slice(2, true).status.cluster_name = "w";
  api::Workload& late = slice(3, true);
  late.metadata.annotations.erase("kueue.x-k8s.io/workload-slice-replacement-for");
  expect_finish(1, "OutOfSync");
  EXPECT_EQ(matching_workload(view())->metadata.name, name(0));
  slices_[0].status.cluster_name.reset();
  expect_finish(1, "OutOfSync");
  // The one that has quota goes on, then the one that got it first.
  slices_[0].status.conditions.clear();
  expect_finish(0, "OutOfSync");
  set(&slices_[0], "QuotaReserved");
  slices_[0].status.conditions[0].last_transition_time = now + std::chrono::seconds(1);
  expect_finish(0, "OutOfSync");
  slices_[0].status.cluster_name = "w";
  expect_finish(1, "OutOfSync");
}

TEST_F(Elastic, OfTwoSlicesWithoutQuotaTheNewerOneIsTheJobs) {
  slice(2, false);
  slice(3, false);
  pods(3);
  expect_finish(0, "OutOfSync");
}

/// The next size of the former slice may be on its way while another one has taken over.
TEST_F(Elastic, ASliceThatReplacesOneThatIsOverIsOfNoUse) {
  slice(2, true);
  slice(3, true);
  slices_[1].status.cluster_name = "w";
  slice(4, true);
  std::string& replaced =
      slices_[2].metadata.annotations["kueue.x-k8s.io/workload-slice-replacement-for"];
  ASSERT_EQ(replaced, "ns/" + name(1));
  EXPECT_FALSE(is_stray(slices_[2], view().owned));
  replaced = "ns/" + name(0);
  EXPECT_FALSE(is_stray(slices_[2], view().owned)) << "it may be the next of both";
  set(&slices_[0], "Finished", "WorkloadSliceReplaced");
  EXPECT_TRUE(is_stray(slices_[2], view().owned));
  EXPECT_FALSE(is_stray(slices_[1], view().owned));
  EXPECT_FALSE(is_stray(slices_[0], view().owned)) << "it is over";
}

TEST_F(Elastic, AReplacedSliceIsLetGoAndTheJobRunsUnderTheNext) {
  slice(2, true);
  slice(5, true);
  set(&slices_[0], "Finished", "WorkloadSliceReplaced");
  pods(5);
  auto actions = plan_job(view());
  ASSERT_EQ(actions.size(), 1U) << describe(actions);
  EXPECT_EQ(std::get<ReleaseWorkload>(actions[0]).workload->metadata.name, name(0));
  slices_[0].metadata.finalizers.clear();
  EXPECT_EQ(matching_workload(view())->metadata.name, name(1));
  EXPECT_TRUE(plan_slices(view()).empty());
}

TEST_F(Elastic, AnEvictedSliceStopsTheJobBeforeAnythingElse) {
  slice(2, true);
  set(&slices_[0], "Evicted", "Preempted");
  pods(5);
  const auto actions = plan_job(view());
  ASSERT_EQ(actions.size(), 1U) << describe(actions);
  EXPECT_TRUE(std::holds_alternative<StopJob>(actions[0])) << describe(actions);
}

TEST_F(Elastic, AChangedTemplateIsNoMatterOfCounts) {
  slice(2, true);
  json_["spec"]["template"]["spec"]["containers"][0]["image"] = "other";
  EXPECT_EQ(matching_workload(view()), nullptr);
}

TEST_F(Elastic, ASliceForWorkersHasTheTemplateOfTheFirstOne) {
  json_["spec"]["managedBy"] = "kueue.x-k8s.io/multikueue";
  slice(2, true);
  json_["spec"]["template"]["metadata"]["labels"]["added"] = "by-the-hub";
  pods(5);
  const auto actions = plan_job(view());
  ASSERT_EQ(actions.size(), 1U) << describe(actions);
  const auto& made = std::get<CreateWorkload>(actions[0]).workload;
  EXPECT_EQ(made.spec.pod_sets[0].pod_template, slices_[0].spec.pod_sets[0].pod_template);
  EXPECT_EQ(made.spec.pod_sets[0].count, 5);
}

/// The job on a worker, whose slices are copies of the hub's.
class ElasticCopy : public Elastic {
 protected:
  JobView under(std::size_t i) {
    json_["metadata"]["annotations"]["kueue.x-k8s.io/prebuilt-workload-name"] = name(i);
    for (api::Workload& one : slices_) {
      one.metadata.owner_references = {
          {"batch/v1", "Job", "j", "u", /*controller=*/true, /*block_owner_deletion=*/true}};
    }
    JobView out = view();
    out.prebuilt = true;
    out.prebuilt_workload = out.owned.at(i);
    return out;
  }
};

TEST_F(ElasticCopy, MayBeSmallerOrLargerThanItsSlice) {
  slice(3, true);
  for (const int count : {2, 3, 5}) {
    pods(count);
    const auto actions = plan_job(under(0));
    EXPECT_TRUE(actions.empty()) << count << ": " << describe(actions);
  }
  json_["spec"]["template"]["spec"]["containers"][0]["image"] = "other";
  const auto actions = plan_job(under(0));
  ASSERT_EQ(actions.size(), 1U) << describe(actions);
  EXPECT_EQ(std::get<FinishWorkload>(actions[0]).reason, "OutOfSync");
  slices_[0].metadata.annotations["kueue.x-k8s.io/workload-slice-replacement-for"] = "ns/_";
  EXPECT_TRUE(plan_job(under(0)).empty()) << "it may have been made of the running template";
}

TEST_F(ElasticCopy, RunsOnWhenItsSliceWasReplaced) {
  slice(2, true);
  set(&slices_[0], "Finished", "WorkloadSliceReplaced");
  slices_[0].metadata.finalizers = {"kueue.x-k8s.io/resource-in-use"};
  auto actions = plan_job(under(0));
  ASSERT_EQ(actions.size(), 1U) << describe(actions);
  EXPECT_TRUE(std::holds_alternative<ReleaseWorkload>(actions[0])) << describe(actions);
  set(&slices_[0], "Finished", "OutOfSync");
  actions = plan_job(under(0));
  ASSERT_FALSE(actions.empty());
  EXPECT_TRUE(std::holds_alternative<StopJob>(actions[0])) << describe(actions);
}

TEST_F(ElasticCopy, EndsTheSliceThatItsNewOneReplaced) {
  slice(2, true);
  slice(5, true);
  pods(5);
  const auto actions = plan_job(under(1));
  ASSERT_EQ(actions.size(), 1U) << describe(actions);
  const auto& finish = std::get<FinishWorkload>(actions[0]);
  EXPECT_EQ(finish.workload->metadata.name, name(0));
  EXPECT_EQ(finish.reason, "WorkloadSliceReplaced");
}

class SliceUpdate : public ElasticCopy {
 protected:
  /// What the copy under slice `i` takes over for slice `of` when the hub's job has so many pods.
  std::string update(std::size_t i, std::size_t of, int hub_pods, bool replaced) {
    const JobPtr copy = under(i).job;
    const Json before = json_;
    pods(hub_pods);
    const JobPtr job = view().job;
    json_ = before;
    Json patch = slice_update(*job, *copy, slices_[of], replaced);
    if (patch.empty()) return "";
    EXPECT_EQ(patch["metadata"].value("uid", ""), "u");
    std::string out;
    if (patch.contains("spec")) out = std::to_string(patch["spec"].value("parallelism", 0));
    const Json annotations = patch["metadata"].value("annotations", Json::object());
    for (const auto& [key, value] : annotations.items()) {
      out += " under " + std::string(value == name(of) ? "it" : value.dump());
    }
    return out;
  }
};

TEST_F(SliceUpdate, FollowsTheSizeAsFarAsTheSliceReaches) {
  slice(4, true);
  pods(3);
  EXPECT_EQ(update(0, 0, 3, false), "");
  EXPECT_EQ(update(0, 0, 1, false), "1");
  EXPECT_EQ(update(0, 0, 4, false), "4");
  EXPECT_EQ(update(0, 0, 5, false), "") << "the next slice has room for them";
}

TEST_F(SliceUpdate, NamesTheNextSliceOnceTheOneBeforeIsOver) {
  slice(2, true);
  slice(5, true);
  EXPECT_EQ(update(0, 1, 5, false), "");
  EXPECT_EQ(update(0, 1, 5, true), "5 under it");
  EXPECT_EQ(update(0, 1, 7, true), " under it");
}

TEST_F(SliceUpdate, NamesItWhereTheCopyNamesIt) {
  slice(2, true);
  slice(5, true);
  const std::string key = "kueue.x-k8s.io/prebuilt-workload-name";
  Json copy = json_;
  copy["metadata"]["labels"][key] = name(0);
  const JobPtr labelled = generic(api::from_json<api::Job>(copy).value());
  const Json patch = slice_update(*view().job, *labelled, slices_[1], true);
  EXPECT_EQ(patch["metadata"]["labels"].value(key, ""), name(1));
  EXPECT_FALSE(patch["metadata"].contains("annotations"));
}

TEST_F(Elastic, OtherJobsAreNotElastic) {
  EXPECT_TRUE(is_elastic(view()));
  json_["spec"]["managedBy"] = "kueue.x-k8s.io/multikueue";
  EXPECT_TRUE(is_elastic(view())) << "workers follow its size";
  json_["spec"].erase("managedBy");
  json_["metadata"]["annotations"]["kueue.x-k8s.io/elastic-job"] = "yes";
  EXPECT_FALSE(is_elastic(view()));
}

}  // namespace
}  // namespace regatta::jobs
