#include "admission/pending_page.h"
#include "bench/admission/cases.h"
#include "bench/admission/measure.h"
#include "bench/admission/world.h"
#include "visibility/api.h"

namespace regatta::admission::bench {

void measure_pages(const Pages& pages, Report* report) {
  constexpr int local_queues = 10;
  constexpr int rounds = 50;
  World world;
  world.add_queues(
      1, [](int, api::ClusterQueue* queue) { queue->spec.resource_groups = cpu_quota(20); });
  const api::PodTemplate pods = cpu_template(1);
  std::vector<std::shared_ptr<const api::Workload>> objects;
  for (int i = 0; i < pages.workloads; ++i) {
    api::Workload workload = World::workload({i, 0, &pods, i % 3 * 50});
    if (const int local = i % local_queues; local > 0) {
      api::LocalQueue queue;
      queue.metadata.ns = workload.metadata.ns;
      queue.metadata.name = "more" + std::to_string(local);
      queue.spec.cluster_queue = "cq0";
      if (i < local_queues) world.state().upsert(queue, start);
      workload.spec.queue_name = queue.metadata.name;
    }
    world.state().upsert(workload, start);
    objects.push_back(std::make_shared<const api::Workload>(std::move(workload)));
  }
  const StatusReader reader = world.state().reader();
  const visibility::Source source{
      reader, [&](const api::ObjectKey& key) -> std::optional<visibility::WorkloadSeen> {
        const auto& found = objects.at(static_cast<std::size_t>(World::number_of(key)));
        return visibility::WorkloadSeen{{found, &found->metadata}, 0};
      }};
  const std::string queue =
      pages.of_local_queue ? "namespaces/" + objects.front()->metadata.ns + "/localqueues/more1"
                           : std::string("clusterqueues/cq0");
  const visibility::Query query{"GET",
                                "/apis/visibility.kueue.x-k8s.io/v1beta2/" + queue +
                                    "/pendingworkloads?offset=" + std::to_string(pages.offset),
                                ""};
  Meter meter;
  std::size_t bytes = 0;
  meter.start();
  for (int i = 0; i < rounds; ++i) bytes = visibility::answer(query, source).body.size();
  meter.stop();
  std::size_t comparisons = 0;
  const PageRequest request{static_cast<std::size_t>(pages.offset), 1000};
  const QueueInfo& info = *reader.find_queue("cq0");
  if (pages.of_local_queue) {
    const LocalQueueId local = reader.local_queue_id({objects.front()->metadata.ns, "more1"});
    page_of(reader, info, local, request, &comparisons);
  } else {
    page_of(reader, info, request, &comparisons);
  }
  report->add(
      {pages.name,
       {{"ms_per_page", meter.seconds() / rounds * 1e3, 2},
        {"kb_per_page", static_cast<double>(bytes) / 1024, 1},
        {"comparisons_per_workload", static_cast<double>(comparisons) / pages.workloads, 1}}});
}

}  // namespace regatta::admission::bench
