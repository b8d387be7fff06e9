#include "lab/federation/federation.h"

#include "kubeconfig/local.h"
#include "lab/federation/examples.h"
#include "lab/servers/apply.h"
#include "lab/servers/files.h"
#include "lib/base/base64.h"
#include "lib/net/http_client.h"
#include "lib/net/tcp.h"
#include "lib/runtime/deadline.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace regatta::lab {
namespace {

constexpr Duration start_max = std::chrono::seconds(120);
constexpr Duration apply_max = std::chrono::seconds(90);
constexpr Duration active_max = std::chrono::seconds(90);
constexpr Duration poll_every{50};
constexpr Duration answer_max = std::chrono::seconds(2);
constexpr Duration grace = std::chrono::seconds(5);
constexpr int log_lines = 8;

/// GET of a plain page on loopback; ok when the answer is 200.
Task<Status> page_is_fine(Executor executor, Clock& clock, std::uint16_t port, std::string path) {
  auto dialer = std::make_shared<net::TcpDialer>(clock);
  net::HttpClient client(executor, clock, std::move(dialer), "127.0.0.1", port);
  net::HttpRequest request("GET", std::move(path));
  request.headers.set("Host", "127.0.0.1");
  net::SendOptions options;
  options.deadline = clock.steady() + answer_max;
  const auto answer = co_await client.send(std::move(request), options);
  if (!answer) co_return answer.error();
  if (answer->status != 200) co_return Error(Errc::unavailable, answer->body);
  co_return ok();
}

Task<Status> port_is_open(Clock& clock, std::uint16_t port) {
  net::TcpDialer dialer(clock);
  const SteadyPoint deadline = clock.steady() + answer_max;
  const auto stream = co_await dialer.dial("127.0.0.1", port, deadline);
  if (!stream) co_return stream.error();
  co_return ok();
}

Task<Status> server_is_ready(kube::Client& client) {
  const auto answer = co_await client.get_path("/readyz");
  if (!answer) co_return answer.error();
  co_return ok();
}

/// "MultiKueueCluster a100: <why>", or empty when the object is Active.
std::string inactive_in(const Json& item) {
  const std::string name =
      item.value("kind", "object") + " " + item.at("metadata").at("name").get<std::string>();
  if (!item.contains("status") || !item.at("status").contains("conditions")) {
    return name + ": has no status yet";
  }
  for (const Json& condition : item.at("status").at("conditions")) {
    if (condition.value("type", "") != "Active") continue;
    if (condition.value("status", "") == "True") return "";
    return name + ": " + condition.value("reason", "") + ": " + condition.value("message", "");
  }
  return name + ": is not Active yet";
}

constexpr std::string_view kueue = "kueue.x-k8s.io";
constexpr api::ResourceInfo cluster_queues{kueue, "v1beta2", "ClusterQueue", "clusterqueues",
                                           false};
constexpr api::ResourceInfo admission_checks{kueue, "v1beta2", "AdmissionCheck", "admissionchecks",
                                             false};
constexpr api::ResourceInfo multikueue_clusters{kueue, "v1beta2", "MultiKueueCluster",
                                                "multikueueclusters", false};

}  // namespace

Federation::Federation(FederationDeps deps, SandboxState state)
    : deps_(std::move(deps)), state_(std::move(state)) {}

Result<std::unique_ptr<kubeconfig::Connection>> Federation::connect(
    const std::string& cluster, const std::string& agent) const {
  const ClusterState* known = state_.cluster(cluster);
  if (!known) return Error(Errc::not_found, "there is no cluster " + cluster);
  kubeconfig::SystemFiles files;
  auto endpoint = kubeconfig::load_local(files, known->kubeconfig("admin"));
  if (!endpoint) return endpoint.error();
  kube::ClientConfig config;
  config.user_agent = agent;
  config.field_manager = agent;
  return kubeconfig::Connection::create(deps_.executor, deps_.clock, deps_.rng,
                                        std::move(*endpoint), std::move(config));
}

Result<kube::Client*> Federation::admin(const std::string& cluster) {
  auto& connection = admins_[cluster];
  if (!connection) {
    auto opened = connect(cluster, field_manager);
    if (!opened) return opened.error();
    connection = std::move(*opened);
  }
  return &connection->client();
}

