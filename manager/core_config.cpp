#include "manager/core_config.h"

#include <utility>

namespace regatta::manager {
namespace {

/// Enough for a busy worker with room to admit; unnoticeable to who waits for one without.
constexpr Duration head_start{100};

dispatch::DispatcherConfig dispatch_config(const MultiKueueConfiguration& given) {
  dispatch::DispatcherConfig config;
  config.plan.dispatcher.dispatcher = placement::dispatcher_of(given.dispatcher_name);
  config.plan.dispatcher.step_size = static_cast<int>(given.incremental_step_size);
  config.plan.worker_lost_timeout = given.worker_lost_timeout;
  config.gc_interval = given.gc_interval;
  config.plan.head_start = head_start;
  return config;
}

}  // namespace

Result<CoreConfig> core_config(const Configuration& config, std::string instance) {
  CoreConfig core;
  core.system_namespace = config.ns;
  core.instance = std::move(instance);
  core.multikueue = config.gates.enabled("MultiKueue");
  core.origin = config.multi_kueue.origin;
  core.dispatch = dispatch_config(config.multi_kueue);
  core.jobs.manage_without_queue_name = config.manage_jobs_without_queue_name;
  if (config.managed_jobs_namespace_selector) {
    auto selector = api::Selector::from(*config.managed_jobs_namespace_selector);
    if (!selector) return selector.error().within("managedJobsNamespaceSelector");
    core.jobs.namespaces = std::move(*selector);
  }
  return core;
}

}  // namespace regatta::manager
