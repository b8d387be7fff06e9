#include "controllers/queue_controller.h"

#include "lib/api/codec.h"
#include "lib/api/names.h"
#include "lib/kube/patch.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::controllers {
namespace {

constexpr int workers = 5;
constexpr std::string_view in_use_finalizer = api::finalizers::resource_in_use;

template <class T>
bool same_but_status(const std::shared_ptr<const T>& before,
                     const std::shared_ptr<const T>& after) {
  return before && after && before->metadata.generation == after->metadata.generation &&
         before->metadata.deleting() == after->metadata.deleting() &&
         before->metadata.finalizers == after->metadata.finalizers;
}

/// It waits for nothing but the finalizer, and nothing uses it.
bool is_free(const api::ObjectMeta& metadata, bool in_use) {
  return metadata.deleting() && metadata.has_finalizer(in_use_finalizer) && !in_use;
}

void set_active(api::Conditions* conditions, const admission::Activity& activity,
                std::int64_t generation, TimePoint now) {
  api::set_condition(conditions,
                     {std::string(api::conditions::active),
                      activity.active ? api::ConditionStatus::True : api::ConditionStatus::False,
                      generation,
                      {},
                      activity.reason,
                      activity.message},
                     now);
}

/// Merge patch with the changes of the status. The first patch has every field, also zeros, so that
/// a new queue shows counts.
template <class T>
std::string status_patch(const T& before, const T& after) {
  Json from = api::to_json(before);
  if (before.status.conditions.empty()) from.erase("status");
  return kube::guarded_merge_patch(from, api::to_json(after), kube::PatchScope::status);
}

}  // namespace

QueueController::QueueController(clusters::LocalCluster& cluster, Scheduler& scheduler,
                                 TaskScope& scope, Duration batch)
    : cluster_(cluster),
      scheduler_(scheduler),
      scope_(scope),
      batch_(batch),
      log_(cluster.log.named("queues")),
      queue_(cluster.clock, scope, Backoff{Duration(50), std::chrono::seconds(30)}),
      queues_(cluster.cluster_queues, cluster.clock, scope, queue_),
      flavors_(cluster.flavors, cluster.clock, scope, queue_) {
  scheduler_.on_changes([this] { take_changes(); });
  cluster_.cluster_queues.on_transition([this](const auto& key, const auto& b, const auto& a) {
    look_at({"ClusterQueue", key}, same_but_status(b, a));
    // The queues decide whether flavors and checks are in use.
    if (b && a && b->metadata.generation == a->metadata.generation) return;
    for (const auto& one : cluster_.flavors.list()) {
      queue_.add({"ResourceFlavor", one->metadata.key()});
    }
    for (const auto& one : cluster_.checks.list()) {
      queue_.add({"AdmissionCheck", one->metadata.key()});
    }
  });
  cluster_.local_queues.on_transition([this](const auto& key, const auto& b, const auto& a) {
    look_at({"LocalQueue", key}, same_but_status(b, a));
  });
  cluster_.flavors.on_transition([this](const auto& key, const auto& b, const auto& a) {
    if (!same_but_status(b, a)) queue_.add({"ResourceFlavor", key});
    // A deleted Topology is released when the last flavor that names it is gone.
    const std::string topology = b && !a ? b->spec.topology_name : std::string();
    if (!topology.empty()) queue_.add({"Topology", api::ObjectKey(topology)});
  });
  cluster_.topologies.on_change([this](const auto& key) { queue_.add({"Topology", key}); });
  cluster_.checks.on_transition([this](const auto& key, const auto& b, const auto& a) {
    if (!same_but_status(b, a)) queue_.add({"AdmissionCheck", key});
  });
}

void QueueController::start() {
  for (int i = 0; i < workers; ++i) scope_.spawn("queues", work());
  if (scheduler_.reader().config().admission_fair_sharing) scope_.spawn("usage", sample_usage());
}

/// The recorded use of LocalQueues decays in steps of one sampling interval.
Task<> QueueController::sample_usage() {
  const auto interval = std::chrono::duration_cast<Duration>(
      scheduler_.reader().config().admission_fair_sharing->usage_sampling_interval);
  for (;;) {
    co_await cluster_.clock.sleep_for(interval);
    scheduler_.sample_usage();
    take_changes();
  }
}

void QueueController::look_at(Item item, bool only_status) {
  if (only_status) {
    // The answer to a write may have been lost, so that the status is not the one last known.
    queue_.add_after(item, batch_);
  } else {
    queue_.add(item);
  }
}

void QueueController::take_changes() {
  const admission::Changes changes = scheduler_.take_changes();
  for (const std::string& name : changes.cluster_queues) {
    queue_.add_after({"ClusterQueue", api::ObjectKey(name)}, batch_);
  }
  for (const api::ObjectKey& key : changes.local_queues) {
    queue_.add_after({"LocalQueue", key}, batch_);
  }
  for (const std::string& name : changes.cohorts) {
    queue_.add_after({"Cohort", api::ObjectKey(name)}, batch_);
  }
}

