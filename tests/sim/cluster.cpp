#include "tests/sim/cluster.h"

#include "kubeconfig/validate.h"
#include "tests/sim/kinds.h"
#include "tests/support/manifests.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace regatta::simtest {
namespace {

kube::ClientDeps client_deps(Clock& clock, Rng& rng, net::HttpSender& sender, std::string agent) {
  kube::ClientConfig config;
  config.user_agent = std::move(agent);
  return kube::ClientDeps{sender, clock, rng, nullptr, std::move(config)};
}

/// "workloads" of "Workload": good enough for the kinds of the manifests.
std::string plural_of(const std::string& kind) {
  std::string out;
  for (const char c : kind) out += c >= 'A' && c <= 'Z' ? char(c + 32) : c;
  return out.ends_with("class") ? out + "es" : out + "s";
}

Task<> send_all(net::HttpSender* sender, std::vector<Json> objects, int* refused) {
  for (const Json& object : objects) {
    net::HttpRequest request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions");
    request.headers.set("Content-Type", "application/json");
    request.body = dump_json(object);
    const auto answer = co_await sender->send(std::move(request), {});
    if (!answer || answer->status != 201) ++*refused;
  }
}

/// As that of a newer version, which may know more statuses of conditions.
void allow_any_status(Json* crd) {
  for (Json& version : crd->at("spec").at("versions")) {
    const Json::json_pointer conditions(
        "/schema/openAPIV3Schema/properties/status/properties/conditions/items/properties/status");
    if (version.contains(conditions)) version.at(conditions).erase("enum");
  }
}

/// A server with the CRDs. Every server of every history starts as one of these: to read the CRDs
/// again and again would take a fifth of the time.
const apiserver::Server& model_server(bool job_kinds, bool newer_objects) {
  struct Model {
    Model(bool job_kinds, bool newer_objects)
        : world(1), server(world.executor(), world, world.rng), scope(world.executor()) {
      net::HandlerSender sender(world, server, {"admin", {"system:masters"}});
      int refused = 0;
      std::vector<Json> crds = test_support::crd_manifests();
      if (job_kinds) std::ranges::move(definitions_of_kinds(), std::back_inserter(crds));
      if (newer_objects) std::ranges::for_each(crds, [](Json& crd) { allow_any_status(&crd); });
      scope.spawn("CRDs", send_all(&sender, std::move(crds), &refused));
      world.run_for(std::chrono::seconds(2));
      if (refused > 0) throw std::runtime_error("a CRD is refused");
    }
    sim::World world;
    apiserver::Server server;
    TaskScope scope;
  };
  static std::map<std::pair<bool, bool>, std::unique_ptr<Model>> models;
  auto& model = models[{job_kinds, newer_objects}];
  if (!model) model = std::make_unique<Model>(job_kinds, newer_objects);
  return model->server;
}

/// What a manager logs, among what happens.
class HistoryLog final : public LogSink {
 public:
  HistoryLog(History& history, std::string identity)
      : history_(history), identity_(std::move(identity)) {}
  bool enabled(LogLevel) const override { return true; }
  void write(LogLevel, std::string_view logger, std::string_view message,
             std::initializer_list<KV> values) override {
    std::string line = identity_ + " says, " + std::string(logger) + ": " + std::string(message);
    for (const KV& one : values) line += " " + std::string(one.key) + "=\"" + one.value + "\"";
    history_.note(line);
  }

 private:
  History& history_;
  const std::string identity_;
};

}  // namespace

/// Kubeconfigs name hosts; each leads to the server of a cluster.
class SimCluster::Connector final : public clusters::Connector {
 public:
  Connector(Surroundings& around, Author author, std::shared_ptr<Gate> gate,
            const ManagerPlan& plan)
      : around_(around), author_(std::move(author)), gate_(std::move(gate)), plan_(plan) {}

