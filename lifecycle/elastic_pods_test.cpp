#include "lifecycle/elastic_pods.h"

#include "lib/api/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regatta::lifecycle {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr TimePoint now{1'800'000'000s};

class ElasticPods : public testing::Test {
 protected:
  ElasticPods() {
    api::PodSet& set = workload_.spec.pod_sets.emplace_back();
    set.name = "main";
    set.count = 3;
  }
  void add(const std::string& name, bool gated, const std::string& phase = "Pending",
           bool deleting = false) {
    api::Pod pod;
    pod.metadata.name = name;
    pod.metadata.creation_timestamp = now;
    pod.metadata.labels["kueue.x-k8s.io/podset"] = "main";
    if (deleting) pod.metadata.deletion_timestamp = now;
    if (gated) pod.spec.scheduling_gates = {"kueue.x-k8s.io/elastic-job"};
    pod.status.phase = phase;
    pods_.push_back(std::make_shared<const api::Pod>(pod));
  }
  std::vector<std::string> released() const {
    std::vector<std::string> names;
    for (const PodPtr& pod : pods_to_release(workload_, pods_)) names.push_back(pod->metadata.name);
    return names;
  }

  api::Workload workload_;
  std::vector<PodPtr> pods_;
};

TEST_F(ElasticPods, GoUpToTheCountOfTheSlice) {
  for (const char* name : {"d", "a", "c", "b"}) add(name, true);
  EXPECT_THAT(released(), ElementsAre("a", "b", "c"));
}

TEST_F(ElasticPods, ThatWentAlreadyTakeRoomUntilTheyEnd) {
  add("running", false, "Running");
  add("done", false, "Succeeded");
  add("leaving", false, "Running", true);
  add("a", true);
  add("b", true);
  EXPECT_THAT(released(), ElementsAre("a"));
}

TEST_F(ElasticPods, OnTheirWayOutAreNotReleased) {
  add("a", true, "Pending", true);
  EXPECT_THAT(released(), IsEmpty());
}

TEST_F(ElasticPods, OfASliceWithoutQuotaStay) {
  workload_.metadata.annotations["kueue.x-k8s.io/elastic-job"] = "true";
  workload_.metadata.name = "w";
  workload_.status.admission.emplace();
  EXPECT_EQ(slice_name(workload_), "w");
  EXPECT_FALSE(grants_pods(workload_));
  for (const char* type : {"QuotaReserved", "Admitted"}) {
    api::set_condition(&workload_.status.conditions,
                       {type, api::ConditionStatus::True, 0, {}, type, ""}, now);
  }
  EXPECT_TRUE(grants_pods(workload_));
  api::set_condition(&workload_.status.conditions,
                     {"Evicted", api::ConditionStatus::True, 0, {}, "Preempted", ""}, now);
  EXPECT_FALSE(grants_pods(workload_));
}

TEST(ElasticSlices, OfTwoWithQuotaTheOneThatReplacesTheOtherCounts) {
  std::vector<std::shared_ptr<const api::Workload>> slices;
  for (const auto& [name, uid, replaces] :
       {std::tuple{"second", "a", "ns/first"}, std::tuple{"first", "b", ""}}) {
    api::Workload slice;
    slice.metadata.ns = "ns";
    slice.metadata.name = name;
    slice.metadata.uid = uid;
    slice.metadata.creation_timestamp = now;
    slice.metadata.annotations["kueue.x-k8s.io/elastic-job"] = "true";
    slice.metadata.annotations["kueue.x-k8s.io/workload-slice-name"] = "first";
    slice.metadata.annotations["kueue.x-k8s.io/workload-slice-replacement-for"] = replaces;
    slice.status.admission.emplace();
    for (const char* type : {"QuotaReserved", "Admitted"}) {
      api::set_condition(&slice.status.conditions,
                         {type, api::ConditionStatus::True, 0, {}, type, ""}, now);
    }
    slices.push_back(std::make_shared<const api::Workload>(std::move(slice)));
  }
  EXPECT_EQ(newest_grant(slices)->metadata.name, "second");
  EXPECT_EQ(newest_grant({}), nullptr);
}

}  // namespace
}  // namespace regatta::lifecycle
