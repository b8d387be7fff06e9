#include "manager/metrics/worker_gauges.h"

#include <gtest/gtest.h>

#include <prometheus/text_serializer.h>
#include <sstream>

namespace regatta::manager {
namespace {

api::ResourceGroup of_cpu(const std::string& flavor, const std::string& quota) {
  api::ResourceGroup group;
  api::ResourceQuota cpu;
  cpu.name = "cpu";
  cpu.nominal_quota = *api::Quantity::parse(quota);
  group.flavors.push_back({flavor, {cpu}});
  return group;
}

api::FlavorUsage cpu_of(const std::string& flavor, const std::string& amount) {
  return {flavor, {{"cpu", *api::Quantity::parse(amount), {}}}};
}

/// The samples without the comments.
std::string samples(const std::vector<QueueOnWorker>& queues) {
  std::istringstream lines(prometheus::TextSerializer().Serialize(worker_gauges(queues, "leader")));
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("#")) out += line + "\n";
  }
  return out;
}

TEST(WorkerGauges, AddUpFlavorsAndQueuesOfAWorker) {
  auto one = std::make_shared<api::ClusterQueue>();
  one->spec.resource_groups = {of_cpu("old", "1500m"), of_cpu("new", "2")};
  one->status.flavors_reservation = {cpu_of("old", "500m"), cpu_of("new", "1")};
  one->status.pending_workloads = 3;
  auto two = std::make_shared<api::ClusterQueue>();
  two->spec.resource_groups = {of_cpu("old", "4")};
  two->status.pending_workloads = 1;
  EXPECT_EQ(samples({{"team", "east", one}, {"team", "east", two}, {"other", "west", two}}),
            "regatta_worker_queue_nominal_quota{cluster=\"west\",cluster_queue=\"other\","
            "replica_role=\"leader\",resource=\"cpu\"} 4\n"
            "regatta_worker_queue_nominal_quota{cluster=\"east\",cluster_queue=\"team\","
            "replica_role=\"leader\",resource=\"cpu\"} 7.5\n"
            "regatta_worker_queue_pending_workloads{cluster=\"west\",cluster_queue=\"other\","
            "replica_role=\"leader\"} 1\n"
            "regatta_worker_queue_pending_workloads{cluster=\"east\",cluster_queue=\"team\","
            "replica_role=\"leader\"} 4\n"
            "regatta_worker_queue_resource_reservation{cluster=\"east\",cluster_queue=\"team\","
            "replica_role=\"leader\",resource=\"cpu\"} 1.5\n");
}

}  // namespace
}  // namespace regatta::manager
