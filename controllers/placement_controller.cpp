#include "controllers/placement_controller.h"

#include "controllers/named_informer.h"
#include "lib/api/names.h"
#include "lib/api/own_names.h"
#include "lib/base/json_access.h"
#include "lib/base/limited_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::controllers {
namespace {

/// Index of decisions: "namespace/name" of the Placement or key.
constexpr const char* by_reference = "reference";
/// OCM's add-on keeps the condition of checks that have this finalizer.
constexpr std::string_view add_on_finalizer =
    "kueue-addon.open-cluster-management.io/admissioncheck-cleanup";

bool is_active(const api::MultiKueueCluster& cluster) {
  return api::is_true(cluster.status.conditions, api::conditions::active);
}

bool same_member(const api::MultiKueueCluster& a, const api::MultiKueueCluster& b) {
  return is_active(a) == is_active(b) && a.spec == b.spec &&
         a.metadata.annotations == b.metadata.annotations;
}

}  // namespace

PlacementController::PlacementController(PlacementDeps deps, PlacementConfig config)
    : deps_(std::move(deps)),
      config_(config),
      clock_(deps_.informers.clock),
      client_(deps_.informers.client),
      placements_(named(deps_.informers, "informer.placements")),
      decisions_(named(deps_.informers, "informer.placementdecisions")),
      profile_decisions_(named(deps_.informers, "informer.profileplacementdecisions")),
      ledger_(config.ledger),
      checks_(clock_, deps_.scope, Backoff{Duration(50), std::chrono::seconds(30)}),
      workloads_(clock_, deps_.scope, Backoff{Duration(50), std::chrono::seconds(60)}),
      wake_(deps_.scope.executor()),
      waiting_(deps_.scope.executor()) {
  watch();
  watch_decisions();
}

void PlacementController::watch() {
  deps_.checks.on_transition([this](const auto& key, const auto& before, const auto& after) {
    const bool was = ours_.contains(key.name);
    const bool is = after && after->spec.controller_name == api::placement_controller_name;
    if (!was && !is) return;
    if (is) ours_.insert(key.name);
    if (!is) ours_.erase(key.name);
    wake_.notify_all();
    if (!started_) return;
    checks_.add(key.name);
    if (!before || !after || before->spec != after->spec) concerns_all();
  });
  deps_.workloads.on_transition([this](const auto& key, const auto&, const auto& after) {
    if (!started_) return;
    if (!after) told_.erase(key);
    if (after && waits(*after)) return workloads_.add(key);
    let_go(key);
  });
  deps_.multikueue_clusters.on_transition(
      [this](const auto&, const auto& before, const auto& after) {
        if (!before || !after || !same_member(*before, *after)) concerns_all();
      });
  deps_.selection.on_change([this] { concerns_all(); });
  const auto annotated = [this](const auto&, const auto& before, const auto& after) {
    if (before && after && before->metadata.annotations != after->metadata.annotations) {
      concerns_all();
    }
  };
  deps_.local_queues.on_transition(annotated);
  deps_.cluster_queues.on_transition(annotated);
}

void PlacementController::watch_decisions() {
  const auto label = [](const api::ObjectMeta& metadata, std::string_view name) {
    const auto found = metadata.labels.find(std::string(name));
    return found == metadata.labels.end() ? std::string() : metadata.ns + "/" + found->second;
  };
  decisions_.add_index(by_reference, [label](const api::PlacementDecision& decision) {
    return std::vector{label(decision.metadata, api::placements::placement_label)};
  });
  profile_decisions_.add_index(by_reference, [label](const auto& decision) {
    return std::vector{label(decision.metadata, api::placements::decision_key_label),
                       label(decision.metadata, api::placements::placement_key_label)};
  });
  placements_.on_change([this](const api::ObjectKey&) { decisions_changed(); });
  placements_.on_health([this] { decisions_changed(); });
  decisions_.on_transition([this](const auto&, const auto&, const auto& after) {
    decisions_changed();
    if (after) remember(*after);
  });
  decisions_.on_health([this] { decisions_changed(); });
  profile_decisions_.on_change([this](const api::ObjectKey&) { decisions_changed(); });
  profile_decisions_.on_health([this] { decisions_changed(); });
}

