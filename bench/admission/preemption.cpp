#include "bench/admission/cases.h"
#include "bench/admission/gangs.h"
#include "bench/admission/measure.h"

#include <cstdlib>

namespace regatta::admission::bench {
namespace {

Config config_of(const Preemption& preemption) {
  Config config;
  if (preemption.fair_sharing) config.fair_sharing.emplace();
  return config;
}

constexpr int pods_per_gang = 4;

/// Quota for `victims` small jobs in each ClusterQueue. With `reclaim` the even ones run twice as
/// many, on the quota of the odd ones. With nodes, the small jobs are gangs that fill the nodes,
/// and the large ones are gangs of as many pods as all their victims.
class Arena {
 public:
  explicit Arena(const Preemption& preemption)
      : preemption_(preemption),
        world_(config_of(preemption)),
        small_(cpu_template(small_cpus(preemption) / (gangs() ? pods_per_gang : 1))),
        large_(gangs() ? small_ : cpu_template(preemption.victims)) {
    if (gangs()) add_nodes(&world_.state(), preemption.nodes);
    const int queues = preemption.reclaim ? preemption.queues * 2 : preemption.queues;
    world_.add_queues(queues, [&](int i, api::ClusterQueue* queue) {
      queue->spec.cohort_name = "cohort" + std::to_string(i / 100);
      queue->spec.preemption.within_cluster_queue = api::WithinQueuePolicy::LowerPriority;
      queue->spec.preemption.reclaim_within_cohort = api::ReclaimPolicy::Any;
      queue->spec.resource_groups = cpu_quota(preemption.victims * small_cpus(preemption));
    });
    const int per_queue = preemption.reclaim ? preemption.victims * 2 : preemption.victims;
    for (int i = 0; i < preemption.queues * per_queue; ++i) add({i, queue_of(i), &small_, 0});
    settle();
  }

  /// Returns the number of admitted jobs.
  std::size_t round(int number, Meter* cycles, Meter* all) {
    for (int i = 0; i < preemption_.queues; ++i) add(preemptor(number, i));
    now_ += std::chrono::seconds(2);
    all->start();
    const CycleResult preempting = measured_cycle(world_.state(), now_, cycles);
    for (const PreemptedWorkload& decision : preempting.preempted) {
      const int victim = World::number_of(decision.key);
      world_.evict(workload({victim, queue_of(victim), &small_, 0}), now_);
    }
    now_ += std::chrono::seconds(2);
    const CycleResult admitting = measured_cycle(world_.state(), now_, cycles);
    all->stop();
    victims_ += preempting.preempted.size();
    for (int i = 0; i < preemption_.queues; ++i) {
      world_.state().erase_workload(workload(preemptor(number, i)).metadata.key(), now_);
    }
    settle();
    return admitting.admitted.size();
  }

  std::size_t victims() const { return victims_; }

 private:
  World::Job preemptor(int round, int number) const {
    return {1'000'000 * (round + 1) + number, preemption_.reclaim ? number * 2 + 1 : number,
            &large_, 10};
  }

  bool gangs() const { return preemption_.nodes > 0; }

  static int small_cpus(const Preemption& preemption) {
    if (preemption.nodes == 0) return 1;
    return preemption.nodes * cpus_per_node / (preemption.queues * preemption.victims);
  }

  api::Workload workload(const World::Job& job) const {
    if (!gangs()) return World::workload(job);
    return gang(job, job.pods == &small_ ? pods_per_gang : pods_per_gang * preemption_.victims);
  }

  int queue_of(int number) const {
    const int queue = number % preemption_.queues;
    return preemption_.reclaim ? queue * 2 : queue;
  }

  void add(const World::Job& job) { world_.state().upsert(workload(job), now_); }

  /// Runs cycles until no waiting workload fits, and reads back every admission.
  void settle() {
    while (true) {
      now_ += std::chrono::seconds(2);
      world_.state().flush(now_);
      const CycleResult result = run_cycle(world_.state(), now_);
      if (result.admitted.empty()) return;
      for (const AdmittedWorkload& decision : result.admitted) {
        const int number = World::number_of(decision.key);
        world_.confirm(workload({number, queue_of(number), &small_, 0}), decision, now_);
      }
      world_.state().take_changes();
    }
  }

  Preemption preemption_;
  World world_;
  api::PodTemplate small_;
  api::PodTemplate large_;
  TimePoint now_ = start;
  std::size_t victims_ = 0;
};

}  // namespace

void measure_preemption(const Preemption& preemption, Report* report) {
  constexpr int rounds = 5;
  Arena arena(preemption);
  Meter cycles;
  Meter all;
  std::size_t admitted = 0;
  for (int i = 0; i < rounds; ++i) admitted += arena.round(i, &cycles, &all);
  const auto done = static_cast<double>(admitted);
  report->add({preemption.name,
               {{"admissions_per_cpu_second", done / cycles.seconds()},
                {"with_reading_evictions", done / all.seconds()},
                {"victims_each", static_cast<double>(arena.victims()) / done, 1},
                {"us_per_victim", cycles.seconds() / static_cast<double>(arena.victims()) * 1e6, 3},
                {"peak_mb", peak_mb()}}});
}

}  // namespace regatta::admission::bench
