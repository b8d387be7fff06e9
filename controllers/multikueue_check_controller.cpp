#include "controllers/multikueue_check_controller.h"

#include "dispatch/ranking.h"
#include "lib/api/names.h"
#include "lib/api/own_names.h"
#include "placement/expressions.h"

namespace regatta::controllers {
namespace {

/// Hundreds of workers may come and go at once, and each is in the message.
constexpr Duration between_writes_of_many = std::chrono::seconds(1);

/// Why the annotations that choose workers cannot be used; empty: they can.
std::string error_in_annotations(const api::AdmissionCheck& check,
                                 placement::Dispatcher configured) {
  const std::string& named = check.metadata.annotation(std::string(api::annotations::dispatcher));
  if (placement::is_misspelled(named) || named == api::dispatchers::placement) {
    return "annotation " + std::string(api::annotations::dispatcher) + " \"" + named +
           "\" is no dispatcher that a check can name";
  }
  const auto texts = placement::expression_texts_of(check.metadata.annotations);
  if (texts.empty()) return {};
  if (!dispatch::compares(named.empty() ? configured : placement::dispatcher_of(named))) {
    const auto annotation =
        texts.filter.empty() ? api::annotations::worker_score : api::annotations::worker_filter;
    return "annotation " + std::string(annotation) +
           " needs a dispatcher that compares workers, such as " +
           std::string(api::dispatchers::capacity);
  }
  const auto made = placement::Expressions::compile(texts);
  return made ? std::string() : std::string(made.error().what());
}

}  // namespace

MultiKueueCheckController::MultiKueueCheckController(clusters::LocalCluster& local,
                                                     TaskScope& scope,
                                                     placement::Dispatcher dispatcher)
    : local_(local),
      scope_(scope),
      dispatcher_(dispatcher),
      log_(local.log.named("multikueue-checks")),
      queue_(local.clock, scope, Backoff{Duration(50), std::chrono::seconds(30)}) {
  local_.checks.on_change([this](const api::ObjectKey& key) { queue_.add(key.name); });
  local_.selection.on_change([this] { enqueue_all(); });
  local_.multikueue_clusters.on_transition([this](const auto&, const auto& b, const auto& a) {
    const bool same = b && a &&
                      api::is_true(b->status.conditions, api::conditions::active) ==
                          api::is_true(a->status.conditions, api::conditions::active);
    if (!same) enqueue_all();
  });
}

void MultiKueueCheckController::start() {
  scope_.spawn("multikueue-checks", work());
}

void MultiKueueCheckController::enqueue_all() {
  for (const auto& check : local_.checks.list()) queue_.add(check->metadata.name);
}

lifecycle::CheckView MultiKueueCheckController::view(const api::AdmissionCheck& check) const {
  lifecycle::CheckView view;
  const auto& parameters = check.spec.parameters;
  if (!parameters) {
    view.config_error = "missing parameters reference";
    return view;
  }
  if (parameters->api_group != api::kueue_group || parameters->kind != "MultiKueueConfig") {
    view.config_error = "wrong parameters reference: expected kind MultiKueueConfig of " +
                        std::string(api::kueue_group) + ", got " + parameters->kind + " of " +
                        parameters->api_group;
    return view;
  }
  if (const auto problem = local_.selection.problem(parameters->name)) {
    view.config_error = "annotation " + std::string(api::annotations::select_clusters) +
                        " of MultiKueueConfig \"" + parameters->name + "\": " + *problem;
    return view;
  }
  const auto config = local_.selection.config(parameters->name);
  if (!config) {
    view.config_error = "MultiKueueConfig.kueue.x-k8s.io \"" + parameters->name + "\" not found";
    return view;
  }
  view.config_error = error_in_annotations(check, dispatcher_);
  if (!view.config_error.empty()) return view;
  view.clusters = config->spec.clusters;
  for (const std::string& name : view.clusters) {
    const auto cluster = local_.multikueue_clusters.get(api::ObjectKey(name));
    if (!cluster) {
      view.missing.push_back(name);
    } else if (!api::is_true(cluster->status.conditions, api::conditions::active)) {
      view.inactive.push_back(name);
    }
  }
  return view;
}

Task<> MultiKueueCheckController::work() {
  for (;;) {
    std::string name = co_await queue_.next();
    const Status done = co_await reconcile(name);
    if (queue_.finish(name, done)) {
      log_.warning("check not reconciled", {{"check", name}, {"error", done.error().what()}});
    }
  }
}

Task<Status> MultiKueueCheckController::reconcile(std::string name) {
  const auto stored = local_.checks.get(api::ObjectKey(name));
  if (!stored || !api::is_multikueue(*stored)) co_return ok();
  api::AdmissionCheck before = *stored;
  api::AdmissionCheck after = before;
  const lifecycle::CheckView seen = view(before);
  const api::Condition wanted = lifecycle::check_condition(seen, before.metadata.generation);
  if (!api::set_condition(&after.status.conditions, wanted, local_.clock.now())) co_return ok();
  if (seen.clusters.size() > placement::nominated_max) {
    const SteadyPoint now = local_.clock.steady();
    SteadyPoint& last = written_[name];
    if (last != SteadyPoint() && now < last + between_writes_of_many) {
      queue_.add_after(name, last + between_writes_of_many - now);
      co_return ok();
    }
    last = now;
  }
  co_return co_await local_.write_status(local_.checks, std::move(before), std::move(after));
}

}  // namespace regatta::controllers
