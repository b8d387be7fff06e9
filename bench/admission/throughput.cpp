#include "bench/admission/cases.h"
#include "bench/admission/measure.h"
#include "bench/admission/world.h"

#include <array>

namespace regatta::admission::bench {

void measure_flow(const Flow& flow, Report* report) {
  Config config;
  if (flow.fair_sharing) config.fair_sharing.emplace();
  World world(config);
  world.add_queues(flow.queues, [](int i, api::ClusterQueue* queue) {
    queue->spec.cohort_name = "cohort" + std::to_string(i / 100);
    queue->spec.resource_groups = cpu_quota(20, 100);
  });
  const std::array<api::PodTemplate, 3> pods{cpu_template(1), cpu_template(5), cpu_template(20)};
  const auto job = [&](int number) {
    const std::size_t kind = number % 10 < 7 ? 0 : number % 10 < 9 ? 1 : 2;
    return World::Job{number, number % flow.queues, &pods[kind], static_cast<int>(kind) * 50};
  };
  Meter all;
  all.start();
  for (int i = 0; i < flow.workloads; ++i) world.state().upsert(World::workload(job(i)), start);
  Meter cycles;
  int count = 0;
  std::size_t admitted = 0;
  for (TimePoint now = start; world.state().has_heads(); ++count) {
    now += std::chrono::seconds(2);
    const CycleResult result = measured_cycle(world.state(), now, &cycles);
    admitted += result.admitted.size();
    for (const AdmittedWorkload& decision : result.admitted) {
      world.confirm(job(World::number_of(decision.key)), decision, now);
      world.state().erase_workload(decision.key, now);
    }
    world.state().take_changes();
  }
  all.stop();
  const auto done = static_cast<double>(admitted);
  report->add({flow.name,
               {{"admissions_per_cpu_second", done / cycles.seconds()},
                {"with_reading_and_ending", done / all.seconds()},
                {"cycles", static_cast<double>(count)},
                {"us_per_cycle", cycles.seconds() / count * 1e6, 1},
                {"peak_mb", peak_mb()}}});
}

}  // namespace regatta::admission::bench
