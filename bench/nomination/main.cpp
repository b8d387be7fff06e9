// What it costs to compare the workers of a fleet for one workload: to gather what is known of each
// and to rank them. Other workloads are on their way to each of them, so that claims count.

#include "dispatch/ranking.h"
#include "dispatch/room_book.h"
#include "jobs/integrations/no_objects.h"
#include "lib/api/codec.h"
#include "lib/api/yaml.h"

#include <nlohmann/json.hpp>

#include <benchmark/benchmark.h>
#include <cstdlib>
#include <iostream>
#include <string>
#include <unordered_map>
#include <vector>

namespace regatta::bench {
namespace {

template <class T>
T read(const std::string& yaml) {
  const auto json = api::parse_yaml(yaml);
  if (!json) {
    std::cerr << json.error().what() << "\n";
    std::abort();
  }
  auto object = api::from_json<T>(*json);
  if (!object) {
    std::cerr << object.error().what() << "\n";
    std::abort();
  }
  return std::move(*object);
}

template <class T>
std::shared_ptr<const T> shared(const std::string& yaml) {
  return std::make_shared<const T>(read<T>(yaml));
}

/// A worker with two flavors, of which `used` CPUs are taken.
class Worker final : public dispatch::WorkerPicture {
 public:
  explicit Worker(int used)
      : cluster_queue_(shared<api::ClusterQueue>(
            "metadata: {name: main, resourceVersion: \"7\"}\n"
            "spec:\n  resourceGroups:\n  - coveredResources: [cpu, memory]\n    flavors:\n"
            "    - {name: spot, resources: [{name: cpu, nominalQuota: 8}, {name: memory, "
            "nominalQuota: 32Gi}]}\n"
            "    - {name: default, resources: [{name: cpu, nominalQuota: 64}, {name: memory, "
            "nominalQuota: 256Gi}]}\n"
            "status:\n  conditions: [{type: Active, status: \"True\"}]\n  flavorsReservation:\n"
            "  - {name: spot, resources: [{name: cpu, total: 8}, {name: memory, total: 16Gi}]}\n"
            "  - {name: default, resources: [{name: cpu, total: " +
            std::to_string(used) + "}, {name: memory, total: 64Gi}]}\n")),
        local_queue_(shared<api::LocalQueue>(
            "metadata: {namespace: team, name: main}\nspec: {clusterQueue: main}\n"
            "status: {conditions: [{type: Active, status: \"True\"}]}\n")) {}

  std::optional<Duration> queue_age() const override { return Duration(0); }
  std::vector<std::shared_ptr<const api::ClusterQueue>> cluster_queues() const override {
    return {cluster_queue_};
  }
  std::shared_ptr<const api::ClusterQueue> cluster_queue(const std::string&) const override {
    return cluster_queue_;
  }
  std::vector<std::shared_ptr<const api::Cohort>> cohorts() const override { return {}; }
  std::vector<std::shared_ptr<const api::LocalQueue>> local_queues() const override {
    return {local_queue_};
  }
  std::shared_ptr<const api::LocalQueue> local_queue(const api::ObjectKey&) const override {
    return local_queue_;
  }
  std::vector<jobs::WorkloadPtr> copies() const override { return {}; }
  jobs::WorkloadPtr copy(const api::ObjectKey&) const override { return nullptr; }

 private:
  std::shared_ptr<const api::ClusterQueue> cluster_queue_;
  std::shared_ptr<const api::LocalQueue> local_queue_;
};

class Fleet final : public dispatch::FleetPicture {
 public:
  explicit Fleet(int workers) {
    for (int i = 0; i < workers; ++i) {
      const std::string name = "cluster-" + std::to_string(1000 + i);
      members_[name] = {
          shared<api::MultiKueueCluster>("metadata:\n  name: " + name +
                                         "\n  labels: {region: eu-west, environment: production, "
                                         "accelerator: nvidia-a100}\n"),
          std::make_shared<const Worker>(i % 64)};
      names.push_back(name);
    }
  }

  std::shared_ptr<const api::MultiKueueCluster> cluster(const std::string& name) const override {
    return members_.at(name).object;
  }
  Seen look(const std::string& name, const jobs::JobKind*) const override {
    return {true, true, members_.at(name).picture};
  }

  std::vector<std::string> names;

 private:
  struct Member {
    std::shared_ptr<const api::MultiKueueCluster> object;
    std::shared_ptr<const Worker> picture;
  };
  std::unordered_map<std::string, Member> members_;
};

api::Workload workload(const std::string& name) {
  return read<api::Workload>(
      "metadata: {namespace: team, name: " + name + ", uid: " + name +
      "}\nspec: {queueName: main}\nstatus:\n"
      "  conditions: [{type: QuotaReserved, status: \"True\"}]\n"
      "  admission: {clusterQueue: main, podSetAssignments: [{name: main, count: 1, flavors: {cpu: "
      "default, memory: default}, resourceUsage: {cpu: 2, memory: 4Gi}}]}\n");
}

void compare_workers(benchmark::State& state) {
  const jobs::NoObjects hub;
  const Fleet fleet(static_cast<int>(state.range(0)));
  dispatch::RoomBook book(hub, fleet);
  // Two workloads on their way to each worker.
  for (std::size_t i = 0; i < 2 * fleet.names.size(); ++i) {
    const api::Workload other = workload("other-" + std::to_string(i));
    book.nominate(other, other.status, {fleet.names[i / 2]});
  }
  const api::Workload mine = workload("mine");
  dispatch::GroupView group;
  group.local.quota_reserved = true;
  group.local.check = dispatch::CheckState::pending;
  group.local.dispatcher = placement::Dispatcher::capacity;
  group.config_order = fleet.names;
  for (auto _ : state) {
    group.comparison = book.comparison(mine, mine.status, group.config_order);
    benchmark::DoNotOptimize(dispatch::ranking_of(group, TimePoint(), {}));
  }
  state.counters["for_each_worker"] =
      benchmark::Counter(static_cast<double>(state.iterations() * state.range(0)),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(compare_workers)->Arg(3)->Arg(20)->Arg(100)->Arg(1000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace regatta::bench

BENCHMARK_MAIN();
