#pragma once

#include "lab/cluster/job_controller.h"
#include "tests/support/test_cluster.h"

namespace regatta::test_support {

/// Runs the Jobs of a cluster, as its nodes and Job controller would.
class TestNodes {
 public:
  TestNodes(TestCluster& cluster, lab::JobControllerOptions options);
  ~TestNodes();
  TestNodes(const TestNodes&) = delete;

  RequestCounts requests;

 private:
  TestCluster& cluster_;
  kube::Client client_;
  lab::JobController controller_;
  TaskScope scope_;
};

}  // namespace regatta::test_support
