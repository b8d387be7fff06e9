#include "controllers/provisioning_check_controller.h"

#include "controllers/named_informer.h"
#include "lib/api/codec.h"
#include "lib/api/names.h"
#include "lib/api/owner_reference.h"
#include "lib/base/limited_text.h"
#include "lifecycle/lifecycle.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::controllers {
namespace {

/// Index of requests: uid of the workload that owns the request.
constexpr const char* by_workload = "workload";

constexpr Backoff creation_pauses{Duration(50), std::chrono::seconds(60)};

kube::InformerOptions managed_only() {
  kube::InformerOptions options;
  options.label_selector = std::string(api::labels::managed) + "=true";
  return options;
}

}  // namespace

ProvisioningCheckController::ProvisioningCheckController(clusters::LocalCluster& local,
                                                         kube::InformerDeps deps, TaskScope& scope,
                                                         ProvisioningCheckConfig config)
    : local_(local),
      scope_(scope),
      client_(deps.client),
      config_(config),
      log_(local.log.named("provisioning")),
      configs_(named(deps, "informer.provisioningrequestconfigs")),
      requests_(named(deps, "informer.provisioningrequests"), managed_only()),
      templates_(named(deps, "informer.podtemplates"), managed_only()),
      checks_(local.clock, scope, Backoff{Duration(50), std::chrono::seconds(30)}),
      workloads_(local.clock, scope, creation_pauses),
      wake_(scope.executor()) {
  watch();
}

void ProvisioningCheckController::watch() {
  requests_.add_index(by_workload, [](const api::ProvisioningRequest& request) {
    std::vector<std::string> uids;
    if (const auto* owner = request.metadata.controller()) uids.push_back(owner->uid);
    return uids;
  });
  requests_.on_transition([this](const auto& key, const auto& before, const auto& after) {
    const auto* owner = (after ? after : before)->metadata.controller();
    if (owner) workloads_.add(api::ObjectKey(key.ns, owner->name));
  });
  local_.checks.on_transition([this](const auto& key, const auto& before, const auto& after) {
    const bool was = ours_.contains(key.name);
    const bool is = after && after->spec.controller_name == api::provisioning_controller_name;
    if (!was && !is) return;
    if (is) ours_.insert(key.name);
    if (!is) ours_.erase(key.name);
    wake_.notify_all();
    checks_.add(key.name);
    if (!before || !after || before->spec != after->spec) concerns_all();
  });
  configs_.on_change([this](const api::ObjectKey&) {
    for (const std::string& name : ours_) checks_.add(name);
    concerns_all();
  });
  local_.workloads.on_change([this](const api::ObjectKey& key) {
    if (ready_) concerns(key);
  });
}

void ProvisioningCheckController::concerns(const api::ObjectKey& key) {
  const auto workload = local_.workloads.get(key);
  if (!workload) return;
  const auto& states = workload->status.admission_checks;
  const bool checked = std::any_of(states.begin(), states.end(),
                                   [&](const auto& state) { return ours_.contains(state.name); });
  if (checked || !requests_.keys_by_index(by_workload, workload->metadata.uid).empty()) {
    workloads_.add(key);
  }
}

void ProvisioningCheckController::concerns_all() {
  if (!ready_) return;
  for (const auto& workload : local_.workloads.list()) concerns(workload->metadata.key());
}

void ProvisioningCheckController::start() {
  scope_.spawn("provisioning", run());
}

Task<> ProvisioningCheckController::run() {
  while (ours_.empty()) co_await wake_.wait();
  scope_.spawn("informer provisioningrequestconfigs", configs_.run());
  co_await configs_.wait_synced();
  scope_.spawn("provisioning checks", work_on_checks());
  const Backoff backoff{std::chrono::seconds(1), std::chrono::minutes(2)};
  for (int attempt = 1; !co_await served(); ++attempt) {
    co_await local_.clock.sleep_for(backoff.after(attempt));
  }
  scope_.spawn("informer provisioningrequests", requests_.run());
  scope_.spawn("informer podtemplates", templates_.run());
  co_await requests_.wait_synced();
  co_await templates_.wait_synced();
  served_ = ready_ = true;
  for (const std::string& name : ours_) checks_.add(name);
  concerns_all();
  for (int i = 0; i < config_.workers; ++i) scope_.spawn("provisioning", work_on_workloads());
}

Task<bool> ProvisioningCheckController::served() {
  const auto listed = co_await client_.get_path("/apis/autoscaling.x-k8s.io/v1");
  if (!listed) co_return false;
  const Result<Json> list = parse_json(*listed);
  if (!list || !list->is_object()) co_return false;
  const Json resources = list->value("resources", Json::array());
  co_return std::any_of(resources.begin(), resources.end(), [](const Json& resource) {
    return resource.is_object() && resource.contains("name") &&
           resource["name"] == api::ProvisioningRequest::resource.plural;
  });
}