Task<> QueueController::work() {
  for (;;) {
    Item item = co_await queue_.next();
    const Status done = co_await reconcile(item);
    // Reading a tree that had changed may have shown others that did.
    take_changes();
    if (queue_.finish(item, done)) {
      log_.warning(
          "not reconciled",
          {{"kind", item.first}, {"name", item.second.str()}, {"error", done.error().what()}});
    }
  }
}

Task<Status> QueueController::reconcile(Item item) {
  if (item.first == "ClusterQueue") co_return co_await cluster_queue(std::move(item.second));
  if (item.first == "LocalQueue") co_return co_await local_queue(std::move(item.second));
  if (item.first == "Cohort") co_return co_await cohort(std::move(item.second));
  if (item.first == "ResourceFlavor") co_return co_await flavor(std::move(item));
  if (item.first == "Topology") co_return co_await topology(std::move(item));
  co_return co_await check(std::move(item));
}

/// Adds the finalizer to a live object, and removes it from a deleted object that is not in use.
template <class T>
Task<Status> QueueController::keep_finalizer(kube::Informer<T>& informer,
                                             std::shared_ptr<const T> object, bool in_use) {
  T after = *object;
  if (!object->metadata.deleting() && !object->metadata.has_finalizer(in_use_finalizer)) {
    after.metadata.finalizers.emplace_back(in_use_finalizer);
  } else if (is_free(object->metadata, in_use)) {
    std::erase(after.metadata.finalizers, in_use_finalizer);
  } else {
    co_return ok();
  }
  T before = *object;
  const Status written =
      co_await cluster_.write_metadata(informer, std::move(before), std::move(after));
  if (!written && written.error().code() == Errc::not_found) co_return ok();
  co_return written;
}

template <class T, class Users>
Task<Status> QueueController::keep_finalizer(kube::Informer<T>& informer, Item item, bool in_use,
                                             Users& users) {
  auto stored = informer.get(item.second);
  const bool goes = stored && is_free(stored->metadata, in_use);
  if (!goes) users.forget(item);
  if (!stored) co_return ok();
  if (goes) {
    const Result<bool> believed = users.believed(item);
    if (!believed) co_return believed.error();
    if (!*believed) co_return ok();  // it comes back after the list
  }
  co_return co_await keep_finalizer(informer, std::move(stored), in_use);
}

/// Writes the counts of a queue and whether it is active.
template <class T, class QueueStatus>
Task<Status> QueueController::write_queue(kube::Informer<T>& informer,
                                          std::shared_ptr<const T> stored, QueueStatus status,
                                          admission::Activity activity) {
  T after = *stored;
  status.conditions = std::move(after.status.conditions);
  after.status = std::move(status);
  set_active(&after.status.conditions, activity, stored->metadata.generation, cluster_.clock.now());
  std::string patch = status_patch(*stored, after);
  if (patch.empty()) co_return ok();
  co_return co_await cluster_.patch_status(informer, stored->metadata.key(), std::move(patch));
}

Task<Status> QueueController::cluster_queue(api::ObjectKey key) {
  auto stored = cluster_.cluster_queues.get(key);
  if (!stored) co_return ok();
  // No list is needed: only the manager that leads reserves, and it listed when it began to lead.
  const bool in_use = scheduler_.reader().has_reservations(key.name);
  const Status kept = co_await keep_finalizer(cluster_.cluster_queues, stored, in_use);
  if (!kept) co_return kept;
  stored = cluster_.cluster_queues.get(key);
  if (!stored || (stored->metadata.deleting() && !in_use)) co_return ok();
  co_return co_await write_queue(cluster_.cluster_queues, std::move(stored),
                                 scheduler_.reader().status(key.name),
                                 scheduler_.reader().activity(key.name));
}

Task<Status> QueueController::local_queue(api::ObjectKey key) {
  auto stored = cluster_.local_queues.get(key);
  if (!stored || stored->metadata.deleting()) co_return ok();
  co_return co_await write_queue(cluster_.local_queues, std::move(stored),
                                 scheduler_.reader().status(key),
                                 scheduler_.reader().local_queue_activity(key));
}

Task<Status> QueueController::cohort(api::ObjectKey key) {
  const auto stored = cluster_.cohorts.get(key);
  if (!stored || stored->metadata.deleting()) co_return ok();
  api::Cohort before = *stored;
  api::Cohort after = before;
  after.status = scheduler_.reader().cohort_status(key.name);
  co_return co_await cluster_.write_status(cluster_.cohorts, std::move(before), std::move(after));
}

Task<Status> QueueController::flavor(Item item) {
  const bool in_use = scheduler_.reader().flavor_in_use(item.second.name);
  return keep_finalizer(cluster_.flavors, std::move(item), in_use, queues_);
}

Task<Status> QueueController::topology(Item item) {
  const auto flavors = cluster_.flavors.list();
  const bool in_use = std::any_of(flavors.begin(), flavors.end(), [&](const auto& flavor) {
    return flavor->spec.topology_name == item.second.name;
  });
  return keep_finalizer(cluster_.topologies, std::move(item), in_use, flavors_);
}

Task<Status> QueueController::check(Item item) {
  const bool in_use = scheduler_.reader().check_in_use(item.second.name);
  return keep_finalizer(cluster_.checks, std::move(item), in_use, queues_);
}

}  // namespace regatta::controllers
