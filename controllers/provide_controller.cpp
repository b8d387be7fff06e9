#include "controllers/provide_controller.h"

#include "dispatch/group.h"
#include "jobs/multikueue.h"
#include "lib/api/core.h"
#include "lib/api/names.h"
#include "lib/api/own_names.h"
#include "lib/base/contains.h"
#include "lib/base/joined.h"
#include "lib/base/json_access.h"
#include "lib/base/limited_text.h"
#include "lib/kube/events.h"
#include "lib/runtime/deadline.h"

#include <algorithm>

namespace regatta::controllers {
namespace {

/// Changes on the hub within this time are one look at a worker.
constexpr Duration together = std::chrono::seconds(1);
/// Users of the worker may have deleted something.
constexpr Duration next_look = std::chrono::minutes(5);
constexpr Duration next_try = std::chrono::minutes(1);
/// What a slow worker still lacks then is left to its next turn.
constexpr Duration turn_max = std::chrono::minutes(5);
/// So much is said of what is lacking; the rest is counted.
constexpr std::size_t told_max = 5;

std::string text_of(const std::vector<std::string>& obstacles) {
  const std::size_t told = std::min(obstacles.size(), told_max);
  const auto end = obstacles.begin() + static_cast<std::ptrdiff_t>(told);
  std::string text = joined(std::vector<std::string>(obstacles.begin(), end), "; ");
  if (obstacles.size() > told) {
    text += "; and " + std::to_string(obstacles.size() - told) + " more";
  }
  return limited_text(std::move(text), api::condition_message_max);
}

/// The value of a WorkloadPriorityClass.
std::int32_t value_of(const Json& item) {
  return static_cast<std::int32_t>(integer_at(item, "value").value_or(0));
}

/// An answer to this request, whatever becomes of others.
bool is_refusal(const Error& error) {
  return error.code() == Errc::denied || error.code() == Errc::invalid ||
         error.code() == Errc::not_found;
}

}  // namespace

ProvideController::ProvideController(clusters::LocalCluster& hub, clusters::Fleet& fleet,
                                     TaskScope& scope, std::string origin)
    : hub_(hub),
      fleet_(fleet),
      scope_(scope),
      origin_(std::move(origin)),
      log_(hub.log.named("provide")),
      queue_(hub.clock, scope, Backoff{Duration(200), std::chrono::minutes(2)}, Intake::closed) {
  hub_.multikueue_clusters.on_transition(
      [this](const api::ObjectKey& key, const auto& before, const auto& after) {
        const bool same =
            before && after && before->metadata.annotations == after->metadata.annotations;
        if (!same) queue_.add(key.name);
      });
  fleet_.on_connection([this](const std::string& name) { queue_.add(name); });
  hub_.local_queues.on_transition([this](const auto&, const auto& before, const auto& after) {
    const bool same = before && after && before->spec.cluster_queue == after->spec.cluster_queue;
    if (!same) enqueue_all();
  });
  hub_.cluster_queues.on_transition([this](const auto&, const auto& before, const auto& after) {
    const bool same = before && after && before->spec == after->spec;
    if (!same) enqueue_all();
  });
  hub_.namespaces.on_transition([this](const auto&, const auto& before, const auto& after) {
    if (!before || !after) enqueue_all();
  });
  hub_.workload_priority_classes.on_change([this](const api::ObjectKey&) { enqueue_all(); });
  hub_.checks.on_change([this](const api::ObjectKey&) { enqueue_all(); });
  hub_.selection.on_change([this] { enqueue_all(); });
}

void ProvideController::start() {
  queue_.open();
  for (const auto& cluster : hub_.multikueue_clusters.list()) queue_.add(cluster->metadata.name);
  scope_.spawn("provide", work());
}

void ProvideController::enqueue_all() {
  for (const auto& cluster : hub_.multikueue_clusters.list()) {
    if (placement::provision_of(cluster->metadata).any()) {
      queue_.add_after(cluster->metadata.name, together);
    }
  }
}

/// Each worker has its turn beside the others: one that takes its time delays none of them.
Task<> ProvideController::work() {
  for (;;) {
    std::string name = co_await queue_.next();
    scope_.spawn("provide", turn(std::move(name)));
  }
}

Task<> ProvideController::turn(std::string name) {
  const SteadyPoint deadline = hub_.clock.steady() + turn_max;
  const Status done = co_await with_deadline(hub_.clock, deadline, reconcile(name));
  if (queue_.finish(name, done)) {
    log_.warning("needs not provided", {{"cluster", name}, {"error", done.error().what()}});
  }
}

bool ProvideController::leads_to(const api::ClusterQueue& queue, const std::string& cluster) const {
  const auto check = jobs::multikueue_check(hub_.objects(), queue);
  const auto config = check ? dispatch::config_of(hub_.objects(), check->metadata.name) : nullptr;
  return config && contains(config->spec.clusters, cluster);
}

placement::HubNeeds ProvideController::needs_of(const std::string& cluster) const {
  placement::HubNeeds needs;
  std::map<std::string, bool> leading;
  for (const auto& one : hub_.local_queues.list()) {
    const std::string& name = one->spec.cluster_queue;
    const auto [known, fresh] = leading.try_emplace(name, false);
    if (fresh) {
      const auto queue = hub_.cluster_queues.get(api::ObjectKey(name));
      known->second = queue && leads_to(*queue, cluster);
    }
    if (!known->second || one->metadata.deleting()) continue;
    needs.local_queues.push_back(one);
    const auto space = hub_.namespaces.get(api::ObjectKey(one->metadata.ns));
    if (space && !space->metadata.deleting()) needs.namespaces[one->metadata.ns] = space;
  }
  needs.priority_classes = hub_.workload_priority_classes.list();
  return needs;
}

Task<Status> ProvideController::list(Remote worker, api::ResourceInfo resource, Visit visit) {
  const kube::OnItem each = [&](const Json& item, std::size_t) {
    const Json& metadata = at_or_null(item, "metadata");
    visit({text_at(metadata, "namespace"), text_at(metadata, "name")}, item);
  };
  kube::ListOptions options;
  const auto done = co_await worker->client.list_raw(resource, "", options, each);
  if (done) co_return ok();
  worker->note(done.error());
  co_return done.error().within("listing " + std::string(resource.plural) + " of " +
                                worker->name());
}

Task<Status> ProvideController::read(Remote worker, const placement::Provision& asked,
                                     placement::WorkerHas* has) {
  const Visit add_namespace = [has](const api::ObjectKey& key, const Json&) {
    has->namespaces.insert(key.name);
  };
  const Visit add_local_queue = [has](const api::ObjectKey& key, const Json&) {
    has->local_queues.insert(key);
  };
  const Visit add_cluster_queue = [has](const api::ObjectKey& key, const Json&) {
    has->cluster_queues.insert(key.name);
  };
  const Visit add_class = [has, this](const api::ObjectKey& key, const Json& item) {
    auto& one = has->priority_classes[key.name];
    one.value = value_of(item);
    one.uid = text_at(item, {"metadata", "uid"});
    one.ours = text_at(item, {"metadata", "labels", api::labels::multikueue_origin}) == origin_;
  };
  Status done = ok();
  if (asked.namespaces || asked.local_queues) {
    done = co_await list(worker, api::Namespace::resource, add_namespace);
  }
  if (done && asked.local_queues) {
    done = co_await list(worker, api::LocalQueue::resource, add_local_queue);
  }
  if (done && asked.local_queues) {
    done = co_await list(worker, api::ClusterQueue::resource, add_cluster_queue);
  }
  if (done && asked.priority_classes) {
    done = co_await list(worker, api::WorkloadPriorityClass::resource, add_class);
  }
  co_return done;
}

Task<Status> ProvideController::carry_out(std::string name, Remote worker,
                                          placement::ProvidePlan* plan) {
  std::vector<std::string> made;
  Status last = ok();
  for (placement::ProvideStep& step : plan->steps) {
    const auto* member = fleet_.find(name);
    if (!member || member->remote != worker) {
      co_return Error(Errc::unavailable, "it is connected anew, or no worker any more");
    }
    Result<std::string> written = Error(Errc::unavailable, "");
    if (step.patch) {
      written = co_await worker->client.patch_raw(*step.resource, step.key, kube::PatchType::merge,
                                                  dump_json(step.body));
    } else {
      written =
          co_await worker->client.create_raw(*step.resource, step.key.ns, dump_json(step.body));
    }
    if (written) {
      made.push_back(step.str());
      log_.info(step.patch ? "changed" : "created", {{"cluster", name}, {"object", step.str()}});
      continue;
    }
    // Another client was faster; the next look shows what it made.
    if (written.error().code() == Errc::already_exists) continue;
    worker->note(written.error());
    if (!is_refusal(written.error())) {
      last = written.error().within("providing " + step.str());
      break;
    }
    plan->obstacles.push_back(step.str() + " is refused: " + written.error().what());
  }
  const auto cluster = hub_.multikueue_clusters.get(api::ObjectKey(name));
  if (!made.empty() && cluster) {
    hub_.events.event(kube::reference_to(*cluster), kube::EventType::normal, "Provided",
                      "On the worker: " + text_of(made));
  }
  co_return last;
}

Task<Status> ProvideController::reconcile(std::string name) {
  const auto cluster = hub_.multikueue_clusters.get(api::ObjectKey(name));
  if (!cluster || cluster->metadata.deleting()) co_return ok();
  const placement::Provision asked = placement::provision_of(cluster->metadata);
  if (!asked.any() && asked.unknown.empty()) {
    if (fleet_.told(name, api::conditions::needs_lacking))
      fleet_.tell(name, api::conditions::needs_lacking, std::nullopt);
    co_return ok();
  }
  const auto* member = fleet_.find(name);
  if (!member || !member->ready()) co_return ok();
  const Remote worker = member->remote;
  placement::WorkerHas has;
  placement::ProvidePlan plan;
  Status done = co_await read(worker, asked, &has);
  if (done) {
    plan = placement::provide_plan(asked, needs_of(name), has, origin_);
    done = co_await carry_out(name, worker, &plan);
  } else if (is_refusal(done.error())) {
    plan.obstacles.push_back(done.error().what());
    done = ok();
  }
  if (!done) co_return done;
  const bool lacks = !plan.obstacles.empty();
  std::optional<clusters::Notice> notice;
  if (lacks) notice = {std::string(api::reasons::not_provided), text_of(plan.obstacles)};
  if (lacks || fleet_.told(name, api::conditions::needs_lacking)) {
    fleet_.tell(name, api::conditions::needs_lacking, std::move(notice));
  }
  queue_.add_after(name, lacks ? next_try : next_look);
  co_return ok();
}

}  // namespace regatta::controllers