Task<> ProvisioningCheckController::work_on_checks() {
  for (;;) {
    std::string name = co_await checks_.next();
    const Status done = co_await reconcile_check(name);
    if (checks_.finish(name, done)) {
      log_.warning("check not reconciled", {{"check", name}, {"error", done.error().what()}});
    }
  }
}

Task<Status> ProvisioningCheckController::reconcile_check(std::string name) {
  const auto stored = local_.checks.get(api::ObjectKey(name));
  if (!stored || !ours_.contains(name)) co_return ok();
  api::AdmissionCheck before = *stored;
  api::AdmissionCheck after = before;
  const bool found = check_of(name).config != nullptr;
  const api::Condition wanted = lifecycle::provisioning_check_condition(before, served_, found);
  if (!api::set_condition(&after.status.conditions, wanted, local_.clock.now())) co_return ok();
  co_return co_await local_.write_status(local_.checks, std::move(before), std::move(after));
}

lifecycle::ProvisioningCheck ProvisioningCheckController::check_of(const std::string& name) const {
  lifecycle::ProvisioningCheck check{name};
  const auto found = local_.checks.get(api::ObjectKey(name));
  if (!found) return check;
  const Result<std::string> config = lifecycle::provisioning_config_name(found->spec);
  if (!config) return check;
  check.config = configs_.get(api::ObjectKey(*config));
  check.config_unreadable = configs_.unreadable(api::ObjectKey(*config));
  return check;
}

lifecycle::ProvisioningView ProvisioningCheckController::view(
    std::shared_ptr<const api::Workload> workload) const {
  lifecycle::ProvisioningView view;
  view.cleanup_on_eviction = config_.cleanup_on_eviction;
  for (const api::AdmissionCheckState& state : workload->status.admission_checks) {
    if (ours_.contains(state.name)) view.checks.push_back(check_of(state.name));
  }
  view.requests = requests_.by_index(by_workload, workload->metadata.uid);
  view.workload = std::move(workload);
  return view;
}

Task<> ProvisioningCheckController::work_on_workloads() {
  for (;;) {
    api::ObjectKey key = co_await workloads_.next();
    const Status done = co_await reconcile(key);
    if (workloads_.finish(key, done)) {
      log_.warning("provisioning not reconciled",
                   {{"workload", key.str()}, {"error", done.error().what()}});
    }
  }
}

Task<Status> ProvisioningCheckController::reconcile(api::ObjectKey key) {
  const auto stored = local_.workloads.get(key);
  if (!stored) {
    pauses_.erase(key);
    co_return ok();
  }
  const auto plan = lifecycle::plan_provisioning(view(stored), local_.clock.now());
  if (!plan) co_return plan.error();
  if (!plan->states.empty()) {
    const Status written = co_await write_states(key);
    if (!written) co_return written;
  }
  for (const lifecycle::RequestPtr& request : plan->remove) {
    kube::DeleteOptions options;
    options.uid = request->metadata.uid;
    const api::ObjectKey name = request->metadata.key();
    const Status removed =
        co_await client_.remove(api::ProvisioningRequest::resource, name, std::move(options));
    if (!removed && removed.error().code() != Errc::not_found) co_return removed;
  }
  const Status created = co_await create_all(stored, plan->create);
  if (!created) co_return created;
  for (const lifecycle::RequestPtr& request : plan->current) {
    const Status owned = co_await hand_over(request);
    if (!owned) co_return owned;
  }
  co_return ok();
}

Task<Status> ProvisioningCheckController::write_states(api::ObjectKey key) {
  std::vector<std::string> notes;
  Status failed = ok();
  const auto wanted = [&](const api::Workload& workload) -> std::optional<api::WorkloadStatus> {
    auto plan = lifecycle::plan_provisioning(view(std::make_shared<const api::Workload>(workload)),
                                             local_.clock.now());
    if (!plan) {
      failed = plan.error();
      return {};
    }
    notes = std::move(plan->notes);
    return lifecycle::with_states(workload.status, plan->states);
  };
  const Status written = co_await local_.update_status(key, wanted);
  if (!written && written.error().code() != Errc::not_found) co_return written;
  if (!failed) co_return failed;
  const auto stored = local_.workloads.get(key);
  for (std::string& text : notes) {
    if (stored) {
      note(*stored, false, std::string(api::events::admission_check_updated), std::move(text));
    }
  }
  co_return ok();
}

