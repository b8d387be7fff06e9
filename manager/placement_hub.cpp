#include "manager/placement_hub.h"

#include "lib/api/codec.h"
#include "lib/api/names.h"
#include "lib/base/json_access.h"
#include "lib/kube/catch_up.h"
#include "lib/kube/owned_fields.h"
#include "lib/kube/status.h"
#include "lib/runtime/backoff.h"

#include <nlohmann/json.hpp>

namespace regatta::manager {
namespace {

constexpr Backoff hub_uid_pauses{std::chrono::seconds(1), std::chrono::seconds(30)};

constexpr std::string_view lacking = api::managed_clusters::credentials_lacking;

kube::InformerDeps informer_deps(const PlacementHubDeps& deps, const char* name) {
  return {deps.client, deps.clock, deps.rng, deps.scope.executor(), deps.log.named(name)};
}

kube::EventRecorderOptions event_options(const PlacementHubConfig& config) {
  kube::EventRecorderOptions options;
  options.component = "regatta-placement";
  options.instance = config.instance;
  options.normal_per_second = 25;
  return options;
}

/// Pods are never looked at here, and are most of a Workload.
void without_pods(api::Workload& workload) {
  workload.spec.pod_sets.clear();
  workload.raw_spec = {};
}

/// The entry with the item's name, or a new one.
Json& entry_of(Json* list, const Json& item) {
  for (Json& entry : *list) {
    if (text_at(entry, "name") == text_at(item, "name")) return entry;
  }
  list->push_back(Json::object());
  return list->back();
}

}  // namespace

Json nomination_to_apply(const Json& object, const api::Workload& wanted) {
  Json out = kube::applied_part(object, api::field_managers::admission, "status");
  if (!out.is_object()) return nullptr;
  const Json& metadata = object["metadata"];
  out["apiVersion"] = object["apiVersion"];
  out["kind"] = object["kind"];
  out["metadata"] = {{"name", metadata["name"]},
                     {"namespace", metadata["namespace"]},
                     {"resourceVersion", metadata["resourceVersion"]}};
  Json& status = out["status"];
  if (!status.is_object()) status = Json::object();
  status["nominatedClusterNames"] = wanted.status.nominated_cluster_names;
  const Json after = api::to_json(wanted);
  Json& checks = status["admissionChecks"];
  if (!checks.is_array()) checks = Json::array();
  for (const Json& state : after["status"].value("admissionChecks", Json::array())) {
    Json& entry = entry_of(&checks, state);
    for (const auto& [name, value] : state.items()) entry[name] = value;
  }
  if (checks.empty()) status.erase("admissionChecks");
  return out;
}

PlacementHub::PlacementHub(PlacementHubDeps deps, PlacementHubConfig config)
    : deps_(deps),
      config_(std::move(config)),
      client_(deps.client),
      events_(deps.client, deps.clock, deps.rng, deps.scope.executor(), deps.log.named("events"),
              event_options(config_)),
      workloads_(informer_deps(deps, "informer.workloads"), {}, without_pods),
      local_queues_(informer_deps(deps, "informer.localqueues")),
      cluster_queues_(informer_deps(deps, "informer.clusterqueues")),
      checks_(informer_deps(deps, "informer.admissionchecks")),
      multikueue_clusters_(informer_deps(deps, "informer.multikueueclusters")),
      multikueue_configs_(informer_deps(deps, "informer.multikueueconfigs")),
      selection_(multikueue_configs_, multikueue_clusters_),
      placement_(placement_deps(), config_.placement) {
  if (config_.managed_clusters) make_workers();
}

/// The hub's manager connects them, and says in `Active` whether it has.
void PlacementHub::make_workers() {
  kube::InformerOptions of_manager;
  of_manager.ns = config_.managed_clusters->system_namespace;
  secrets_ = std::make_unique<kube::Informer<api::Secret>>(informer_deps(deps_, "informer.secrets"),
                                                           std::move(of_manager));
  controllers::ManagedClusterDeps deps{
      *secrets_,
      multikueue_clusters_,
      workloads_,
      {deps_.worker_client, deps_.clock, deps_.rng, deps_.scope.executor(), deps_.log},
      events_,
      deps_.scope,
      [this] { return hub_uid_; },
      [this](const std::string& name) { return is_true(name, api::conditions::active); },
      [this](const std::string& name) { return is_true(name, lacking); },
      [this](std::string name, std::optional<clusters::Notice> notice) {
        return tell(std::move(name), std::move(notice));
      }};
  managed_clusters_ = std::make_unique<controllers::ManagedClusterController>(
      std::move(deps), *config_.managed_clusters);
  multikueue_clusters_.on_transition(
      [this](const api::ObjectKey& key, const auto& before, const auto& after) {
        if (!before || !after || before->status != after->status) managed_clusters_->look(key.name);
      });
}

bool PlacementHub::is_true(const std::string& member, std::string_view type) const {
  const auto object = multikueue_clusters_.get(api::ObjectKey(member));
  return object && api::is_true(object->status.conditions, type);
}

Task<Status> PlacementHub::tell(std::string member, std::optional<clusters::Notice> notice) {
  const auto object = multikueue_clusters_.get(api::ObjectKey(member));
  if (!object) co_return ok();
  const bool begins = notice && !api::is_true(object->status.conditions, lacking);
  api::MultiKueueCluster after = *object;
  const bool news = clusters::set_notice(&after.status.conditions, lacking, notice,
                                         object->metadata.generation, deps_.clock.now());
  if (!news) co_return ok();
  api::MultiKueueCluster told = *object;
  kube::Client& client = deps_.worker_client;
  auto written = co_await client.patch_status(std::move(told), std::move(after));
  if (!written) co_return written.error().within("condition of MultiKueueCluster " + member);
  if (begins) {
    events_.event(kube::reference_to(*written), kube::EventType::warning, notice->reason,
                  notice->message);
  }
  multikueue_clusters_.observe(std::move(*written));
  co_return ok();
}

controllers::PlacementDeps PlacementHub::placement_deps() {
  const auto write_one = [this](api::ObjectKey key, clusters::Wanted<api::WorkloadStatus> wanted) {
    return write_workload(std::move(key), std::move(wanted));
  };
  const auto write_state = [this](api::AdmissionCheck before, api::AdmissionCheck after) {
    return write_check(std::move(before), std::move(after));
  };
  return {workloads_,
          local_queues_,
          cluster_queues_,
          checks_,
          multikueue_clusters_,
          selection_,
          informer_deps(deps_, "placement"),
          events_,
          deps_.scope,
          deps_.log.named("placement"),
          config_.system_namespace,
          nullptr,
          write_one,
          write_state};
}

Task<> PlacementHub::prepare_workers() {
  deps_.scope.spawn("informer secrets", secrets_->run());
  co_await secrets_->wait_synced();
  co_await find_hub_uid();
}

/// Returns when the server has answered: a hub that is not known would become its own worker.
Task<> PlacementHub::find_hub_uid() {
  for (int failures = 1;; ++failures) {
    const auto system = co_await client_.get<api::Namespace>(api::ObjectKey("kube-system"));
    if (system) {
      hub_uid_ = system->metadata.uid;
      co_return;
    }
    const Error& error = system.error();
    if (error.details() && (error.code() == Errc::not_found || kube::is_refusal(error))) {
      deps_.log.warning("the hub is told from its workers by its name and label alone",
                        {{"error", error.what()}});
      co_return;
    }
    deps_.log.warning("cannot read the namespace kube-system", {{"error", error.what()}});
    co_await deps_.clock.sleep_for(hub_uid_pauses.after(failures));
  }
}

Task<> PlacementHub::sync() {
  deps_.scope.spawn("informer workloads", workloads_.run());
  deps_.scope.spawn("informer localqueues", local_queues_.run());
  deps_.scope.spawn("informer clusterqueues", cluster_queues_.run());
  deps_.scope.spawn("informer admissionchecks", checks_.run());
  deps_.scope.spawn("informer multikueueclusters", multikueue_clusters_.run());
  deps_.scope.spawn("informer multikueueconfigs", multikueue_configs_.run());
  co_await workloads_.wait_synced();
  co_await local_queues_.wait_synced();
  co_await cluster_queues_.wait_synced();
  co_await checks_.wait_synced();
  co_await multikueue_clusters_.wait_synced();
  co_await multikueue_configs_.wait_synced();
  if (secrets_) co_await prepare_workers();
  synced_ = true;
}

Task<Status> PlacementHub::take_over() {
  kube::CatchUp all;
  all.add(workloads_);
  all.add(local_queues_);
  all.add(cluster_queues_);
  all.add(checks_);
  all.add(multikueue_clusters_);
  all.add(multikueue_configs_);
  if (secrets_) all.add(*secrets_);
  const Status caught_up = co_await all.run(deps_.clock);
  if (!caught_up) co_return caught_up.error().within("taking over");
  start();
  co_return ok();
}

void PlacementHub::start() {
  deps_.scope.spawn("events", events_.run());
  placement_.start();
  if (managed_clusters_) managed_clusters_->start();
}

/// The cache says whether anything is to be written. What is written follows from the object as it
/// is on the server, whose managers the cache does not know.
Task<Status> PlacementHub::write_workload(api::ObjectKey key,
                                          clusters::Wanted<api::WorkloadStatus> wanted) {
  const auto cached = workloads_.get(key);
  if (!cached) co_return Error(Errc::not_found, "workload " + key.str() + " is gone");
  const auto first = wanted(*cached);
  if (!first || *first == cached->status) co_return ok();
  const auto text = co_await client_.get_raw(api::Workload::resource, key);
  if (!text) co_return text.error();
  const Result<Json> object = parse_json(*text);
  if (!object) co_return object.error();
  auto before = api::from_json<api::Workload>(*object);
  if (!before) co_return before.error();
  auto status = wanted(*before);
  if (!status || *status == before->status) {
    workloads_.observe(std::move(*before));
    co_return ok();
  }
  api::Workload after = *before;
  after.status = std::move(*status);
  const Json part = nomination_to_apply(*object, after);
  Result<api::Workload> written = Error();
  if (part.is_null()) {
    written = co_await client_.patch_status(std::move(*before), std::move(after));
  } else {
    kube::ApplyOptions options;
    options.subresource = "status";
    options.field_manager = std::string(api::field_managers::admission);
    options.force = true;
    written = co_await client_.apply<api::Workload>(key, dump_json(part), std::move(options));
  }
  if (!written) co_return written.error().within("workload " + key.str());
  workloads_.observe(std::move(*written));
  co_return ok();
}

Task<Status> PlacementHub::write_check(api::AdmissionCheck before, api::AdmissionCheck after) {
  auto written = co_await client_.patch_status(std::move(before), std::move(after));
  if (!written) co_return written.error();
  checks_.observe(std::move(*written));
  co_return ok();
}

}  // namespace regatta::manager