  std::variant<clusters::WorkerConnection, clusters::ConnectFailure> connect(
      std::string_view kubeconfig) override {
    const kubeconfig::Verdict verdict = kubeconfig::from_bytes(kubeconfig);
    if (!verdict.endpoint) {
      return clusters::ConnectFailure{std::string(verdict.reason), verdict.message};
    }
    SimCluster& cluster = *around_.hosts.at(verdict.endpoint->host);
    const std::string& given = verdict.endpoint->bearer_token;
    const std::string& first = tokens_.emplace(cluster.name(), given).first->second;
    clusters::WorkerConnection connection;
    connection.sender = std::make_shared<LinkSender>(
        LinkDeps{around_.world, around_.network, cluster.server(), cluster.name(), "multikueue",
                 author_, plan_.old_tokens ? first : given, cluster.shared_link(author_.cluster),
                 gate_, &around_.history, &around_.tampering});
    connection.server = verdict.endpoint->url;
    connection.url = verdict.endpoint->url;
    return connection;
  }

  std::variant<clusters::WorkerConnection, clusters::ConnectFailure> connect_by_plugin(
      const kubeconfig::ProfileAccess&, TaskScope&) override {
    return clusters::ConnectFailure{"BadRestConfig", "no plugins here"};
  }

  std::variant<std::string, clusters::ConnectFailure> read_path(const std::string&) override {
    return clusters::ConnectFailure{"BadKubeConfig", "no paths here"};
  }

 private:
  Surroundings& around_;
  Author author_;
  std::shared_ptr<Gate> gate_;
  const ManagerPlan& plan_;
  std::map<std::string, std::string> tokens_;  ///< the first one for each cluster
};

/// One life of a manager.
struct SimCluster::Process {
  Process(Surroundings& around, std::shared_ptr<const Duration> offset, Author given)
      : author(std::move(given)),
        gate(std::make_shared<Gate>(around.world.executor())),
        clock(around.world, std::move(offset), gate),
        leadership(clock),
        connector(around, Author{Role::dispatcher, author.cluster, author.identity}, gate, plan),
        scope(around.world.executor()),
        main(around.world.executor()) {}
  Author author;
  std::shared_ptr<Gate> gate;
  MachineClock clock;
  kube::Leadership leadership;
  ManagerPlan plan;
  Connector connector;
  std::shared_ptr<LinkFaults>
      link;  ///< to its own cluster; another one than usual while it is deaf
  std::shared_ptr<LinkFaults> usual_link;
  std::unique_ptr<LinkSender> sender, lease_sender;
  std::unique_ptr<kube::Client> client, lease_client;
  std::unique_ptr<kube::LeaderElector> elector;
  std::unique_ptr<manager::Core> core;
  bool leads = false, ended = false;
  TaskScope scope, main;
};

SimCluster::SimCluster(Surroundings& around, std::string name, bool runs_jobs,
                       Duration clock_offset)
    : around_(around),
      name_(std::move(name)),
      runs_jobs_(runs_jobs),
      clock_offset_(std::make_shared<Duration>(clock_offset)),
      clock_(around.world, clock_offset_) {
  sim::World& world = around_.world;
  server_ = std::make_unique<apiserver::Server>(world.executor(), clock_, world.rng);
  server_->start_as(model_server(around.job_kinds, around.newer_objects));
  admin_sender_ = std::make_unique<LinkSender>(link_deps(Role::user, "admin"));
  admin_ = std::make_unique<kube::Client>(client_deps(clock_, world.rng, *admin_sender_, "admin"));
  machinery_sender_ = std::make_unique<LinkSender>(link_deps(Role::machinery, "machinery"));
  machinery_ = std::make_unique<kube::Client>(
      client_deps(clock_, world.rng, *machinery_sender_, "machinery"));
}

SimCluster::~SimCluster() = default;

LinkDeps SimCluster::link_deps(Role role, const std::string& user) {
  return LinkDeps{around_.world, around_.network,           *server_, name_,
                  user,          Author{role, name_, user}, "",       no_faults_,
                  nullptr,       &around_.history,          nullptr};
}

std::shared_ptr<LinkFaults> SimCluster::shared_link(const std::string& hub) {
  auto& link = links_[hub];
  if (!link) link = std::make_shared<LinkFaults>();
  return link;
}

