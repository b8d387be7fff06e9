#include "controllers/worker_room.h"

#include "dispatch/group.h"

#include <algorithm>

namespace regatta::controllers {
namespace {

/// What the informers of a connection hold.
class Shown final : public dispatch::WorkerPicture {
 public:
  Shown(std::shared_ptr<const clusters::RemoteCluster> remote, const Clock& clock)
      : remote_(std::move(remote)), queues_(remote_->queues()), clock_(clock) {}

  std::optional<Duration> queue_age() const override {
    const auto told = queues_ ? queues_->told() : std::nullopt;
    if (!told) return std::nullopt;
    return clock_.steady() - *told;
  }
  std::vector<std::shared_ptr<const api::ClusterQueue>> cluster_queues() const override {
    if (!queues_) return {};
    return queues_->cluster_queues.list();
  }
  std::shared_ptr<const api::ClusterQueue> cluster_queue(const std::string& name) const override {
    return queues_ ? queues_->cluster_queues.get(api::ObjectKey(name)) : nullptr;
  }
  std::vector<std::shared_ptr<const api::Cohort>> cohorts() const override {
    if (!queues_) return {};
    return queues_->cohorts.list();
  }
  std::vector<std::shared_ptr<const api::LocalQueue>> local_queues() const override {
    if (!queues_) return {};
    return queues_->local_queues.list();
  }
  std::shared_ptr<const api::LocalQueue> local_queue(const api::ObjectKey& key) const override {
    return queues_ ? queues_->local_queues.get(key) : nullptr;
  }
  std::vector<jobs::WorkloadPtr> copies() const override { return remote_->workloads.list(); }
  jobs::WorkloadPtr copy(const api::ObjectKey& key) const override {
    return remote_->workloads.get(key);
  }
  std::optional<Duration> latency() const override { return remote_->latency(); }

 private:
  std::shared_ptr<const clusters::RemoteCluster> remote_;
  const clusters::RemoteQueues* queues_;
  const Clock& clock_;
};

}  // namespace

WorkerRoom::WorkerRoom(clusters::LocalCluster& hub, clusters::Fleet& fleet,
                       const dispatch::PlanConfig& plan)
    : hub_(hub), fleet_(fleet), plan_(plan), book_(hub.objects(), *this) {
  hub_.checks.on_change([this](const api::ObjectKey&) { use_if_wanted(); });
  hub_.workloads.on_transition([this](const api::ObjectKey& key, const auto&, const auto& after) {
    if (in_use_) book_.note_workload(key, after.get());
  });
  fleet_.on_workload([this](const std::string& cluster, const api::ObjectKey& key) {
    if (in_use_) book_.note_copy(cluster, key);
  });
  fleet_.on_connection([this](const std::string& cluster) { book_.note_cluster(cluster); });
  hub_.multikueue_clusters.on_change(
      [this](const api::ObjectKey& key) { book_.note_cluster(key.name); });
  fleet_.on_queues([this](const std::string& cluster, const std::string& cluster_queue) {
    book_.note_queue(cluster, cluster_queue);
    if (on_room) on_room(cluster);
  });
}

std::shared_ptr<const api::MultiKueueCluster> WorkerRoom::cluster(const std::string& name) const {
  return hub_.multikueue_clusters.get(api::ObjectKey(name));
}

WorkerRoom::Seen WorkerRoom::look(const std::string& name, const jobs::JobKind* kind) const {
  const auto* member = fleet_.find(name);
  if (!member || !member->remote) return {};
  return {member->ready(), !kind || member->remote->jobs.serves(*kind),
          std::make_shared<const Shown>(member->remote, hub_.clock)};
}

void WorkerRoom::start() {
  started_ = true;
  use_if_wanted();
}

bool WorkerRoom::compares(const dispatch::LocalView& local) const {
  return dispatch::compares(dispatch::dispatcher_of(local, plan_));
}

void WorkerRoom::use_if_wanted() {
  if (in_use_ || !started_) return;
  const auto checks = hub_.checks.list();
  const bool wanted = dispatch::compares(plan_.nomination.dispatcher) ||
                      std::any_of(checks.begin(), checks.end(), [&](const auto& check) {
                        const auto named =
                            dispatch::named_dispatcher(hub_.objects(), check->metadata.name);
                        return named && dispatch::compares(*named);
                      });
  if (!wanted) return;
  in_use_ = true;
  hub_.log.named("dispatch").info("workers are compared by what their queues have");
  fleet_.follow_queues();
  for (const auto& workload : hub_.workloads.list()) {
    book_.note_workload(workload->metadata.key(), workload.get());
  }
  for (const auto& [name, member] : fleet_.members()) {
    if (!member.remote) continue;
    for (const auto& copy : member.remote->workloads.list()) {
      book_.note_copy(name, copy->metadata.key());
    }
  }
}

void WorkerRoom::nominate(const api::Workload& workload, const api::WorkloadStatus& status,
                          const std::vector<std::string>& clusters) {
  if (in_use_) book_.nominate(workload, status, clusters);
}

}  // namespace regatta::controllers
