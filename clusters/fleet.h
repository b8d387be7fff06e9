#pragma once

#include "clusters/connector.h"
#include "clusters/holders.h"
#include "clusters/local_cluster.h"
#include "clusters/losses.h"
#include "clusters/notice.h"
#include "clusters/remote_cluster.h"
#include "lib/api/cluster_profile.h"
#include "lib/runtime/work_queue.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

namespace regatta::clusters {

/// What ClusterProfiles are read with.
struct ProfileSource {
  kube::InformerDeps informer;
  std::vector<api::ExecPlugin> plugins;  ///< in order of preference
};

/// Keeps a live connection to the worker of every MultiKueueCluster of the hub, and writes its
/// Active condition. Each worker has its own connection, watches and backoff: a worker that hangs,
/// refuses or lacks a kind delays no other.
class Fleet : public Siblings {
 public:
  /// Without `profiles` no ClusterProfile is read.
  Fleet(LocalCluster& local, Connector& connector, TaskScope& scope, RemoteClusterDeps deps,
        std::optional<ProfileSource> profiles = std::nullopt);

  /// Starts following the MultiKueueCluster objects. The informers must have synced.
  void start();

  struct Member {
    std::shared_ptr<RemoteCluster> remote;  ///< null while there is no usable configuration
    std::optional<TimePoint> lost_since;    ///< set while not ready; see lost_for()
    Losses lost_before;                     ///< those that the present one follows closely
    std::optional<ConnectFailure> failure;  ///< why `remote` is null
    std::string kubeconfig_digest;
    /// By the condition's type; nullopt: it no longer holds.
    std::map<std::string, std::optional<Notice>> notices;
    SteadyPoint lost_at{};    ///< when the last loss began, or was first seen by this process
    Duration lost_earlier{};  ///< what of it was before that, as the Active condition tells
    SteadyPoint ready_at{};   ///< when it ended
    bool was_ready = false;   ///< as on_connection() was told last
    bool heard = false;       ///< it was ready once
    /// It was not ready for a moment since then.
    bool wavered = false;
    std::vector<std::string> unserved;  ///< kinds of jobs that its API does not serve; likewise
    std::uint64_t withdrawals = 0;      ///< of `remote`; likewise
    bool ready() const { return remote && remote->ready(); }
    /// Ready, and what is known of jobs of that kind there is not out of date.
    bool follows(const jobs::JobKind& kind) const { return ready() && !remote->lost_since(kind); }
    /// For how long it is lost by now. The wall clock may have been set meanwhile, the span is
    /// right.
    std::optional<Duration> lost_for(const Clock& clock) const;
    /// The time of the wall clock that is so long ago. For what was sent there at that time:
    /// earlier, if it was lost since then already.
    std::optional<TimePoint> lost_since_for(TimePoint sent, const Clock& clock) const;
  };
  /// Null when there is no such MultiKueueCluster.
  const Member* find(const std::string& cluster) const;
  /// It may not be a member yet.
  bool may_exist(const std::string& cluster) const override;
  const RemoteCluster* connection_of(const std::string& cluster) const override;
  const std::map<std::string, Member>& members() const { return members_; }
  /// Every worker was ready once since start(), and none is a MultiKueueCluster that cannot be
  /// decoded. Once true, it stays so.
  bool heard_all() const;
  const Holders& holders() const { return holders_; }

  /// Called when the copy or the job of that Workload changed on that worker.
  void on_workload(std::function<void(const std::string& cluster, const api::ObjectKey&)> handler) {
    workload_handlers_.push_back(std::move(handler));
  }
  /// Called when an elastic job came to a worker or went there: any of its sizes may be on the hub.
  void on_elastic(std::function<void(const jobs::JobId&)> handler) {
    elastic_handlers_.push_back(std::move(handler));
  }
  /// Called when a connected worker got other credentials; its watches go on.
  void on_credentials(std::function<void(const std::string& cluster)> handler) {
    credentials_handlers_.push_back(std::move(handler));
  }
  /// Called when a worker became ready, was lost, or is gone: all its workloads should be looked
  /// at.
  void on_connection(std::function<void(const std::string& cluster)> handler) {
    connection_handlers_.push_back(std::move(handler));
  }
  /// How many times that was called. While it stays the same, so do `was_ready` of all members and
  /// `unserved` of those that are ready.
  std::uint64_t changes() const { return changes_; }
  /// Watches the queues of every worker from now on. Idempotent.
  void follow_queues();
  /// Called when queues of a worker changed: that ClusterQueue, or, for an empty name, any.
  void on_queues(
      std::function<void(const std::string& cluster, const std::string& cluster_queue)> handler) {
    queue_handlers_.push_back(std::move(handler));
  }
  /// Writes that condition into the MultiKueueCluster: True with an event, or, for nullopt, False
  /// if it was ever written.
  void tell(const std::string& cluster, std::string_view type, std::optional<Notice> notice);
  bool told(const std::string& cluster, std::string_view type) const;
  bool idle() const { return queue_.idle(); }

 private:
  Task<> work();
  Task<> close_idle_connections();
  Task<Status> reconcile(std::string name);
  void connect(Member* member, const std::string& name, const api::MultiKueueCluster& cluster);
  void connect_by_profile(Member* member, const std::string& name,
                          const api::MultiKueueCluster& cluster);
  std::variant<std::string, ConnectFailure> kubeconfig(const api::KubeConfigSource& source) const;
  std::optional<std::string> lacking_profile(const std::string& name) const;
  static bool is_news(Member* member, const std::string& digest);
  void refuse(Member* member, ConnectFailure failure);
  void follow_sources();
  void open(Member* member, const std::string& name,
            std::variant<WorkerConnection, ConnectFailure> opened);
  void disconnect(Member* member);
  void leave(RemoteCluster* remote);
  void connect_handlers(RemoteCluster* remote, const std::string& name);
  void update_loss(Member* member, const std::string& name);
  std::optional<api::Condition> condition(const Member& member,
                                          const api::MultiKueueCluster& cluster) const;
  std::string kinds_lacking(const RemoteCluster& remote) const;
  void announce(const std::string& name);
  bool write_notices(const Member& member, api::MultiKueueCluster* cluster) const;

  LocalCluster& local_;
  Connector& connector_;
  TaskScope& scope_;
  RemoteClusterDeps deps_;
  Log log_;
  std::map<std::string, Member> members_;
  /// A search in a tree of names that begin alike compares most of each again and again.
  std::unordered_map<std::string, const Member*> by_name_;
  Holders holders_;
  std::uint64_t changes_ = 0;
  mutable bool heard_all_ = false;
  std::vector<std::function<void(const std::string&, const api::ObjectKey&)>> workload_handlers_;
  std::vector<std::function<void(const jobs::JobId&)>> elastic_handlers_;
  std::vector<std::function<void(const std::string&)>> connection_handlers_, credentials_handlers_;
  std::vector<std::function<void(const std::string&, const std::string&)>> queue_handlers_;
  bool follows_queues_ = false;
  std::vector<api::ExecPlugin> plugins_;
  std::unique_ptr<kube::Informer<api::ClusterProfile>> profiles_;  ///< null: not to be read
  WorkQueue<std::string> queue_;
};

}  // namespace regatta::clusters