Task<> SimCluster::apply(Json object) {
  const std::string api_version = object.value("apiVersion", "");
  const std::string kind = object.value("kind", "");
  const std::size_t slash = api_version.find('/');
  const std::string group = slash == std::string::npos ? "" : api_version.substr(0, slash);
  const std::string version =
      slash == std::string::npos ? api_version : api_version.substr(slash + 1);
  const std::string plural = plural_of(kind);
  const std::string ns = object["metadata"].value("namespace", "");
  const api::ResourceInfo resource{group, version, kind, plural, !ns.empty()};
  const Result<std::string> created = co_await admin_->create_raw(resource, ns, dump_json(object));
  if (!created && created.error().code() != Errc::already_exists) {
    throw std::runtime_error(name_ + ": " + kind + " " + dump_json(object["metadata"]) + ": " +
                             created.error().what());
  }
}

Task<> SimCluster::edit(api::ResourceInfo resource, api::ObjectKey key, Json patch, bool status) {
  kube::WriteOptions options;
  if (status) options.subresource = "status";
  const auto done =
      co_await admin_->patch_raw(resource, key, kube::PatchType::merge, dump_json(patch), options);
  (void)done;
}

Task<> SimCluster::remove(api::ResourceInfo resource, api::ObjectKey key) {
  kube::DeleteOptions how;
  how.propagation_policy = "Background";
  const Status done = co_await admin_->remove(resource, key, how);
  (void)done;
}

Task<> SimCluster::set_up(std::vector<Json> objects) {
  for (Json& object : objects) co_await apply(std::move(object));
}

void SimCluster::start_infrastructure() {
  sim::World& world = around_.world;
  infrastructure_ = std::make_unique<TaskScope>(world.executor());
  garbage_ = std::make_unique<lab::GarbageCollector>(
      lab::GarbageCollectorDeps{*machinery_, clock_, world.rng, world.executor(), Log()});
  infrastructure_->spawn("garbage collector", garbage_->run());
  if (!runs_jobs_) return;
  lab::JobControllerOptions options;
  options.behaviour.pods = around_.pods;
  nodes_ = std::make_unique<lab::JobController>(
      lab::JobControllerDeps{*machinery_, clock_, world.rng, world.executor(), Log()}, options);
  infrastructure_->spawn("nodes", nodes_->run());
  if (around_.job_kinds) start_operators();
}

void SimCluster::start_operators() {
  sim::World& world = around_.world;
  operators_.clear();
  for (const lab::OperatedKind& kind : lab::operated_kinds()) {
    if (kind_named(std::string(kind.resource.kind)).resource != kind.resource) continue;
    operators_.push_back(std::make_unique<lab::KindOperator>(
        lab::KindOperatorDeps{*machinery_, clock_, world.rng, world.executor(), Log()}, kind));
    infrastructure_->spawn("operator", operators_.back()->run());
  }
}

void SimCluster::stop_infrastructure() {
  if (!infrastructure_) return;
  infrastructure_->stop();
  around_.world.settle();
  infrastructure_.reset();
}

void SimCluster::restart_infrastructure() {
  if (!infrastructure_) return;
  stop_infrastructure();
  start_infrastructure();
}

/// As manager/run.cpp does: a process that cannot take over ends.
Task<> SimCluster::take_over(Process* process) {
  if (co_await process->core->take_over()) co_return;
  end_process(process);
}

void SimCluster::end_process(Process* process) {
  process->leads = false;
  around_.history.process_leads_no_longer(process->author);
  process->scope.stop();
  process->ended = true;
}

/// As manager/run.cpp does: a process that lost the Lease ends.
Task<> SimCluster::run_manager(Process* process) {
  co_await process->core->sync();
  if (!process->elector) {
    process->leads = true;
    around_.history.process_leads(process->author);
    process->core->start();
    co_return;
  }
  if (process->plan.deaf) process->link->half_open_watch = 1;
  if (!process->plan.leads_at_once) (void)co_await process->elector->acquire();
  // Watches that are dead stay dead; what is sent from now on passes as usual.
  if (process->plan.deaf) *process->link = *process->usual_link;
  process->leads = true;
  around_.history.process_leads(process->author);
  if (process->plan.old_caches) {
    process->core->start();
  } else {
    process->scope.spawn("take over", take_over(process));
  }
  if (process->plan.leads_at_once) (void)co_await process->elector->acquire();
  const Error lost = co_await process->elector->hold();
  if (process->plan.leads_on) co_return;
  end_process(process);
}

