#include "lab/servers/controllers.h"

#include "lab/cluster/garbage_collector.h"
#include "lab/cluster/job_controller.h"
#include "lab/cluster/kind_operator.h"
#include "lab/cluster/namespace_controller.h"
#include "lib/runtime/deadline.h"

#include <utility>

namespace regatta::lab {
namespace {

constexpr Duration retry_every{500};

Task<> keep_nodes(ControllersDeps deps, Fleet fleet) {
  while (true) {
    const TimePoint now = deps.clock.now();
    const Status created = co_await create_nodes(deps.client, fleet, now);
    if (created) break;
    deps.log.info("cannot create the nodes yet", {{"error", created.error().what()}});
    co_await deps.clock.sleep_for(retry_every);
  }
  deps.log.info("nodes are ready", {{"groups", fleet.size()}});
}

Task<> run_jobs(ControllersDeps deps, JobControllerOptions options) {
  JobControllerDeps job_deps{deps.client, deps.clock, deps.rng, deps.executor,
                             deps.log.named("jobs")};
  JobController controller(std::move(job_deps), options);
  co_await controller.run();
}

/// Of one of operated_kinds(), or of managed_pods().
Task<> run_operator(ControllersDeps deps, const OperatedKind* kind) {
  KindOperatorDeps operator_deps{deps.client, deps.clock, deps.rng, deps.executor,
                                 deps.log.named("operators")};
  KindOperator runs(std::move(operator_deps), *kind);
  co_await runs.run();
}

Task<> collect_garbage(ControllersDeps deps) {
  GarbageCollectorDeps collector_deps{deps.client, deps.clock, deps.rng, deps.executor,
                                      deps.log.named("garbage-collector")};
  GarbageCollector collector(std::move(collector_deps));
  co_await collector.run();
}

Task<> empty_namespaces(ControllersDeps deps) {
  NamespaceControllerDeps namespace_deps{deps.client, deps.clock, deps.rng, deps.executor,
                                         deps.log.named("namespaces")};
  NamespaceController controller(std::move(namespace_deps));
  co_await controller.run();
}

}  // namespace

Task<> run_cluster_controllers(ControllersDeps deps, ControllerOptions options) {
  std::vector<Task<>> all;
  all.push_back(collect_garbage(deps));
  all.push_back(empty_namespaces(deps));
  if (options.fleet) {
    JobControllerOptions jobs;
    jobs.behaviour.pods = options.pods;
    all.push_back(keep_nodes(deps, *options.fleet));
    all.push_back(run_jobs(deps, jobs));
    for (const OperatedKind& kind : operated_kinds()) all.push_back(run_operator(deps, &kind));
    all.push_back(run_operator(deps, &managed_pods()));
  }
  co_await all_of(std::move(all));
}

}  // namespace regatta::lab
