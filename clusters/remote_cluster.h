#pragma once

#include "clusters/connector.h"
#include "clusters/job_store.h"
#include "clusters/remote_queues.h"
#include "lib/api/kueue.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/rng.h"
#include "lib/base/smoothed.h"
#include "lib/kube/client.h"
#include "lib/kube/informer.h"
#include "lib/runtime/task_scope.h"
#include "lib/runtime/wakeup.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace regatta::clusters {

class RemoteCluster;

/// The other workers of the hub.
class Siblings {
 public:
  virtual ~Siblings() = default;
  /// There is a MultiKueueCluster of that name, or one that cannot be decoded.
  virtual bool may_exist(const std::string& cluster) const = 0;
  /// Null while there is none. Valid until the fleet changes.
  virtual const RemoteCluster* connection_of(const std::string& cluster) const = 0;
};

struct RemoteClusterDeps {
  Clock& clock;
  Rng& rng;
  Executor executor;
  Log log;
  std::string origin;    ///< value of the origin label, which all watched objects have
  jobs::JobKinds kinds;  ///< the kinds that are dispatched
  /// Called for each request to the worker; may be null.
  std::function<void(const std::string& cluster, const kube::RequestSeen&)> observer;
  kube::ListLimits limits;                    ///< of what it has
  const net::SendGate* write_gate = nullptr;  ///< asked before each write; null: they may leave
  /// What copies share with the hub's objects and with one another; null: nothing.
  api::TemplatePool* templates = nullptr;
  const Siblings* siblings = nullptr;  ///< null: there are none. Outlives the connection.
  /// LocalCluster::uid(), with which this hub marks what it makes; null: it marks nothing.
  std::function<std::string()> hub_uid;
};

/// A live connection to one worker: our Workloads and Jobs there, kept up to date by watches that
/// resume where they stopped, and the client that writes to the worker. Reads never cost a request.
/// A kind of which the worker has no job of ours is not watched, only listed now and then, until
/// one is expected there (JobStore::rouse()).
class RemoteCluster : public std::enable_shared_from_this<RemoteCluster> {
 public:
  RemoteCluster(RemoteClusterDeps deps, std::string name, WorkerConnection connection);

  /// Handlers, to be set before start(): a Workload changed, by its key on the hub; readiness
  /// changed, or what kinds can be followed.
  std::function<void(const api::ObjectKey& workload)> on_workload;
  /// A job that is elastic, or was, changed; jobs that cannot be decoded appeared or went.
  std::function<void(const jobs::JobId& job)> on_elastic;
  std::function<void()> on_unreadable_jobs;
  std::function<void()> on_ready_change;
  /// Its queues changed. ClusterQueues that changed are named; empty: any of them.
  std::function<void(const std::string& cluster_queue)> on_queues;

  /// Spawns the watches; they hold this object alive until they end.
  void start(TaskScope& scope);
  /// Ends the watches. Idempotent.
  void stop();

  /// Watches the worker's queues from now on, besides. Idempotent; after start().
  void follow_queues();
  /// Null before follow_queues().
  const RemoteQueues* queues() const { return queues_.get(); }

  /// Takes other credentials for the same API server. Requests use them from now on; watches that
  /// are open continue until they end by themselves.
  void replace(WorkerConnection connection);

  /// Closes connections that had no request for a while.
  void close_idle();

  /// All watches of the worker are synced and healthy, and no request to it is unanswered. Kinds of
  /// jobs that are withdrawn aside: see lost_since().
  bool ready() const;
  /// Since when jobs of the kind can no longer be followed, by the wall clock; nullopt while they
  /// can, or no kind can. What the caches have of them may be out of date, and what depends on it
  /// is to be treated as on a worker that is lost. See JobStore::withdrawn().
  std::optional<TimePoint> lost_since(const jobs::JobKind& kind) const;
  /// How many kinds were withdrawn, or came back, since start(). While it stays the same, so do
  /// they.
  std::uint64_t withdrawals() const { return withdrawals_; }
  /// Why the worker is not ready, as far as known.
  std::optional<Error> problem() const;
  /// The kinds of jobs that its API does not serve, or no longer: "jobsets.jobset.x-k8s.io".
  std::vector<std::string> unserved() const;
  /// Failed attempts in a row to watch the worker (0 while it works), and when the next one comes.
  int failures() const;
  TimePoint next_attempt() const;

  /// How long it usually takes to answer, lists aside; nullopt before it answered anything.
  std::optional<Duration> latency() const { return answers_after_.value(); }

  /// When the worker last said anything about its Workloads and Jobs, whichever is longer ago.
  std::optional<TimePoint> heard() const;

  /// Reports how a request failed. An answer, whatever it says, is a sign of life; without one the
  /// worker is suspected.
  void note(const Error& error);
  /// A request had no answer for a while. The worker is asked something that is cheap to answer,
  /// and is not ready from the moment when that fails, or is met with silence twice, until it
  /// answers again.
  void suspect();

