#include "jobs/admission_info.h"

#include <gtest/gtest.h>

namespace regatta::jobs {
namespace {

api::ResourceFlavor flavor(api::StringMap labels) {
  api::ResourceFlavor made;
  made.spec.node_labels = std::move(labels);
  return made;
}

class AdmissionInfos : public testing::Test {
 protected:
  AdmissionInfos() {
    workload_.metadata.name = "w";
    workload_.spec.queue_name = "main";
    api::PodSet set;
    set.count = 3;
    workload_.spec.pod_sets.push_back(set);
    workload_.status.admission.emplace();
    workload_.status.admission->cluster_queue = "cq";
    api::PodSetAssignment assignment;
    assignment.flavors = {{"cpu", "small"}, {"memory", "small"}};
    workload_.status.admission->pod_set_assignments.push_back(assignment);
    flavors_["small"] = flavor({{"pool", "small"}});
    flavors_["gpu"] = flavor({{"gpu", "a100"}});
  }
  Result<std::vector<PodSetInfo>> infos() {
    return admission_infos(workload_, [this](const std::string& name) {
      const auto found = flavors_.find(name);
      return found == flavors_.end() ? nullptr : &found->second;
    });
  }
  api::PodSetAssignment& assignment() {
    return workload_.status.admission->pod_set_assignments.front();
  }

  api::Workload workload_;
  std::map<std::string, api::ResourceFlavor> flavors_;
};

TEST_F(AdmissionInfos, NoAdmissionAddsNothing) {
  workload_.status.admission.reset();
  EXPECT_TRUE(infos()->empty());
}

TEST_F(AdmissionInfos, FlavorsAndKueuesOwnMarksAreAdded) {
  assignment().flavors["gpu"] = "gpu";
  const PodSetInfo info = infos()->front();
  EXPECT_EQ(info.count, 3) << "of the spec, when the assignment does not say";
  EXPECT_EQ(info.node_selector, (api::StringMap{{"gpu", "a100"}, {"pool", "small"}}));
  EXPECT_EQ(info.labels, (api::StringMap{{"kueue.x-k8s.io/cluster-queue-name", "cq"},
                                         {"kueue.x-k8s.io/local-queue-name", "main"},
                                         {"kueue.x-k8s.io/podset", "main"}}));
  EXPECT_EQ(info.annotations, (api::StringMap{{"kueue.x-k8s.io/workload", "w"}}));
}

TEST_F(AdmissionInfos, PodsWithAPlaceWaitBehindAGate) {
  assignment().topology_assignment.emplace();
  PodSetInfo info = infos()->front();
  EXPECT_EQ(info.scheduling_gates, std::vector<std::string>{"kueue.x-k8s.io/topology"});
  EXPECT_EQ(info.annotations["kueue.x-k8s.io/podset-unconstrained-topology"], "true")
      << "no topology was asked for, the queue has nothing else";
  workload_.spec.pod_sets[0].topology_request.emplace().required = "rack";
  info = infos()->front();
  EXPECT_EQ(info.annotations.count("kueue.x-k8s.io/podset-unconstrained-topology"), 0u);
  EXPECT_EQ(info.scheduling_gates.size(), 1u);
}

TEST_F(AdmissionInfos, OnAHubNoPodWaits) {
  assignment().delayed_topology_request = "Ready";
  EXPECT_TRUE(infos()->front().scheduling_gates.empty());
}

TEST_F(AdmissionInfos, PartialAdmissionCounts) {
  assignment().count = 2;
  EXPECT_EQ(infos()->front().count, 2);
  assignment().count = 0;
  EXPECT_EQ(infos()->front().count, 0);
}

TEST_F(AdmissionInfos, NamesThatAreNoLabelsAreLeftOut) {
  workload_.status.admission->cluster_queue = "a.b";
  EXPECT_FALSE(infos()->front().labels.contains("kueue.x-k8s.io/cluster-queue-name"));
}

TEST_F(AdmissionInfos, CopiesOfAHubMarkTheirPods) {
  workload_.metadata.labels["kueue.x-k8s.io/multikueue-origin"] = "hub";
  EXPECT_EQ(infos()->front().labels["kueue.x-k8s.io/multikueue-worker-workload-pod"], "true");
}

TEST_F(AdmissionInfos, AMissingFlavorIsToBeWaitedFor) {
  flavors_.clear();
  EXPECT_EQ(infos().error().code(), Errc::not_found);
}

TEST_F(AdmissionInfos, ContradictionsAreForEver) {
  flavors_["gpu"] = flavor({{"pool", "big"}});
  assignment().flavors["gpu"] = "gpu";
  EXPECT_EQ(infos().error().code(), Errc::invalid);
}

TEST_F(AdmissionInfos, UpdatesOfChecksAreAddedToTheirPodSet) {
  api::AdmissionCheckState check;
  check.name = "c";
  api::PodSetUpdate update;
  update.name = "main";
  update.node_selector = {{"zone", "z"}};
  check.pod_set_updates = {update};
  update.name = "another";
  update.node_selector = {{"pool", "big"}};
  check.pod_set_updates.push_back(update);
  workload_.status.admission_checks.push_back(check);
  EXPECT_EQ(infos()->front().node_selector["zone"], "z");
  workload_.status.admission_checks[0].pod_set_updates[1].name = "main";
  EXPECT_EQ(infos().error().code(), Errc::invalid);
}

}  // namespace
}  // namespace regatta::jobs