/// What counts when the decision is gone, even if no workload asks before.
void PlacementController::remember(const api::PlacementDecision& decision) {
  const auto& labels = decision.metadata.labels;
  const auto name = labels.find(std::string(api::placements::placement_label));
  if (name != labels.end()) (void)verdict_of({false, decision.metadata.ns, name->second});
}

void PlacementController::decisions_changed() {
  verdicts_.clear();
  for (const std::string& name : ours_) checks_.add(name);
  concerns_all();
}

void PlacementController::concerns_all() {
  if (!started_) return;
  for (const auto& workload : deps_.workloads.list()) {
    if (waits(*workload)) workloads_.add(workload->metadata.key());
  }
}

void PlacementController::start() {
  deps_.scope.spawn("placement", run());
}

Task<> PlacementController::run() {
  while (!config_.every_workload && ours_.empty()) co_await wake_.wait();
  started_ = true;
  deps_.scope.spawn("placement room", make_room());
  deps_.scope.spawn("placement checks", work_on_checks());
  for (int i = 0; i < config_.workers; ++i) deps_.scope.spawn("placement", work_on_workloads());
  deps_.scope.spawn("placements", follow_placements());
  // Only annotations name keys, and they count for every workload.
  deps_.scope.spawn("placement keys", follow_keys());
  decisions_changed();
}

Task<> PlacementController::follow_placements() {
  co_await until_served("/apis/cluster.open-cluster-management.io/v1beta1", &placements_served_);
  deps_.scope.spawn("informer placements", placements_.run());
  deps_.scope.spawn("informer placementdecisions", decisions_.run());
  co_await placements_.wait_synced();
  co_await decisions_.wait_synced();
  decisions_changed();
  for (const auto& decision : decisions_.list()) remember(*decision);
}

Task<> PlacementController::follow_keys() {
  co_await until_served("/apis/multicluster.x-k8s.io/v1alpha1", &keys_served_);
  deps_.scope.spawn("informer profileplacementdecisions", profile_decisions_.run());
  co_await profile_decisions_.wait_synced();
  decisions_changed();
}

Task<> PlacementController::until_served(std::string path, std::optional<bool>* served) {
  const Backoff backoff{std::chrono::seconds(1), std::chrono::minutes(2)};
  for (int attempt = 1;; ++attempt) {
    const Result<bool> answer = co_await serves(path);
    if (answer && *served != *answer) {
      *served = *answer;
      decisions_changed();
    }
    if (answer && *answer) co_return;
    co_await clock_.sleep_for(backoff.after(attempt));
  }
}

/// An error when the server does not say.
Task<Result<bool>> PlacementController::serves(std::string path) {
  const auto listed = co_await client_.get_path(std::move(path));
  if (!listed && listed.error().code() == Errc::not_found) co_return false;
  if (!listed) co_return listed.error();
  const Result<Json> list = parse_json(*listed);
  if (!list) co_return list.error();
  const Json resources = list->is_object() ? list->value("resources", Json::array()) : Json();
  co_return std::any_of(resources.begin(), resources.end(), [](const Json& resource) {
    return text_at(resource, "name") == "placementdecisions";
  });
}

/// Nominations that cease to count make room, too.
Task<> PlacementController::make_room() {
  for (;;) {
    const auto next = ledger_.next_room(clock_.steady());
    if (!next) {
      co_await waiting_.wait();
      continue;
    }
    co_await clock_.sleep_for(std::max(*next, Duration(100)));
    wake_waiting(ledger_.expire(clock_.steady()));
  }
}

void PlacementController::wake_waiting(const std::vector<std::string>& freed) {
  for (const std::string& cluster : freed) {
    if (auto key = ledger_.next_waiting(cluster)) workloads_.add(std::move(*key));
  }
}

void PlacementController::let_go(const api::ObjectKey& key) {
  wake_waiting(ledger_.release(key));
}

placement::DecisionView PlacementController::view_of(const placement::Reference& reference) const {
  placement::DecisionView view;
  view.reference = reference;
  view.served = reference.by_key ? keys_served_ : placements_served_;
  const auto look = [&](const auto& informer) {
    if (informer.has_synced() || !view.served.value_or(false)) return;
    const auto& error = informer.health().last_error;
    if (error) view.unreadable = error->what();
    if (!error) view.served.reset();
  };
  const std::string name = reference.ns + "/" + reference.name;
  if (reference.by_key) {
    look(profile_decisions_);
    auto parts = profile_decisions_.by_index(by_reference, name);
    view.parts = parts.size();
    view.clusters = placement::in_order(parts);
  } else {
    look(placements_);
    look(decisions_);
    view.placement = placements_.get({reference.ns, reference.name});
    auto parts = decisions_.by_index(by_reference, name);
    view.parts = parts.size();
    view.clusters = placement::in_order(parts);
  }
  if (const auto known = last_known_.find(reference); known != last_known_.end()) {
    view.last_known = known->second;
  }
  return view;
}

