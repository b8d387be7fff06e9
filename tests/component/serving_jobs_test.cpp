// StatefulSets, which act through a group of Pods.
#include "jobs/integrations/integrations.h"
#include "tests/component/one_cluster.h"
#include "tests/component/stateful_set.h"

namespace regatta::test_support {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class ServingJobs : public OneCluster {
 protected:
  void start() {
    manager::CoreConfig config;
    config.kinds = jobs::enabled_kinds({"statefulset"});
    start_with_queues(std::move(config));
  }
  static const api::ResourceInfo& sets() {
    static const api::ResourceInfo resource{"apps", "v1", "StatefulSet", "statefulsets", true};
    return resource;
  }
  static const api::ResourceInfo& pods() {
    static const api::ResourceInfo resource{"", "v1", "Pod", "pods", true};
    return resource;
  }
  void apply_set(int replicas) { apply(stateful_set_yaml(replicas)); }
  /// As the controller of StatefulSets makes it, and the webhook of Pods lets it in.
  void apply_pod(const std::string& name, const std::string& revision = "a") {
    const Json set = cluster_.get(sets(), key("db"));
    const std::string uid = set["metadata"].value("uid", "");
    apply("apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
          ", namespace: default, labels: {app: db, apps.kubernetes.io/pod-index: \"" +
          name.substr(name.size() - 1) + "\", controller-revision-hash: " + revision +
          "}, annotations: {kueue.x-k8s.io/pod-suspending-parent: statefulset}, "
          "ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, controller: true, "
          "uid: " +
          uid + R"(}]}
spec:
  schedulingGates: [{name: kueue.x-k8s.io/admission}]
  containers: [{name: main, image: img, resources: {requests: {cpu: "1"}}}]
)");
  }
  std::vector<std::string> gated(const std::vector<std::string>& names) {
    std::vector<std::string> out;
    for (const std::string& name : names) {
      const Json pod = cluster_.get(pods(), key(name));
      if (!pod.is_null() && pod["spec"].contains("schedulingGates")) out.push_back(name);
    }
    return out;
  }
  std::optional<api::Workload> workload() {
    const auto all = cluster_.list<api::Workload>();
    return all.size() == 1 ? std::optional(all.front()) : std::nullopt;
  }
  std::string state(std::string_view type) {
    const auto found = workload();
    return found ? condition(found->status.conditions, type) : "no workload";
  }
};

TEST_F(ServingJobs, AStatefulSetIsAdmittedBeforeItsPodsAreThereAndTheyFollow) {
  start();
  apply_set(2);
  settle();
  ASSERT_TRUE(workload());
  EXPECT_EQ(workload()->spec.pod_sets[0].count, 2);
  EXPECT_THAT(state(api::conditions::admitted), HasSubstr(" Admitted"))
      << "a place for Pods to come";
  EXPECT_THAT(events("StatefulSet"),
              Contains("CreatedWorkload: Created Workload: default/" + workload()->metadata.name));
  apply_pod("db-0");
  settle();
  EXPECT_THAT(gated({"db-0"}), ElementsAre());
  apply_pod("db-1");
  settle();
  EXPECT_THAT(gated({"db-0", "db-1"}), ElementsAre());
  EXPECT_EQ(workload()->metadata.owner_references.size(), 3U);
  const Json pod = cluster_.get(pods(), key("db-1"));
  EXPECT_EQ(pod["metadata"]["annotations"]["kueue.x-k8s.io/pod-group-name"],
            workload()->metadata.name);
}

TEST_F(ServingJobs, WithoutReplicasTheQuotaIsFreeAndComesBackWithThem) {
  start();
  apply_set(1);
  apply_pod("db-0");
  settle();
  ASSERT_THAT(state(api::conditions::admitted), HasSubstr(" Admitted"));
  ASSERT_TRUE(cluster_.patch(sets(), key("db"), R"({"spec": {"replicas": 0}})"));
  settle();
  EXPECT_THAT(state(api::conditions::admitted), HasSubstr(" Admitted")) << "its Pod is still there";
  kube::DeleteOptions now;
  now.grace_period_seconds = 0;
  ASSERT_TRUE(cluster_.remove(pods(), key("db-0"), now));
  settle();
  ASSERT_TRUE(workload()) << "it is kept";
  EXPECT_FALSE(workload()->status.admission);
  EXPECT_THAT(state(api::conditions::quota_reserved), HasSubstr(" OnHold"));
  ASSERT_TRUE(cluster_.patch(sets(), key("db"), R"({"spec": {"replicas": 2}})"));
  settle();
  EXPECT_EQ(workload()->spec.pod_sets[0].count, 2);
  EXPECT_THAT(state(api::conditions::admitted), HasSubstr(" Admitted"));
}

TEST_F(ServingJobs, PodsOfAnOlderRevisionRunAsLongAsTheirGroupIsAdmitted) {
  start();
  apply_set(2);
  ASSERT_TRUE(cluster_.patch(sets(), key("db"),
                             R"({"status": {"currentRevision": "a", "updateRevision": "b"}})",
                             "status"));
  apply_pod("db-0", "a");
  apply_pod("db-1", "b");
  settle();
  ASSERT_THAT(gated({"db-0", "db-1"}), ElementsAre());
  const auto set_active = [&](const char* active) {
    ASSERT_TRUE(cluster_.patch(api::Workload::resource, workload()->metadata.key(),
                               std::string(R"({"spec": {"active": )") + active + "}}"));
    settle();
  };
  kube::DeleteOptions now;
  now.grace_period_seconds = 0;
  set_active("false");
  for (const char* name : {"db-0", "db-1"}) (void)cluster_.remove(pods(), key(name), now);
  settle();
  apply_pod("db-0", "a");
  settle();
  EXPECT_FALSE(workload()->status.admission);
  EXPECT_THAT(gated({"db-0"}), ElementsAre("db-0")) << "nothing is charged for it";
  set_active("true");
  EXPECT_THAT(state(api::conditions::admitted), HasSubstr(" Admitted"));
  EXPECT_THAT(gated({"db-0"}), ElementsAre());
  // It comes again, and takes its own place.
  (void)cluster_.remove(pods(), key("db-0"), now);
  apply_pod("db-0", "a");
  settle();
  EXPECT_THAT(gated({"db-0"}), ElementsAre());
}

TEST_F(ServingJobs, AnEvictedGroupStopsAndItsNextPodsWait) {
  start();
  apply_set(1);
  apply_pod("db-0");
  settle();
  ASSERT_THAT(gated({"db-0"}), ElementsAre());
  ASSERT_TRUE(cluster_.patch(api::Workload::resource, workload()->metadata.key(),
                             R"({"spec": {"active": false}})"));
  settle();
  EXPECT_TRUE(cluster_.get(pods(), key("db-0")).is_null() ||
              cluster_.get(pods(), key("db-0"))["metadata"].contains("deletionTimestamp"));
  kube::DeleteOptions now;
  now.grace_period_seconds = 0;
  (void)cluster_.remove(pods(), key("db-0"), now);
  apply_pod("db-0");
  settle();
  EXPECT_THAT(gated({"db-0"}), ElementsAre("db-0"));
  EXPECT_FALSE(workload()->status.admission);
}

}  // namespace
}  // namespace regatta::test_support