Error Federation::died(const Component& component) const {
  return Error(Errc::unavailable, component.name + " ended; the last lines of its log " +
                                      component.log + ":\n" + tail(component.log, log_lines));
}

Status Federation::prepare_files(const ClusterState& cluster) const {
  const TimePoint now = deps_.clock.now();
  auto files = ClusterFiles::prepare(cluster.folder, cluster.port, now);
  if (!files) return files.error();
  const auto manager = files->write_kubeconfig("manager", "regatta-manager", {}, now);
  if (!manager) return manager.error();
  if (!cluster.hub) {
    const auto hub = files->write_kubeconfig("multikueue", "regatta-multikueue", {}, now);
    if (!hub) return hub.error();
  }
  const auto dispatcher = dispatcher_name(state_.dispatcher);
  if (!dispatcher) return dispatcher.error();
  const auto kinds = raced_kinds(state_.kinds);
  if (!kinds) return kinds.error();
  const Status config =
      write_private(files->file("manager.yaml"), manager_config(cluster, *dispatcher, *kinds));
  if (!config || cluster.etcd_port == 0) return config;
  return write_private(files->file("tokens.csv"),
                       net::random_token() + ",admin,admin,\"system:masters\"\n");
}

Task<Status> Federation::start(Component* component) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(component->log).parent_path(), ignored);
  const auto started = start_process(component->argv, component->log);
  if (!started) co_return started.error().within(component->name);
  component->process = *started;
  const Status saved = save(state_);
  if (!saved) co_return saved;
  co_return co_await wait_answering(component);
}

Task<Status> Federation::wait_answering(Component* component) {
  const ClusterState cluster = *state_.cluster(component->cluster);
  const SteadyPoint deadline = deps_.clock.steady() + start_max;
  while (true) {
    Task<Status> asking = answers_once(*component, cluster);
    const Status fine = co_await std::move(asking);
    if (fine) co_return ok();
    if (!is_running(component->process)) co_return died(*component);
    if (deps_.clock.steady() >= deadline) {
      co_return Error(Errc::timeout, component->name + " is not ready: " + fine.error().what() +
                                         "; its log: " + component->log);
    }
    co_await deps_.clock.sleep_for(poll_every);
  }
}

Task<Status> Federation::answers_once(const Component& component, const ClusterState& cluster) {
  switch (component.role) {
    case Role::etcd:
      co_return co_await port_is_open(deps_.clock, cluster.etcd_port);
    case Role::nodes:
      co_return ok();
    case Role::manager:
      co_return co_await page_is_fine(deps_.executor, deps_.clock, cluster.health_port, "/readyz");
    case Role::apiserver:
      break;
  }
  const auto client = admin(cluster.name);
  if (!client) co_return client.error();
  co_return co_await server_is_ready(**client);
}

std::vector<Component*> Federation::components_of(const std::string& name) {
  std::vector<Component*> found;
  for (Component& component : state_.components) {
    if (component.name == name || component.cluster == name) found.push_back(&component);
  }
  return found;
}

Task<Status> Federation::start_servers(const ClusterState& cluster) {
  for (Component* component : components_of(cluster.name)) {
    if (component->role == Role::manager || component->role == Role::nodes) continue;
    const Status started = co_await start(component);
    if (!started) co_return started;
  }
  co_return ok();
}

