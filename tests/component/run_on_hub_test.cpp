// Jobs that run on the hub although their queue leads to workers.
#include "tests/component/federation.h"

namespace regatta::test_support {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

class RunOnHub : public Federation {
 protected:
  static std::string asking(std::string yaml) {
    const std::string name = "annotations: {";
    const auto at = yaml.find(name);
    return yaml.insert(at + name.size(), "multikueue.regatta.dev/run-on-hub: \"true\", ");
  }
  static std::string local_job_yaml(const std::string& name) {
    return asking(job_yaml(name, 1, "main", R"({sandbox.regatta.dev/run-seconds: "3600"})"));
  }
  bool runs(const std::string& name) { return job(name).spec.suspend == false; }
};

TEST_F(RunOnHub, TheyShareTheQuotaWithJobsThatAreSentToWorkers) {
  start_all({"east"});
  apply(local_job_yaml("here"));
  apply(remote_job_yaml("there"));
  until("it runs on the hub", [&] { return runs("here"); });
  until("the other one is sent", [&] {
    const auto workload = workload_of("there");
    return workload && workload->status.cluster_name == "east";
  });
  settle();
  const auto workload = workload_of("here");
  EXPECT_FALSE(workload->status.cluster_name);
  EXPECT_EQ(condition(workload->status.conditions, "Dispatched"),
            "True Dispatched: The job runs on the hub, as it asks to");
  EXPECT_EQ(job("here").spec.pod_template.json()["spec"]["nodeSelector"]["pool"], "cpu")
      << "the hub's flavor";
  EXPECT_EQ(held_by("east"), "workloads 1, jobs 1") << "only the other one";
  EXPECT_THAT(events("Workload"), Contains(HasSubstr("The job runs on the hub")));
}

TEST_F(RunOnHub, AnEvictionTakesThemBackAndTheyRunAgain) {
  start_all({"east"});
  apply(local_job_yaml("j"));
  until("it runs", [&] { return runs("j"); });
  settle();
  cluster_.set_stop_policy("HoldAndDrain");
  settle();
  EXPECT_FALSE(runs("j"));
  EXPECT_THAT(condition_of("j", "QuotaReserved"), StartsWith("False"));
  cluster_.set_stop_policy("None");
  until("it runs again", [&] { return runs("j"); });
  EXPECT_EQ(held_by("east"), "workloads 0, jobs 0");
}

TEST_F(RunOnHub, AJobThatMultiKueueRunsCannot) {
  start_all({"east"});
  std::string yaml = local_job_yaml("j");
  apply(yaml.replace(yaml.find("suspend: true"), 13,
                     "suspend: true, managedBy: kueue.x-k8s.io/multikueue"));
  until("rejected", [&] { return condition_of("j", "Evicted") != ""; });
  EXPECT_THAT(condition_of("j", "Evicted"), HasSubstr("multikueue.regatta.dev/run-on-hub"));
  EXPECT_EQ(held_by("east"), "workloads 0, jobs 0");
}

}  // namespace
}  // namespace regatta::test_support