const placement::Verdict& PlacementController::verdict_of(const placement::Reference& reference) {
  const auto found = verdicts_.find(reference);
  if (found != verdicts_.end()) return found->second;
  placement::Verdict verdict = placement::judge(view_of(reference));
  if (verdict.standing == placement::Standing::decided && !reference.by_key) {
    last_known_[reference] = verdict.clusters;
  }
  if (verdict.standing == placement::Standing::not_found ||
      verdict.standing == placement::Standing::nothing_chosen) {
    last_known_.erase(reference);
  }
  return verdicts_.emplace(reference, std::move(verdict)).first->second;
}

Task<> PlacementController::work_on_checks() {
  for (;;) {
    std::string name = co_await checks_.next();
    const Status done = co_await reconcile_check(name);
    if (checks_.finish(name, done)) {
      deps_.log.warning("check not reconciled", {{"check", name}, {"error", done.error().what()}});
    }
  }
}

Task<Status> PlacementController::reconcile_check(std::string name) {
  const auto stored = deps_.checks.get(api::ObjectKey(name));
  if (!stored || !ours_.contains(name)) co_return ok();
  if (stored->metadata.has_finalizer(add_on_finalizer)) co_return ok();
  api::AdmissionCheck before = *stored;
  api::AdmissionCheck after = before;
  placement::Verdict verdict;
  const auto reference = placement::reference_of(before.spec, deps_.system_namespace);
  if (reference) {
    verdict = verdict_of(*reference);
    if (verdict.standing == placement::Standing::unknown) co_return ok();
  } else {
    verdict.message = reference.error().what();
  }
  const api::Condition wanted =
      placement::placement_check_condition(verdict, before.metadata.generation);
  if (!api::set_condition(&after.status.conditions, wanted, clock_.now())) co_return ok();
  co_return co_await deps_.write_check(std::move(before), std::move(after));
}

Task<> PlacementController::work_on_workloads() {
  for (;;) {
    api::ObjectKey key = co_await workloads_.next();
    const Status done = co_await reconcile(key);
    if (workloads_.finish(key, done)) {
      deps_.log.warning("not nominated", {{"workload", key.str()}, {"error", done.error().what()}});
    }
  }
}

Task<Status> PlacementController::reconcile(api::ObjectKey key) {
  Outcome outcome;
  const auto wanted = [&](const api::Workload& workload) {
    outcome = waits(workload) ? decide(workload) : Outcome();
    // Before the write, so that workloads decided meanwhile find the place taken.
    if (outcome.nominated) {
      ledger_.record(key, outcome.chosen.clusters, clock_.steady());
      waiting_.notify_all();
    }
    return outcome.status;
  };
  const Status written = co_await deps_.write_workload(key, wanted);
  if (!written) {
    co_return written.error().code() == Errc::not_found ? ok() : written;
  }
  const auto stored = deps_.workloads.get(key);
  if (!stored || !waits(*stored)) {
    let_go(key);
    co_return ok();
  }
  ledger_.wait(key, outcome.chosen.waits_for);
  if (outcome.chosen.look_again) workloads_.add_after(key, *outcome.chosen.look_again);
  say(*stored, outcome);
  co_return ok();
}

void PlacementController::say(const api::Workload& workload, const Outcome& outcome) {
  if (outcome.text.empty()) return;
  const api::ObjectKey key = workload.metadata.key();
  if (outcome.nominated) {
    told_.erase(key);
  } else {
    std::string& told = told_[key];
    if (told == outcome.text) return;
    told = outcome.text;
  }
  const auto reason =
      outcome.nominated ? api::events::nominated_by_placement : api::events::not_nominated;
  deps_.events.event(kube::reference_to(workload),
                     outcome.nominated ? kube::EventType::normal : kube::EventType::warning,
                     std::string(reason), limited_text(outcome.text, 1024));
}

}  // namespace regatta::controllers