/// Starts the servers and applies CRDs, permissions and a worker's own objects.
Task<> Federation::set_up(const ClusterState& cluster, Status* outcome) {
  *outcome = co_await start_servers(cluster);
  if (!*outcome) co_return;
  const auto client = admin(cluster.name);
  if (!client) {
    *outcome = client.error();
    co_return;
  }
  Applier applier(**client, deps_.clock);
  const SteadyPoint deadline = deps_.clock.steady() + apply_max;
  auto crds = manifest::objects_below(manifest::kueue_crds());
  auto objects = manifest::objects_below(lab::examples(), "examples/rbac/manager.yaml");
  auto multikueue = manifest::objects_below(lab::examples(), "examples/rbac/multikueue.yaml");
  if (!crds || !objects || !multikueue) {
    *outcome = Error(Errc::not_found, "the binary carries no CRDs or no examples");
    co_return;
  }
  const auto kinds = raced_kinds(state_.kinds);
  if (!kinds) {
    *outcome = kinds.error();
    co_return;
  }
  for (const RacedKind* kind : *kinds) {
    if (Json definition = kind->definition(); !definition.is_null()) {
      crds->push_back(std::move(definition));
    }
  }
  *outcome = co_await applier.install_crds(std::move(*crds), deadline);
  if (!*outcome) co_return;
  if (!cluster.hub) {
    objects->insert(objects->end(), multikueue->begin(), multikueue->end());
    const std::vector<Json>& own = worker_objects_[cluster.name];
    objects->insert(objects->end(), own.begin(), own.end());
  }
  *outcome = co_await applier.apply(std::move(*objects), deadline);
  if (!*outcome) co_return;
  for (Component* component : components_of(cluster.name)) {
    if (component->role == Role::nodes) *outcome = co_await start(component);
  }
  if (*outcome) deps_.progress(cluster.name + ": API server ready, objects applied");
}

Task<> Federation::start_manager(const ClusterState& cluster, Status* outcome) {
  for (Component* component : components_of(cluster.name)) {
    if (component->role != Role::manager) continue;
    *outcome = co_await start(component);
  }
}

Task<Status> Federation::each_cluster(std::function<Task<>(const ClusterState&, Status*)> step) {
  std::vector<Status> outcomes(state_.clusters.size(), ok());
  std::vector<Task<>> all;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    all.push_back(step(state_.clusters[i], &outcomes[i]));
  }
  co_await all_of(std::move(all));
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i]) co_return outcomes[i].error().within(state_.clusters[i].name);
  }
  co_return ok();
}

Task<Status> Federation::put_kubeconfig_secret(const ClusterState& worker) {
  const auto client = admin(state_.hub().name);
  if (!client) co_return client.error();
  kubeconfig::SystemFiles files;
  const auto text = files.read_regular(worker.kubeconfig("multikueue"), kubeconfig::size_max);
  if (!text) co_return text.error();
  Json secret = Json::object();
  secret["apiVersion"] = "v1";
  secret["kind"] = "Secret";
  secret["metadata"]["name"] = worker.name + "-kubeconfig";
  secret["metadata"]["namespace"] = "kueue-system";
  secret["data"]["kubeconfig"] = base64_encode(*text);
  std::vector<Json> objects;
  objects.push_back(std::move(secret));
  Applier applier(**client, deps_.clock);
  const SteadyPoint deadline = deps_.clock.steady() + apply_max;
  co_return co_await applier.apply(std::move(objects), deadline);
}

Task<Status> Federation::set_up_hub() {
  std::vector<std::string> workers;
  std::vector<std::vector<Json>> worker_objects;
  for (const ClusterState& cluster : state_.clusters) {
    if (cluster.hub) continue;
    const Status put = co_await put_kubeconfig_secret(cluster);
    if (!put) co_return put;
    workers.push_back(cluster.name);
    worker_objects.push_back(worker_objects_[cluster.name]);
  }
  auto examples = manifest::objects_below(lab::examples(), "examples/hub/");
  if (!examples) co_return examples.error();
  auto objects = hub_objects(std::move(*examples), workers, worker_objects);
  if (!objects) co_return objects.error();
  const auto client = admin(state_.hub().name);
  if (!client) co_return client.error();
  Applier applier(**client, deps_.clock);
  const SteadyPoint deadline = deps_.clock.steady() + apply_max;
  co_return co_await applier.apply(std::move(*objects), deadline);
}

Task<Result<std::string>> Federation::first_inactive(const ClusterState& cluster) {
  const auto client = admin(cluster.name);
  if (!client) co_return client.error();
  std::vector<api::ResourceInfo> resources = {cluster_queues};
  if (cluster.hub) {
    resources.push_back(multikueue_clusters);
    resources.push_back(admission_checks);
  }
  std::string inactive;
  const kube::OnItem look = [&](const Json& item, std::size_t) {
    if (inactive.empty()) inactive = inactive_in(item);
  };
  for (const api::ResourceInfo& resource : resources) {
    const auto listed = co_await (*client)->list_raw(resource, "", kube::ListOptions(), look);
    if (!listed) co_return listed.error();
  }
  co_return inactive;
}