  const std::string& name() const { return name_; }
  const Siblings* siblings() const { return deps_.siblings; }
  const std::string& server() const { return server_; }

 private:
  class Link;
  RemoteClusterDeps deps_;
  std::string name_;
  std::string server_;
  std::shared_ptr<Link> link_;
  std::unique_ptr<RemoteQueues> queues_;

 public:
  kube::Client client;
  kube::Informer<api::Workload> workloads;
  JobStore jobs;

  /// Reads the copy of a Workload, and the objects of its job if there is to be one, as far as the
  /// caches lack them, and tells the caches what the worker has.
  Task<Status> confirm(api::ObjectKey workload, std::vector<jobs::JobId> objects);
  /// Reads these objects of a job although the cache has them: its watch may have fallen silent.
  Task<Status> read_anew(std::vector<jobs::JobId> objects);
  /// The worker has answered read_anew() with this very version.
  bool was_read(const jobs::GenericJob& job) const;

  /// Objects that we deleted and that the watch still shows. They count as gone for a short while
  /// only. An object that is still shown after it exists, or the watch has fallen silent.
  bool removing_workload(const api::Workload& workload) const;
  /// For how long yet; zero when it does not count as gone.
  Duration removing_job_for(const jobs::GenericJob& job) const;
  bool removing_job(const jobs::GenericJob& job) const {
    return removing_job_for(job) > Duration(0);
  }
  void removed_workload(const api::Workload& workload);
  /// The worker is asked to delete this object now. A request without an answer may arrive much
  /// later, so that nothing may be founded on the object from now on until it is gone.
  void removal_begins(const api::Workload& workload);
  bool removal_begun(const api::Workload& workload) const;
  void removed_job(const jobs::GenericJob& job);
  /// The worker is asked to delete this job now. Since when it was asked for the first time, on the
  /// clock of the API; nullopt when it was not.
  void job_removal_begins(const jobs::GenericJob& job);
  std::optional<TimePoint> job_removal_asked(const jobs::GenericJob& job) const;

 private:
  kube::InformerDeps informer_deps(const std::string& what);
  JobStoreDeps job_store_deps();
  kube::InformerOptions options() const;
  kube::ClientDeps client_deps();
  static Task<> run_for(std::shared_ptr<RemoteCluster> self, Task<> informer);
  static Task<> probe(std::shared_ptr<RemoteCluster> self);
  static Task<> recover(std::shared_ptr<RemoteCluster> self);
  static Task<> check_credentials(std::shared_ptr<RemoteCluster> self);
  Task<Status> ask();
  Task<> catch_up();
  Task<> catch_up_with(JobStore::Informer& informer, const jobs::JobKind& kind);
  Task<> wait_withdrawn(const jobs::JobKind& kind);
  void note_withdrawn();
  bool is_ours(const api::ObjectMeta& metadata) const;
  bool is_of_former_origin(const api::ObjectMeta& metadata) const;
  /// Reads one object that `cache` lacks and never saw go.
  template <class Cache, class Key, class Decode>
  Task<Status> confirm_in(Cache& cache, api::ResourceInfo resource, api::ObjectKey name, Key key,
                          Decode decode);
  /// Reads one object, and tells `cache`.
  template <class Cache, class Key, class Decode>
  Task<Status> read_into(Cache& cache, api::ResourceInfo resource, api::ObjectKey name, Key key,
                         Decode decode);
  Task<Result<bool>> answers();
  void doubt(const Error& error);
  Task<> wait_stopped();
  void health_changed();
  void queues_health_changed();

  bool stopped_ = false;
  bool suspected_ = false;           ///< a probe is under way
  std::optional<Error> unanswered_;  ///< how the last probe failed; set until one succeeds
  bool was_ready_ = false;
  bool was_connected_ = false;  ///< the watch of Workloads
  bool was_ever_connected_ = false;
  std::vector<std::string> were_unserved_;
  std::map<const jobs::JobKind*, SteadyPoint> withdrawn_;  ///< since when
  std::uint64_t withdrawals_ = 0;
  Smoothed answers_after_;
  bool was_withheld_ = false;
  TaskScope* scope_ = nullptr;
  /// By uid: until when the object counts as gone; in the past until the worker says that it is.
  std::map<std::string, SteadyPoint> removing_workloads_;
  struct JobRemoval {
    SteadyPoint asked{};                              ///< for the first time
    SteadyPoint believed_until = SteadyPoint::min();  ///< until when the job counts as gone
  };
  std::map<std::string, JobRemoval> job_removals_;  ///< by uid
  std::map<std::string, std::string> jobs_read_;    ///< resourceVersions that were read, by uid
  Wakeup stopping_;
  Wakeup health_news_;
};

/// Index of RemoteCluster::jobs: "namespace/name" of each Workload that it may run for.
inline constexpr const char* by_workload = "workload";
/// Copies of slices, by "namespace/name" of the slice that they replace there.
inline constexpr const char* by_replaced = "replaced";

}  // namespace regatta::clusters
