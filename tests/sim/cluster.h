#pragma once

#include "clusters/connector.h"
#include "lab/apiserver/server.h"
#include "lab/cluster/garbage_collector.h"
#include "lab/cluster/job_controller.h"
#include "lab/cluster/kind_operator.h"
#include "lib/kube/client.h"
#include "lib/kube/lease.h"
#include "manager/core.h"
#include "tests/sim/network.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regatta::simtest {

class SimCluster;

/// What all clusters of a federation share.
struct Surroundings {
  sim::World& world;
  TaskScope& network;
  History& history;
  Tampering tampering;
  std::map<std::string, SimCluster*> hosts;  ///< by host name, as kubeconfigs say it
  bool job_kinds = false;                    ///< servers and nodes have all kinds of kinds.h
  bool pods = false;                         ///< nodes run Pods for Jobs
  bool newer_objects = false;                ///< conditions may have any status
  std::string log_of;  ///< cluster whose managers write their log into the history; or empty
};

/// How the process of a manager behaves, besides its core.
struct ManagerPlan {
  manager::CoreConfig core;
  /// Unset: the only manager of its cluster.
  std::optional<kube::LeaderElectionOptions> election;
  bool deaf = false;           ///< its watches fall silent once its caches are full
  bool leads_at_once = false;  ///< broken: does not wait for the Lease
  bool leads_on = false;       ///< broken: goes on after the Lease is lost
  bool old_caches = false;     ///< broken: acts on what it saw before it led
  bool old_tokens = false;     ///< broken: goes on with the first token for each server
};

/// One cluster: its API server, which never crashes, its simulated nodes, and its managers, which
/// do.
class SimCluster {
 public:
  SimCluster(Surroundings& around, std::string name, bool runs_jobs, Duration clock_offset);
  ~SimCluster();

  /// Applies manifests through the API, as a user would. The CRDs are there.
  Task<> set_up(std::vector<Json> manifests);
  Task<> apply(Json object);
  /// A user's merge patch; failures do not matter.
  Task<> edit(api::ResourceInfo resource, api::ObjectKey key, Json patch, bool status = false);
  Task<> remove(api::ResourceInfo resource, api::ObjectKey key);
  void start_infrastructure();
  void stop_infrastructure();
  void restart_infrastructure();

  /// Starts a manager. Its requests to its own cluster pass through `own_link`.
  void start_manager(std::size_t slot, ManagerPlan plan);
  /// Ends the manager at whatever point it is. Nothing that it was about to do happens.
  void crash_manager(std::size_t slot = 0);
  void crash_all();
  bool manager_alive(std::size_t slot = 0) const;
  /// It ended by itself, since it lost the Lease.
  bool manager_ended(std::size_t slot) const;
  void pause(std::size_t slot);
  void resume(std::size_t slot);
  /// The core of the manager that leads; null when none does.
  manager::Core* core();

  /// The link from that hub to this worker.
  LinkFaults& link_from(const std::string& hub) { return *shared_link(hub); }
  std::shared_ptr<LinkFaults> shared_link(const std::string& hub);

  const std::string& name() const { return name_; }
  apiserver::Server& server() { return *server_; }
  kube::Client& admin() { return *admin_; }
  void step_clock(Duration by) { *clock_offset_ += by; }

  std::shared_ptr<LinkFaults> own_link = std::make_shared<LinkFaults>();

 private:
  struct Process;
  class Connector;
  void start_operators();
  LinkDeps link_deps(Role role, const std::string& user);
  LinkDeps manager_link(const Process& process, std::shared_ptr<const LinkFaults> faults);
  Log log_of(const Author& author);
  Task<> run_manager(Process* process);
  Task<> take_over(Process* process);
  void end_process(Process* process);

  Surroundings& around_;
  std::string name_;
  bool runs_jobs_;
  std::shared_ptr<Duration> clock_offset_;
  MachineClock clock_;
  int starts_ = 0;
  std::shared_ptr<LinkFaults> no_faults_ = std::make_shared<LinkFaults>();
  std::map<std::string, std::shared_ptr<LinkFaults>> links_;  ///< by hub
  std::unique_ptr<apiserver::Server> server_;
  std::unique_ptr<LinkSender> admin_sender_, machinery_sender_;
  std::unique_ptr<kube::Client> admin_, machinery_;
  std::unique_ptr<lab::GarbageCollector> garbage_;
  std::unique_ptr<lab::JobController> nodes_;
  std::vector<std::unique_ptr<lab::KindOperator>> operators_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::unique_ptr<TaskScope> infrastructure_;
};

}  // namespace regatta::simtest