Task<> Federation::wait_active(const ClusterState& cluster, Status* outcome) {
  const SteadyPoint deadline = deps_.clock.steady() + active_max;
  while (true) {
    const auto inactive = co_await first_inactive(cluster);
    if (inactive && inactive->empty()) co_return;
    if (deps_.clock.steady() >= deadline) {
      const std::string why = inactive ? *inactive : inactive.error().what();
      *outcome = Error(Errc::timeout, why + "; the logs are in " + state_.folder + "/logs");
      co_return;
    }
    co_await deps_.clock.sleep_for(poll_every);
  }
}

Task<Status> Federation::up() {
  for (const ClusterState& cluster : state_.clusters) {
    const Status prepared = prepare_files(cluster);
    if (!prepared) co_return prepared.error().within(cluster.name);
    if (cluster.hub) continue;
    auto objects =
        manifest::objects_below(lab::examples(), "examples/workers/" + cluster.fleet + ".yaml");
    if (!objects) co_return objects.error();
    worker_objects_[cluster.name] = std::move(*objects);
  }
  const std::size_t workers = state_.clusters.size() - 1;
  deps_.progress("starting a hub and " + std::to_string(workers) +
                 (workers == 1 ? " worker in " : " workers in ") + state_.folder);
  const auto setting_up = [this](const ClusterState& cluster, Status* outcome) {
    return set_up(cluster, outcome);
  };
  const Status ready = co_await each_cluster(setting_up);
  if (!ready) co_return ready;
  const Status hub = co_await set_up_hub();
  if (!hub) co_return hub.error().within("hub");
  deps_.progress("starting the managers");
  const auto managing = [this](const ClusterState& cluster, Status* outcome) {
    return start_manager(cluster, outcome);
  };
  const Status managed = co_await each_cluster(managing);
  if (!managed) co_return managed;
  deps_.progress("waiting until every queue and connection is Active");
  const auto waiting = [this](const ClusterState& cluster, Status* outcome) {
    return wait_active(cluster, outcome);
  };
  co_return co_await each_cluster(waiting);
}

Task<> Federation::down() {
  admins_.clear();
  for (const Role role : {Role::manager, Role::nodes, Role::apiserver, Role::etcd}) {
    std::vector<Task<>> stopping;
    for (const Component& component : state_.components) {
      if (component.role != role) continue;
      stopping.push_back(stop_process(deps_.clock, component.process, grace));
    }
    if (!stopping.empty()) co_await all_of(std::move(stopping));
  }
}

Task<Status> Federation::stop(std::string name) {
  const std::vector<Component*> found = components_of(name);
  if (found.empty()) {
    std::string known;
    for (const Component& component : state_.components) known += " " + component.name;
    co_return Error(Errc::not_found, "there is no " + name + "; there are:" + known);
  }
  for (auto it = found.rbegin(); it != found.rend(); ++it) {
    co_await stop_process(deps_.clock, (*it)->process, grace);
  }
  co_return ok();
}

Task<Status> Federation::restart(std::string name) {
  const Status stopped = co_await stop(name);
  if (!stopped) co_return stopped;
  for (Component* component : components_of(name)) {
    const Status started = co_await start(component);
    if (!started) co_return started;
  }
  co_return ok();
}

Task<Status> Federation::rotate(std::string worker) {
  const ClusterState* cluster = state_.cluster(worker);
  if (!cluster || cluster->hub) {
    co_return Error(Errc::not_found, "there is no worker " + worker);
  }
  const TimePoint now = deps_.clock.now();
  auto files = ClusterFiles::prepare(cluster->folder, cluster->port, now);
  if (!files) co_return files.error();
  const auto written = files->write_kubeconfig("multikueue", "regatta-multikueue", {}, now);
  if (!written) co_return written.error();
  const ClusterState copy = *cluster;
  co_return co_await put_kubeconfig_secret(copy);
}

}  // namespace regatta::lab
