#include "controllers/managed_cluster_controller.h"

#include "controllers/named_informer.h"
#include "lib/api/names.h"
#include "lib/api/own_names.h"
#include "lib/base/contains.h"
#include "lib/base/limited_text.h"
#include "lib/kube/events.h"
#include "lifecycle/lifecycle.h"

namespace regatta::controllers {
namespace {

namespace ocm = api::managed_clusters;
using placement::ManagedClusterStep;

/// What lasts for less is on its way.
constexpr Duration told_after = std::chrono::seconds(30);
/// Whether workloads are still there, whether a token has ended: that shows in no event.
constexpr Duration next_managed_look = std::chrono::minutes(1);
constexpr Duration next_leaving_look = std::chrono::seconds(10);
constexpr Duration absent_retry = std::chrono::minutes(2);

/// Only objects of that name: the manager may read no others.
kube::InformerOptions only_named(const std::string& name) {
  kube::InformerOptions options;
  options.field_selector = "metadata.name=" + name;
  options.absent_retry = absent_retry;
  return options;
}

kube::InformerOptions all_clusters() {
  kube::InformerOptions options;
  options.absent_retry = absent_retry;
  return options;
}

kube::InformerOptions tokens_of(const std::string& account) {
  kube::InformerOptions options = only_named(account);
  options.label_selector = std::string(ocm::token_label) + "=true";
  return options;
}

const std::string& made_for(const api::ObjectMeta& metadata) {
  return metadata.label(std::string(ocm::made_for_label));
}

/// An answer to this request: the next attempt will have the same.
bool is_final(const Error& error) {
  return error.code() == Errc::denied || error.code() == Errc::invalid ||
         error.code() == Errc::not_found;
}

}  // namespace

ManagedClusterController::ManagedClusterController(ManagedClusterDeps deps,
                                                   placement::ManagedClusterRules rules)
    : hub_(std::move(deps)),
      rules_(std::move(rules)),
      clock_(hub_.informers.clock),
      log_(hub_.informers.log.named("managedclusters")),
      client_(hub_.informers.client),
      managed_clusters_(named(hub_.informers, "informer.managedclusters"), all_clusters()),
      accounts_(named(hub_.informers, "informer.managedserviceaccounts"),
                only_named(rules_.account)),
      permissions_(named(hub_.informers, "informer.clusterpermissions"),
                   only_named(rules_.account)),
      tokens_(named(hub_.informers, "informer.tokens"), tokens_of(rules_.account)),
      queue_(clock_, hub_.scope, Backoff{Duration(200), std::chrono::minutes(1)}, Intake::closed) {
  if (rules_.connection == placement::Connection::cluster_profile) {
    kube::InformerOptions options = all_clusters();
    options.ns = rules_.system_namespace;
    profiles_ = std::make_unique<kube::Informer<api::ClusterProfile>>(
        named(hub_.informers, "informer.managedclusterprofiles"), std::move(options));
  }
  if (rules_.connection == placement::Connection::proxy) {
    kube::InformerOptions options = only_named(rules_.proxy_ca_config_map);
    options.ns = rules_.system_namespace;
    authority_ = std::make_unique<kube::Informer<api::ConfigMap>>(
        named(hub_.informers, "informer.proxyauthority"), std::move(options));
  }
  watch_hub();
  watch_clusters();
}

void ManagedClusterController::watch_hub() {
  // What it was made for before, and is now.
  const auto both = [this](const auto&, const auto& before, const auto& after) {
    for (const auto& object : {before, after}) {
      if (object && !made_for(object->metadata).empty()) queue_.add(made_for(object->metadata));
    }
  };
  hub_.secrets.on_transition(both);
  hub_.secrets.on_transition([this](const auto& key, const auto& before, const auto& after) {
    // One of others may be in the way, or be the copy of a token.
    if (before && after && before->metadata.labels == after->metadata.labels) return;
    for (const auto& cluster : managed_clusters_.list()) {
      const std::string& name = cluster->metadata.name;
      const bool concerns = key.name == placement::kubeconfig_secret_of(name) ||
                            key.name == name + "-" + rules_.account;
      if (concerns) queue_.add(name);
    }
  });
  hub_.multikueue_clusters.on_transition(
      [this, both](const auto& key, const auto& before, const auto& after) {
        const bool same = before && after && before->spec == after->spec &&
                          before->metadata.labels == after->metadata.labels &&
                          before->metadata.annotations == after->metadata.annotations;
        if (same) return;
        both(key, before, after);
        queue_.add(key.name);
        for (const auto& object : {before, after}) {
          if (!object) continue;
          std::string other =
              object->metadata.annotation(std::string(api::annotations::managed_cluster));
          if (!other.empty()) queue_.add(std::move(other));
        }
      });
}

void ManagedClusterController::watch_clusters() {
  managed_clusters_.on_change([this](const api::ObjectKey& key) { queue_.add(key.name); });
  const auto by_namespace = [this](const api::ObjectKey& key) { queue_.add(key.ns); };
  accounts_.on_change(by_namespace);
  permissions_.on_change(by_namespace);
  tokens_.on_change(by_namespace);
  if (profiles_) {
    profiles_->on_change([this](const api::ObjectKey& key) { queue_.add(key.name); });
  }
  if (authority_) authority_->on_change([this](const api::ObjectKey&) { enqueue_all(); });
}

void ManagedClusterController::start() {
  hub_.scope.spawn("managedclusters", run());
}

Task<> ManagedClusterController::run() {
  hub_.scope.spawn("informer managedclusters", managed_clusters_.run());
  hub_.scope.spawn("informer managedserviceaccounts", accounts_.run());
  hub_.scope.spawn("informer clusterpermissions", permissions_.run());
  hub_.scope.spawn("informer tokens", tokens_.run());
  if (profiles_) hub_.scope.spawn("informer managedclusterprofiles", profiles_->run());
  if (authority_) hub_.scope.spawn("informer proxyauthority", authority_->run());
  co_await managed_clusters_.wait_synced();
  co_await accounts_.wait_synced();
  co_await permissions_.wait_synced();
  co_await tokens_.wait_synced();
  if (profiles_) co_await profiles_->wait_synced();
  if (authority_) co_await authority_->wait_synced();
  queue_.open();
  enqueue_all();
  co_await work();
}

void ManagedClusterController::enqueue_all() {
  const auto add = [this](const api::ObjectMeta& metadata) {
    if (!made_for(metadata).empty()) queue_.add(made_for(metadata));
  };
  for (const auto& cluster : managed_clusters_.list()) queue_.add(cluster->metadata.name);
  for (const auto& member : hub_.multikueue_clusters.list()) add(member->metadata);
  for (const auto& secret : hub_.secrets.list()) add(secret->metadata);
  for (const auto& account : accounts_.list()) add(account->metadata);
  for (const auto& permission : permissions_.list()) add(permission->metadata);
}

Task<> ManagedClusterController::work() {
  for (;;) {
    std::string name = co_await queue_.next();
    const Status done = co_await reconcile(name);
    if (queue_.finish(name, done)) {
      log_.warning("worker not kept", {{"cluster", name}, {"error", done.error().what()}});
    }
  }
}

std::string ManagedClusterController::other_member_of(const std::string& name) const {
  for (const auto& member : hub_.multikueue_clusters.list()) {
    const api::ObjectMeta& metadata = member->metadata;
    const bool leads = metadata.annotation(std::string(api::annotations::managed_cluster)) == name;
    if (leads && metadata.name != name) return metadata.name;
  }
  return {};
}

/// Unfinished ones that run there, and while it is connected also those that it may admit.
std::size_t ManagedClusterController::workloads_at(const std::string& name) const {
  const bool connected = hub_.is_connected(name);
  std::size_t count = 0;
  for (const auto& workload : hub_.workloads.list()) {
    if (lifecycle::is_finished(*workload)) continue;
    const api::WorkloadStatus& status = workload->status;
    const bool there = status.cluster_name == name;
    const bool may_come = connected && contains(status.nominated_cluster_names, name);
    if (there || may_come) ++count;
  }
  return count;
}

placement::ManagedClusterView ManagedClusterController::view_of(const std::string& name) const {
  placement::ManagedClusterView view;
  const api::ObjectKey account(name, rules_.account);
  view.name = name;
  view.hub_uid = hub_.hub_uid();
  view.cluster = managed_clusters_.get(api::ObjectKey(name));
  view.gone = !view.cluster && !managed_clusters_.unreadable(api::ObjectKey(name)) &&
              managed_clusters_.absence(api::ObjectKey(name)) != kube::Absence::unseen;
  view.accounts_served = accounts_.health().served;
  view.permissions_served = permissions_.health().served;
  view.account = accounts_.get(account);
  view.permission = permissions_.get(account);
  view.token = tokens_.get(account);
  const api::ObjectKey copy(rules_.system_namespace, name + "-" + rules_.account);
  view.profile_token = hub_.secrets.get(copy) != nullptr;
  if (profiles_) view.profile = profiles_->get({rules_.system_namespace, name});
  const auto authority =
      authority_ ? authority_->get({rules_.system_namespace, rules_.proxy_ca_config_map}) : nullptr;
  if (authority && authority->data.contains("ca.crt")) view.proxy_ca = authority->data.at("ca.crt");
  view.kubeconfig =
      hub_.secrets.get({rules_.system_namespace, placement::kubeconfig_secret_of(name)});
  view.member = hub_.multikueue_clusters.get(api::ObjectKey(name));
  view.other_member = other_member_of(name);
  const bool leaves = !view.cluster || view.cluster->metadata.deleting();
  if (leaves) view.workloads = workloads_at(name);
  return view;
}

/// Reads the ManagedCluster, and tells the cache. A hub that serves none says nothing about it.
Task<Status> ManagedClusterController::confirm(std::string name) {
  const api::ObjectKey key(name);
  const bool served = managed_clusters_.health().served;
  if (!served || managed_clusters_.unreadable(key)) co_return ok();
  const auto before = managed_clusters_.get(key);
  auto read = co_await client_.get<api::ManagedCluster>(key);
  if (read) {
    managed_clusters_.observe(std::move(*read));
    co_return ok();
  }
  if (read.error().code() != Errc::not_found) co_return read.error();
  managed_clusters_.observe_absent(key, before);
  co_return ok();
}

Task<Result<std::string>> ManagedClusterController::write(const ManagedClusterStep* step) {
  using Verb = ManagedClusterStep::Verb;
  if (step->verb == Verb::create) {
    co_return co_await client_.create_raw(*step->resource, step->key.ns, dump_json(step->body));
  }
  if (step->verb == Verb::patch) {
    co_return co_await client_.patch_raw(*step->resource, step->key, kube::PatchType::merge,
                                         dump_json(step->body));
  }
  kube::DeleteOptions options;
  options.uid = step->uid;
  options.resource_version = step->resource_version;
  const Status removed = co_await client_.remove(*step->resource, step->key, std::move(options));
  if (removed) co_return std::string();
  co_return removed.error();
}

Task<Status> ManagedClusterController::carry_out(std::string name,
                                                 placement::ManagedClusterPlan* plan) {
  using Verb = ManagedClusterStep::Verb;
  for (const ManagedClusterStep& step : plan->steps) {
    const Result<std::string> written = co_await write(&step);
    if (written) {
      log_.info("managed cluster", {{"cluster", name}, {"done", step.str()}});
      continue;
    }
    const Error& error = written.error();
    // The caches will show what another one was faster with.
    const bool done = (step.verb == Verb::create && error.code() == Errc::already_exists) ||
                      (step.verb == Verb::remove && error.code() == Errc::not_found);
    if (done) continue;
    const Error told = error.within(step.str());
    if (!is_final(error)) co_return told;
    plan->lack = {"RequestRefused",
                  std::string(told.what()) + "; see the permissions of the manager"};
    break;
  }
  co_return ok();
}

Task<Status> ManagedClusterController::reconcile(std::string name) {
  placement::ManagedClusterPlan plan =
      placement::managed_cluster_plan(view_of(name), rules_, clock_.now());
  if (plan.confirm) {
    const Status confirmed = co_await confirm(name);
    if (!confirmed) co_return confirmed;
    // At once: that it is gone is remembered of so many clusters only.
    plan = placement::managed_cluster_plan(view_of(name), rules_, clock_.now());
    if (plan.confirm) co_return ok();
  }
  const Status done = co_await carry_out(name, &plan);
  if (!done) co_return done;
  const Status told = co_await tell(name, &plan);
  if (!told) co_return told;
  if (plan.lack) {
    const bool leaves = plan.lack->reason == "WorkloadsRemain";
    queue_.add_after(name, leaves ? next_leaving_look : next_managed_look);
  } else if (const auto account = accounts_.get({name, rules_.account});
             account && account->expires) {
    // A token that ends without being renewed is told.
    queue_.add_after(name, std::max<Duration>(next_managed_look, *account->expires - clock_.now()));
  }
  co_return ok();
}

Task<Status> ManagedClusterController::tell(std::string name,
                                            const placement::ManagedClusterPlan* plan) {
  std::optional<clusters::Notice> notice;
  if (plan->told_by_member && plan->lack) {
    notice = {plan->lack->reason, limited_text(plan->lack->message, api::condition_message_max)};
  }
  if (notice || hub_.is_told(name)) {
    const Status done = co_await hub_.tell(name, std::move(notice));
    if (!done) co_return done;
  }
  if (plan->lack && !plan->told_by_member) {
    tell_by_event(name, *plan->lack);
  } else {
    told_.erase(name);
  }
  co_return ok();
}

void ManagedClusterController::tell_by_event(const std::string& name,
                                             const placement::ManagedClusterLack& lack) {
  const auto cluster = managed_clusters_.get(api::ObjectKey(name));
  if (!cluster) return;
  const SteadyPoint now = clock_.steady();
  Told& told = told_[name];
  if (told.lack != lack) told = {lack, now, false};
  if (told.said) return;
  const Duration left = told.since + told_after - now;
  if (left > Duration(0)) return queue_.add_after(name, left);
  told.said = true;
  hub_.events.event(kube::reference_to(*cluster), kube::EventType::warning, lack.reason,
                    limited_text(lack.message, kube::EventRecorder::message_bytes_max));
  log_.warning("no worker", {{"cluster", name}, {"text", lack.message}});
}

}  // namespace regatta::controllers
