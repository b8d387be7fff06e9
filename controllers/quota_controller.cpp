#include "controllers/quota_controller.h"

#include "controllers/worker_queues.h"
#include "dispatch/group.h"
#include "jobs/multikueue.h"
#include "lib/api/names.h"
#include "lib/kube/events.h"

#include <algorithm>

namespace regatta::controllers {
namespace {

/// Changes of workers' queues within this time become one write.
constexpr Duration batch = std::chrono::seconds(1);

bool asks(const api::MultiKueueConfig& config) {
  return config.spec.quota_management == api::QuotaManagement::Automated;
}

}  // namespace

QuotaController::QuotaController(clusters::LocalCluster& hub, clusters::Fleet& fleet,
                                 TaskScope& scope, QuotaConfig config)
    : hub_(hub),
      fleet_(fleet),
      scope_(scope),
      config_(config),
      log_(hub.log.named("quota")),
      queue_(hub.clock, scope, Backoff{Duration(50), std::chrono::seconds(30)}, Intake::closed) {
  hub_.cluster_queues.on_transition(
      [this](const api::ObjectKey& key, const auto& before, const auto& after) {
        const bool same = before && after && before->spec == after->spec &&
                          before->status.conditions == after->status.conditions;
        if (!same) queue_.add(key.name);
      });
  hub_.local_queues.on_transition([this](const auto&, const auto& before, const auto& after) {
    const bool same = before && after && before->spec.cluster_queue == after->spec.cluster_queue;
    if (!same) enqueue_all();
  });
  hub_.checks.on_change([this](const api::ObjectKey&) { enqueue_all(); });
  hub_.selection.on_change([this] {
    follow_if_asked();
    enqueue_all();
  });
  fleet_.on_connection([this](const std::string&) { enqueue_all(); });
  fleet_.on_queues([this](const std::string&, const std::string&) { enqueue_all(); });
}

void QuotaController::start() {
  started_ = true;
  started_at_ = hub_.clock.steady();
  queue_.open();
  follow_if_asked();
  enqueue_all();
  scope_.spawn("quota", work());
}

void QuotaController::follow_if_asked() {
  if (!config_.enabled || !started_) return;
  const auto configs = hub_.multikueue_configs.list();
  const bool asked =
      std::any_of(configs.begin(), configs.end(), [](const auto& one) { return asks(*one); });
  if (asked) fleet_.follow_queues();
}

void QuotaController::enqueue_all() {
  for (const auto& queue : hub_.cluster_queues.list()) {
    queue_.add_after(queue->metadata.name, batch);
  }
}

/// A worker that is lost counts for a while with what it had, so that a short loss preempts nobody.
void QuotaController::add_worker(const std::string& worker,
                                 const std::vector<api::ObjectKey>& local_queues,
                                 const std::string& cluster_queue,
                                 placement::AutomatedQuotaInput* input) {
  const auto* member = fleet_.find(worker);
  if (!member && !fleet_.may_exist(worker)) return;
  const clusters::RemoteQueues* queues =
      member && member->remote ? member->remote->queues() : nullptr;
  const bool ready = member && member->ready();
  if (!ready) {
    Duration lost = hub_.clock.steady() - started_at_;
    if (member && member->heard) lost = member->lost_for(hub_.clock).value_or(lost);
    if (lost >= config_.worker_lost_timeout) return;
    queue_.add_after(cluster_queue, config_.worker_lost_timeout - lost);
  }
  if (const auto what = ready && queues ? queues->withheld() : std::nullopt) {
    input->withheld.push_back(worker + " (" + *what + ")");
    return;
  }
  if (!queues || !queues->told()) {
    input->unknown.push_back(worker);
    return;
  }
  std::ranges::move(queues_behind(*queues, local_queues), std::back_inserter(input->on_workers));
}

placement::AutomatedQuotaInput QuotaController::input_of(const api::ClusterQueue& queue,
                                                         const api::AdmissionCheck& check) {
  placement::AutomatedQuotaInput input;
  input.spec = queue.spec;
  const auto config = dispatch::config_of(hub_.objects(), check.metadata.name);
  input.config_found = config != nullptr;
  input.requested = config && asks(*config);
  if (!input.requested) return input;
  const std::vector<api::ObjectKey> ways = ways_by_queue(hub_)[queue.metadata.name];
  for (const std::string& worker : config->spec.clusters) {
    add_worker(worker, ways, queue.metadata.name, &input);
  }
  return input;
}

Task<> QuotaController::work() {
  for (;;) {
    std::string name = co_await queue_.next();
    const Status done = co_await reconcile(name);
    if (queue_.finish(name, done)) {
      log_.warning("quota not set", {{"clusterQueue", name}, {"error", done.error().what()}});
    }
  }
}

Task<Status> QuotaController::reconcile(std::string name) {
  const auto stored = hub_.cluster_queues.get(api::ObjectKey(name));
  if (!stored || stored->metadata.deleting()) co_return ok();
  const auto check = config_.enabled ? jobs::multikueue_check(hub_.objects(), *stored) : nullptr;
  if (!check) co_return co_await write_condition(std::move(name), std::nullopt);
  auto decided = placement::automated_quota(input_of(*stored, *check));
  if (!decided) co_return ok();
  if (decided->groups) {
    const Status written = co_await write_quota(stored, std::move(*decided->groups));
    if (!written) co_return written;
  }
  api::Condition wanted;
  wanted.type = api::conditions::quota_automation;
  const bool automated = decided->reason == api::reasons::quota_automated;
  wanted.status = automated ? api::ConditionStatus::True : api::ConditionStatus::False;
  wanted.reason = std::move(decided->reason);
  wanted.message = std::move(decided->message);
  co_return co_await write_condition(std::move(name), std::move(wanted));
}

Task<Status> QuotaController::write_quota(std::shared_ptr<const api::ClusterQueue> stored,
                                          std::vector<api::ResourceGroup> groups) {
  api::ClusterQueue before = *stored;
  api::ClusterQueue after = before;
  std::string text = "Quota follows the worker clusters: " + placement::quota_text(groups);
  after.spec.resource_groups = std::move(groups);
  const Status written =
      co_await hub_.write_object(hub_.cluster_queues, std::move(before), std::move(after));
  if (!written) co_return written.error().within("setting the quota of " + stored->metadata.name);
  log_.info("quota follows the workers", {{"clusterQueue", stored->metadata.name}});
  hub_.events.event(kube::reference_to(*stored), kube::EventType::normal,
                    std::string(api::reasons::quota_automated), std::move(text));
  co_return ok();
}

Task<Status> QuotaController::write_condition(std::string name,
                                              std::optional<api::Condition> wanted) {
  const auto stored = hub_.cluster_queues.get(api::ObjectKey(name));
  if (!stored) co_return ok();
  api::ClusterQueue before = *stored;
  api::ClusterQueue after = before;
  api::Conditions& all = after.status.conditions;
  if (wanted) {
    wanted->observed_generation = before.metadata.generation;
    if (!api::set_condition(&all, std::move(*wanted), hub_.clock.now())) co_return ok();
  } else if (std::erase_if(all, [](const api::Condition& one) {
               return one.type == api::conditions::quota_automation;
             }) == 0) {
    co_return ok();
  }
  co_return co_await hub_.write_status(hub_.cluster_queues, std::move(before), std::move(after));
}

}  // namespace regatta::controllers
