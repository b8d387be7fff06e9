#pragma once

#include "clusters/connector.h"
#include "lab/apiserver/server.h"
#include "lab/cluster/garbage_collector.h"
#include "lab/cluster/job_controller.h"
#include "lib/kube/client.h"
#include "lib/kube/faulty_sender.h"
#include "lib/net/handler_sender.h"
#include "lib/sim/world.h"
#include "manager/core.h"

#include <map>
#include <memory>
#include <string>

namespace regatta::simtest {

/// A sender that owns the senders below it.
class LinkSender final : public net::HttpSender {
 public:
  LinkSender(Clock& clock, Rng& rng, net::HttpHandler& handler, std::string identity,
             std::shared_ptr<const kube::NetworkFaults> faults)
      : direct_(clock, handler, {std::move(identity), {"system:masters"}}),
        faulty_(direct_, clock, rng, std::move(faults)) {}
  Task<Result<net::HttpResponse>> send(net::HttpRequest request,
                                       net::SendOptions options) override {
    if (on_request) on_request(request);
    return faulty_.send(std::move(request), options);
  }

  /// Called for each request when it is sent, before any fault.
  std::function<void(const net::HttpRequest&)> on_request;

 private:
  net::HandlerSender direct_;
  kube::FaultySender faulty_;
};

/// Counts of requests by "user verb resource status-class", over a whole history.
using RequestCounts = std::map<std::string, std::uint64_t>;

/// One cluster: its API server, which never crashes, its simulated nodes, and its manager, which
/// does.
class SimCluster {
 public:
  SimCluster(sim::World& world, std::string name, bool runs_jobs);
  ~SimCluster();

  /// Applies CRDs and manifests through the API, as a user would.
  Task<> set_up(std::vector<Json> manifests);
  Task<> apply(Json object);
  void start_infrastructure();
  void stop_infrastructure();

  /// Starts the manager. Its requests pass through `own_link`.
  void start_manager(manager::CoreConfig config, clusters::Connector& connector);
  /// Starts a second manager that only fills its caches, and from then on hears nothing of what
  /// changes. There is at most one.
  void start_standby(manager::CoreConfig config, clusters::Connector& connector);
  void stop_standby();
  bool has_standby() const { return standby_ != nullptr; }
  bool standby_synced() const { return standby_ && standby_->core->synced(); }
  /// The standby becomes the manager; the former one must have ended.
  void promote_standby();
  /// Ends the manager at whatever point it is. Nothing that it was about to do happens.
  void crash_manager();
  bool manager_alive() const { return process_ != nullptr; }
  manager::Core* core() { return process_ ? process_->core.get() : nullptr; }

  const std::string& name() const { return name_; }
  apiserver::Server& server() { return *server_; }
  kube::Client& admin() { return *admin_; }

  std::shared_ptr<kube::NetworkFaults> own_link = std::make_shared<kube::NetworkFaults>();
  std::shared_ptr<kube::NetworkFaults> hub_link = std::make_shared<kube::NetworkFaults>();
  RequestCounts manager_requests;

 private:
  struct Process {
    explicit Process(Executor executor) : scope(executor) {}
    std::unique_ptr<LinkSender> sender;
    std::unique_ptr<kube::Client> client;
    std::unique_ptr<manager::Core> core;
    TaskScope scope;
  };
  static Task<> run_manager(manager::Core* core);
  static Task<> run_standby(manager::Core* core, std::shared_ptr<kube::NetworkFaults> link);
  std::unique_ptr<Process> make_process(manager::CoreConfig config, clusters::Connector& connector,
                                        std::shared_ptr<kube::NetworkFaults> link);

  sim::World& world_;
  std::string name_;
  bool runs_jobs_;
  std::shared_ptr<kube::NetworkFaults> no_faults_ = std::make_shared<kube::NetworkFaults>();
  std::unique_ptr<apiserver::Server> server_;
  std::unique_ptr<LinkSender> admin_sender_;
  std::unique_ptr<kube::Client> admin_;
  std::unique_ptr<lab::GarbageCollector> garbage_;
  std::unique_ptr<lab::JobController> nodes_;
  std::unique_ptr<Process> process_, standby_;
  std::shared_ptr<kube::NetworkFaults> standby_link_;
  TaskScope infrastructure_;
};

}  // namespace regatta::simtest