LinkDeps SimCluster::manager_link(const Process& process,
                                  std::shared_ptr<const LinkFaults> faults) {
  return LinkDeps{around_.world,
                  around_.network,
                  *server_,
                  name_,
                  "manager",
                  process.author,
                  "",
                  std::move(faults),
                  process.gate,
                  &around_.history,
                  &around_.tampering};
}

Log SimCluster::log_of(const Author& author) {
  if (around_.log_of != name_) return Log();
  return Log(std::make_shared<HistoryLog>(around_.history, author.identity), "manager");
}

void SimCluster::start_manager(std::size_t slot, ManagerPlan plan) {
  if (processes_.size() <= slot) processes_.resize(slot + 1);
  const Author author{Role::manager, name_, name_ + "#" + std::to_string(++starts_)};
  around_.history.process_started(author);
  auto process = std::make_unique<Process>(around_, clock_offset_, author);
  Rng& rng = around_.world.rng;
  process->plan = std::move(plan);
  process->usual_link = own_link;
  process->link = process->plan.deaf ? std::make_shared<LinkFaults>(*own_link) : own_link;
  process->sender = std::make_unique<LinkSender>(manager_link(*process, process->link));
  kube::ClientDeps deps = client_deps(process->clock, rng, *process->sender, "manager");
  deps.config.timeout = std::chrono::seconds(10);
  const bool gated =
      process->plan.election && !process->plan.leads_on && !process->plan.leads_at_once;
  if (gated) deps.config.write_gate = &process->leadership;
  process->client = std::make_unique<kube::Client>(std::move(deps));
  if (process->plan.election) {
    process->plan.election->identity = author.identity;
    process->lease_sender = std::make_unique<LinkSender>(manager_link(*process, own_link));
    process->lease_client = std::make_unique<kube::Client>(
        client_deps(process->clock, rng, *process->lease_sender, "manager"));
    process->elector =
        std::make_unique<kube::LeaderElector>(*process->lease_client, process->clock, rng, Log(),
                                              *process->plan.election, process->leadership);
  }
  manager::CoreDeps core{*process->client, process->connector, process->clock, rng,
                         process->scope,   log_of(author)};
  if (gated) core.write_gate = &process->leadership;
  process->core = std::make_unique<manager::Core>(core, process->plan.core);
  process->main.spawn("manager", run_manager(process.get()));
  processes_[slot] = std::move(process);
}

void SimCluster::crash_manager(std::size_t slot) {
  if (processes_.size() <= slot || !processes_[slot]) return;
  Process& process = *processes_[slot];
  process.main.stop();
  process.scope.stop();
  around_.world.settle();
  around_.history.process_ended(process.author);
  processes_[slot].reset();
}

void SimCluster::crash_all() {
  for (std::size_t slot = 0; slot < processes_.size(); ++slot) crash_manager(slot);
}

bool SimCluster::manager_alive(std::size_t slot) const {
  return processes_.size() > slot && processes_[slot] != nullptr;
}

bool SimCluster::manager_ended(std::size_t slot) const {
  return manager_alive(slot) && processes_[slot]->ended;
}

void SimCluster::pause(std::size_t slot) {
  if (!manager_alive(slot)) return;
  around_.history.process_paused(processes_[slot]->author);
  processes_[slot]->gate->close();
}

void SimCluster::resume(std::size_t slot) {
  if (!manager_alive(slot)) return;
  around_.history.process_resumed(processes_[slot]->author);
  processes_[slot]->gate->open();
}

manager::Core* SimCluster::core() {
  for (const auto& process : processes_) {
    if (process && process->leads && !process->ended) return process->core.get();
  }
  return nullptr;
}

}  // namespace regatta::simtest
