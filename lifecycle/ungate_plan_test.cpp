#include "lifecycle/ungate_plan.h"

#include "admission/topology/assignment.h"

#include <gtest/gtest.h>

#include <map>

namespace regatta::lifecycle {
namespace {

using admission::TopologyDomains;

/// A workload whose pod set `main` has its pods on hosts: {"a", 2} means two pods on host a.
class Ungating : public testing::Test {
 protected:
  Ungating() {
    for (const char* type : {"QuotaReserved", "Admitted"}) {
      api::set_condition(&workload_.status.conditions,
                         {type, api::ConditionStatus::True, 0, {}, "R", "m"}, TimePoint{});
    }
    workload_.status.admission.emplace();
    add_set("main", {{"a", 2}, {"b", 2}});
    set("main").topology_request->pod_index_label = "idx";
  }

  void add_set(const std::string& name, const std::vector<std::pair<std::string, int>>& hosts) {
    api::PodSet& set = workload_.spec.pod_sets.emplace_back();
    set.name = name;
    set.topology_request.emplace();
    TopologyDomains places;
    places.levels = {"kubernetes.io/hostname"};
    set.count = 0;
    for (const auto& [host, count] : hosts) {
      places.domains.push_back({{host}, count});
      set.count += count;
    }
    api::PodSetAssignment& assignment =
        workload_.status.admission->pod_set_assignments.emplace_back();
    assignment.name = name;
    assignment.count = set.count;
    assignment.topology_assignment = admission::compact(places);
  }
  api::PodSet& set(const std::string& name) {
    for (api::PodSet& set : workload_.spec.pod_sets) {
      if (set.name == name) return set;
    }
    throw std::logic_error(name);
  }
  api::PodSetAssignment& assignment() {
    return workload_.status.admission->pod_set_assignments.front();
  }

  /// Adds a pod with `labels` besides its pod set. With a host, it was sent there already.
  void add_pod(const std::string& name, api::StringMap labels, const std::string& host = "",
               const std::string& pod_set = "main") {
    auto pod = std::make_shared<api::Pod>();
    pod->metadata.name = name;
    pod->metadata.labels = std::move(labels);
    pod->metadata.labels["kueue.x-k8s.io/podset"] = pod_set;
    pod->metadata.annotations = annotations_;
    if (host.empty()) {
      pod->spec.scheduling_gates = {"kueue.x-k8s.io/topology"};
    } else {
      pod->spec.node_selector = {{"kubernetes.io/hostname", host}};
    }
    pods_.push_back(std::move(pod));
  }
  /// "p0>a p1>b": which pod goes where.
  std::string plan() {
    const auto plan = plan_ungating(workload_, pods_);
    if (!plan) return "error: " + plan.error().what();
    std::map<std::string, std::string> sorted;
    for (const Ungate& one : *plan) {
      sorted[one.pod->metadata.name] = one.node_selector.at("kubernetes.io/hostname");
    }
    std::string out;
    for (const auto& [pod, host] : sorted) out += (out.empty() ? "" : " ") + pod + ">" + host;
    return out;
  }

