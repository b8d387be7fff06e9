#include "bench/admission/cases.h"
#include "bench/admission/measure.h"
#include "bench/admission/world.h"

#include <algorithm>

namespace regatta::admission::bench {

/// Every head is admitted and its job ends at once, so that all cycles are alike.
void measure_growth(const Growth& growth, Report* report) {
  World world;
  world.add_queues(growth.queues, [](int i, api::ClusterQueue* queue) {
    queue->spec.cohort_name = "cohort" + std::to_string(i / 100);
    queue->spec.resource_groups = cpu_quota(20, 100);
  });
  const api::PodTemplate pods = cpu_template(1);
  const int step = growth.queues / growth.busy;
  const auto job = [&](int number) {
    return World::Job{number, number % growth.busy * step, &pods, number % 3 * 50};
  };
  const double empty = resident_mb();
  for (int i = 0; i < growth.workloads; ++i) {
    world.state().upsert(World::workload(job(i)), start);
  }
  const double loaded = resident_mb();
  TimePoint now = start + std::chrono::seconds(2);
  world.state().flush(now);
  Meter meter;
  std::size_t heads = 0;
  const int cycles = std::min(1000, growth.workloads / growth.busy);
  for (int i = 0; i < cycles; ++i) {
    now += std::chrono::seconds(2);
    const CycleResult result = measured_cycle(world.state(), now, &meter);
    heads += result.admitted.size();
    for (const AdmittedWorkload& decision : result.admitted) {
      world.confirm(job(World::number_of(decision.key)), decision, now);
      world.state().erase_workload(decision.key, now);
    }
    world.state().take_changes();
  }
  const auto each = static_cast<double>(heads);
  report->add({growth.name,
               {{"heads_per_cycle", each / cycles},
                {"us_per_cycle", meter.seconds() / cycles * 1e6, 1},
                {"us_per_head", meter.seconds() / each * 1e6, 2},
                {"mb_for_workloads", loaded - empty},
                {"peak_mb", peak_mb()}}});
}

}  // namespace regatta::admission::bench