/// What is told of a failure changes the workload, and must not bring the next attempt forward.
Task<Status> ProvisioningCheckController::create_all(std::shared_ptr<const api::Workload> workload,
                                                     std::vector<lifecycle::WantedRequest> wanted) {
  const api::ObjectKey key = workload->metadata.key();
  const auto paused = pauses_.find(key);
  const SteadyPoint now = local_.clock.steady();
  if (!wanted.empty() && paused != pauses_.end() && now < paused->second.until) {
    workloads_.add_after(key, paused->second.until - now);
    co_return ok();
  }
  for (lifecycle::WantedRequest& one : wanted) {
    const Status created = co_await create(workload, std::move(one));
    if (created) continue;
    Pause& pause = pauses_[key];
    pause.until = local_.clock.steady() + creation_pauses.after(++pause.times);
    co_return created;
  }
  pauses_.erase(key);
  co_return ok();
}

Task<Status> ProvisioningCheckController::create(std::shared_ptr<const api::Workload> workload,
                                                 lifecycle::WantedRequest wanted) {
  for (const lifecycle::ProvisionedPods& pods : wanted.pods) {
    const Status made = co_await create_template(workload, pods);
    if (made) continue;
    std::string message = std::string(lifecycle::creation_failed) + "PodTemplate \"" +
                          pods.template_name + "\": " + made.error().what();
    co_await report(workload, wanted.check, std::move(message));
    co_return made;
  }
  const std::string name = wanted.request.metadata.name;
  auto created = co_await client_.create(std::move(wanted.request));
  if (!created) {
    // The request of that name is being removed, or the watch has not shown it yet. Neither is
    // reported.
    const Status failed = created.error();
    if (failed.error().code() == Errc::already_exists) co_return failed;
    std::string message = std::string(lifecycle::creation_failed) + "ProvisioningRequest \"" +
                          name + "\": " + failed.error().what();
    co_await report(workload, wanted.check, std::move(message));
    co_return failed;
  }
  note(*workload, false, "ProvisioningRequestCreated",
       "Created ProvisioningRequest: \"" + name + "\"");
  const lifecycle::RequestPtr request = std::make_shared<const api::ProvisioningRequest>(*created);
  requests_.observe(std::move(*created));
  co_return co_await hand_over(request);
}

Task<Status> ProvisioningCheckController::create_template(
    std::shared_ptr<const api::Workload> workload, const lifecycle::ProvisionedPods& pods) {
  const api::ObjectKey key(workload->metadata.ns, pods.template_name);
  if (templates_.get(key)) co_return ok();
  std::vector<std::shared_ptr<const api::ResourceFlavor>> held;
  const jobs::FlavorLookup flavor = [&](const std::string& name) {
    held.push_back(local_.flavors.get(api::ObjectKey(name)));
    return held.back().get();
  };
  const Result<Json> body = lifecycle::provisioning_pod_template(*workload, pods, flavor);
  if (!body) co_return body.error();
  auto created =
      co_await client_.create_raw(api::StoredPodTemplate::resource, key.ns, dump_json(*body));
  if (!created) {
    if (created.error().code() == Errc::already_exists) co_return ok();
    co_return created.error();
  }
  auto stored = api::decode<api::StoredPodTemplate>(*created);
  if (stored) templates_.observe(std::move(*stored));
  co_return ok();
}

/// The check's message, too, says what could not be created.
Task<Status> ProvisioningCheckController::report(std::shared_ptr<const api::Workload> workload,
                                                 std::string check, std::string message) {
  note(*workload, true, "FailedCreate", message);
  message = limited_text(std::move(message), api::condition_message_max);
  const auto wanted = [&](const api::Workload& current) {
    api::WorkloadStatus status = current.status;
    if (auto* state = api::find_check(&status, check)) state->message = message;
    return status;
  };
  co_return co_await local_.update_status(workload, wanted);
}

/// The request becomes the owner of its templates, so that they are deleted with it.
Task<Status> ProvisioningCheckController::hand_over(lifecycle::RequestPtr request) {
  for (const api::ProvisioningRequestPodSet& pods : request->spec.pod_sets) {
    const auto stored = templates_.get(api::ObjectKey(request->metadata.ns, pods.pod_template));
    if (!stored) continue;
    const auto* owner = stored->metadata.controller();
    if (owner != nullptr && owner->uid == request->metadata.uid) continue;
    api::StoredPodTemplate before = *stored;
    api::StoredPodTemplate after = before;
    auto& owners = after.metadata.owner_references;
    std::erase_if(owners, [](const auto& one) { return one.controller.value_or(false); });
    owners.push_back(
        api::controller_reference(api::ProvisioningRequest::resource, request->metadata));
    auto written = co_await client_.patch_metadata(std::move(before), std::move(after));
    if (!written) {
      if (written.error().code() == Errc::not_found) continue;
      co_return written.error();
    }
    templates_.observe(std::move(*written));
  }
  co_return ok();
}

void ProvisioningCheckController::note(const api::Workload& workload, bool warning,
                                       std::string reason, std::string text) {
  local_.events.event(kube::reference_to(workload),
                      warning ? kube::EventType::warning : kube::EventType::normal,
                      std::move(reason), std::move(text));
}

}  // namespace regatta::controllers