  api::Workload workload_;
  std::vector<PodPtr> pods_;
  api::StringMap annotations_;
};

TEST_F(Ungating, NumberedPodsGoWhereTheirNumberSays) {
  add_pod("p", {{"idx", "3"}});
  add_pod("q", {{"idx", "0"}});
  add_pod("r", {{"idx", "2"}});
  EXPECT_EQ(plan(), "p>b q>a r>b");
}

TEST_F(Ungating, WithoutNumbersPlacesAreFilledInOrder) {
  for (const char* name : {"p", "q", "r", "s", "surplus"}) add_pod(name, {});
  EXPECT_EQ(plan(), "p>a q>a r>b s>b");
}

TEST_F(Ungating, APodThatIsThereTakesAPlace) {
  add_pod("p", {}, "a");
  add_pod("q", {}, "b");
  for (const char* name : {"r", "s", "t"}) add_pod(name, {});
  EXPECT_EQ(plan(), "r>a s>b");
}

TEST_F(Ungating, AReplacedNumberedPodComesBackToItsPlace) {
  add_pod("p", {{"idx", "0"}}, "a");
  add_pod("q", {{"idx", "1"}});
  add_pod("r", {{"idx", "2"}}, "b");
  EXPECT_EQ(plan(), "q>a");
}

TEST_F(Ungating, NumbersThatDisagreeWithWhereOneWentAreNotUsed) {
  add_pod("p", {{"idx", "0"}}, "b");
  add_pod("q", {{"idx", "3"}});
  EXPECT_EQ(plan(), "q>a") << "by number it would go to b";
}

struct BadNumber {
  const char* name;
  api::StringMap labels;
};

class NumbersThatCannotBeUsed : public Ungating, public testing::WithParamInterface<BadNumber> {};

TEST_P(NumbersThatCannotBeUsed, LeaveTheOrderOfNames) {
  add_pod("p", {{"idx", "3"}});
  add_pod("q", GetParam().labels);
  EXPECT_EQ(plan(), "p>a q>a");
}

INSTANTIATE_TEST_SUITE_P(Table, NumbersThatCannotBeUsed,
                         testing::Values(BadNumber{"missing", {}},
                                         BadNumber{"not_a_number", {{"idx", "x"}}},
                                         BadNumber{"negative", {{"idx", "-1"}}},
                                         BadNumber{"too_large", {{"idx", "4"}}},
                                         BadNumber{"taken", {{"idx", "3"}}}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_F(Ungating, SubGroupsCountOn) {
  auto& request = *set("main").topology_request;
  request.sub_group_index_label = "job";
  request.sub_group_count = 2;
  add_pod("p", {{"idx", "1"}, {"job", "1"}});  // rank 3
  add_pod("q", {{"idx", "1"}, {"job", "0"}});  // rank 1
  EXPECT_EQ(plan(), "p>b q>a");
  add_pod("r", {{"idx", "2"}, {"job", "0"}});  // each group has two
  EXPECT_EQ(plan(), "p>a q>a r>b");
}

TEST_F(Ungating, AnOffsetShiftsTheNumbers) {
  annotations_["kueue.x-k8s.io/pod-index-offset"] = "1";
  add_pod("p", {{"idx", "4"}});
  add_pod("q", {{"idx", "1"}});
  EXPECT_EQ(plan(), "p>b q>a");
  annotations_["kueue.x-k8s.io/pod-index-offset"] = "one";
  pods_.clear();
  add_pod("p", {{"idx", "1"}});
  EXPECT_EQ(plan(),
            "error: pod p: annotation kueue.x-k8s.io/pod-index-offset must be a number, got "
            "\"one\"");
}

TEST_F(Ungating, InAGroupTheWorkersCountOnFromTheirLeader) {
  add_set("leader", {{"b", 1}});
  for (const char* name : {"main", "leader"}) {
    set(name).topology_request->pod_set_group_name = "g";
    set(name).topology_request->pod_index_label = "idx";
  }
  add_pod("l", {{"idx", "0"}}, "", "leader");
  add_pod("w4", {{"idx", "4"}});
  add_pod("w1", {{"idx", "1"}});
  EXPECT_EQ(plan(), "l>b w1>a w4>b");
}

TEST_F(Ungating, APodWhosePlaceIsLostWaits) {
  workload_.status.unhealthy_nodes = {"a"};
  add_pod("p", {{"idx", "0"}});
  add_pod("q", {{"idx", "2"}});
  EXPECT_EQ(plan(), "q>b");
}

TEST_F(Ungating, PlacesWiderThanANodeNameAllTheirLevels) {
  TopologyDomains places;
  places.levels = {"block", "rack"};
  places.domains = {{{"b1", "r1"}, 1}, {{"b1", "r2"}, 1}};
  assignment().topology_assignment = admission::compact(places);
  assignment().count = 2;
  add_pod("p", {{"idx", "1"}});
  const auto plan = plan_ungating(workload_, pods_);
  ASSERT_TRUE(plan && plan->size() == 1);
  EXPECT_EQ(plan->front().node_selector, (api::StringMap{{"block", "b1"}, {"rack", "r2"}}));
}

TEST_F(Ungating, AnAssignmentOfFewerPodsThanTheSetFallsBackToNames) {
  assignment().count = 5;
  add_pod("p", {{"idx", "4"}});
  EXPECT_EQ(plan(), "p>a");
}

TEST_F(Ungating, NoPodGoesBeforeAdmissionOrAfterEviction) {
  add_pod("p", {{"idx", "0"}});
  api::Workload before = workload_;
  api::set_condition(&workload_.status.conditions,
                     {"Evicted", api::ConditionStatus::True, 0, {}, "R", "m"}, TimePoint{});
  EXPECT_EQ(plan(), "");
  workload_ = before;
  api::set_condition(&workload_.status.conditions,
                     {"Admitted", api::ConditionStatus::False, 0, {}, "R", "m"}, TimePoint{});
  EXPECT_EQ(plan(), "");
}

}  // namespace
}  // namespace regatta::lifecycle
