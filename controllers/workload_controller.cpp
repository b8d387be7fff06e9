#include "controllers/workload_controller.h"

#include "lib/api/names.h"

namespace regatta::controllers {

WorkloadController::WorkloadController(clusters::LocalCluster& cluster, Scheduler& scheduler,
                                       TaskScope& scope, int workers)
    : cluster_(cluster),
      scheduler_(scheduler),
      scope_(scope),
      workers_(workers),
      log_(cluster.log.named("workloads")),
      queue_(cluster.clock, scope, Backoff{Duration(20), std::chrono::seconds(30)}) {
  cluster_.workloads.on_change([this](const api::ObjectKey& key) { queue_.add(key); });
  cluster_.local_queues.on_transition(
      [this](const auto& key, const auto& before, const auto& after) {
        if (before && after && before->spec == after->spec &&
            before->metadata.deleting() == after->metadata.deleting()) {
          return;
        }
        enqueue_queue(key);
      });
  cluster_.cluster_queues.on_transition(
      [this](const auto& key, const auto& before, const auto& after) {
        const bool same = before && after &&
                          before->metadata.generation == after->metadata.generation &&
                          before->metadata.deleting() == after->metadata.deleting() &&
                          api::is_true(before->status.conditions, api::conditions::active) ==
                              api::is_true(after->status.conditions, api::conditions::active);
        if (same) return;
        for (const auto& queue : cluster_.local_queues.list()) {
          if (queue->spec.cluster_queue == key.name) enqueue_queue(queue->metadata.key());
        }
      });
}

void WorkloadController::enqueue_queue(const api::ObjectKey& local_queue) {
  for (const api::ObjectKey& key :
       cluster_.workloads.keys_by_index(clusters::by_local_queue, local_queue.str())) {
    queue_.add(key);
  }
}

void WorkloadController::start() {
  for (int i = 0; i < workers_; ++i) scope_.spawn("workloads", work());
}

Task<> WorkloadController::work() {
  for (;;) {
    api::ObjectKey key = co_await queue_.next();
    const Status done = co_await reconcile(key);
    if (queue_.finish(key, done)) {
      log_.warning("workload not reconciled",
                   {{"workload", key.str()}, {"error", done.error().what()}});
    }
  }
}

LifecycleView WorkloadController::view(const api::Workload& workload) const {
  LifecycleView view;
  const auto local =
      cluster_.local_queues.get(api::ObjectKey(workload.metadata.ns, workload.spec.queue_name));
  if (local && !local->metadata.deleting()) {
    view.local_queue = {true, true, local->spec.stop_policy};
    view.cluster_queue_name = local->spec.cluster_queue;
  }
  if (workload.status.admission) view.cluster_queue_name = workload.status.admission->cluster_queue;
  const auto queue = cluster_.cluster_queues.get(api::ObjectKey(view.cluster_queue_name));
  if (queue) {
    const bool active = scheduler_.state().activity(view.cluster_queue_name).active;
    view.cluster_queue = {true, active, queue->spec.stop_policy};
  }
  view.required_checks = scheduler_.state().required_checks(workload);
  return view;
}

Task<Status> WorkloadController::reconcile(api::ObjectKey key) {
  const auto stored = cluster_.workloads.get(key);
  if (!stored) co_return ok();
  const TimePoint now = cluster_.clock.now();
  // Looking costs nothing; the lock is only taken for a write.
  api::Workload trial = *stored;
  Settled todo = settle(&trial, view(*stored), now);
  if (todo.look_again) queue_.add_after(key, *todo.look_again);
  if (todo.active) {
    const bool active = *todo.active;
    const auto change = [active](api::Workload& workload) {
      workload.spec.active = active;
      return true;
    };
    const Status done = co_await cluster_.update_spec(key, change);
    if (!done) co_return done;
  }
  if (todo.status_changed) {
    std::vector<Note> notes;
    const auto change = [&](api::Workload& workload) {
      Settled again = settle(&workload, view(workload), now);
      notes = std::move(again.notes);
      return again.status_changed;
    };
    const Status done = co_await cluster_.update_status(key, change);
    if (!done && done.error().code() != Errc::not_found) co_return done;
    for (Note& note : notes) {
      cluster_.events.event(kube::reference_to(*stored),
                            note.warning ? kube::EventType::warning : kube::EventType::normal,
                            std::move(note.reason), std::move(note.message));
    }
  }
  if (todo.release) {
    const auto change = [](api::Workload& workload) {
      return std::erase(workload.metadata.finalizers, api::finalizers::resource_in_use) > 0;
    };
    const Status done = co_await cluster_.update_metadata(key, change);
    if (!done && done.error().code() != Errc::not_found) co_return done;
  }
  co_return ok();
}

}  // namespace regatta::controllers
