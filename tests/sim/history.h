#pragma once

#include "lab/apiserver/store.h"
#include "lib/net/http.h"
#include "lib/sim/world.h"
#include "tests/sim/kinds.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// Everything that happened, as an observer outside sees it: what the stores hold, which process
/// sent what, how the links were. Invariants draw their conclusions from it alone.
namespace regatta::simtest {

struct LinkFaults;

enum class Role {
  user,        ///< a person or a script, also one that does harm
  machinery,   ///< garbage collection, Job controller
  manager,     ///< a manager at its own cluster
  dispatcher,  ///< a hub's manager at a worker
};

struct Author {
  Role role = Role::user;
  std::string cluster;   ///< of the process
  std::string identity;  ///< of the process; each start has another one
  std::string text() const;
};

enum class Resource { workloads, jobs, leases, other };

/// A change in one store.
struct Changed {
  SteadyPoint at;
  std::string cluster;
  Resource kind = Resource::other;
  std::string resource;  ///< "workloads.kueue.x-k8s.io"
  apiserver::ChangeType type{};
  const apiserver::Stored* object = nullptr;
  const apiserver::Stored* previous = nullptr;  ///< null for added
  Author author;
};

struct Sent {
  SteadyPoint at;
  Author author;
  std::string to;  ///< cluster
  const net::HttpRequest* request = nullptr;
};

/// A time during which a Job of a hub was unsuspended on a worker.
struct Run {
  std::string hub, workload, worker, uid;
  SteadyPoint recorded;  ///< when that worker was recorded for the workload, at the latest
  SteadyPoint created, began;
  bool late = false;  ///< its Job was created by a process that led no longer
  enum class End { none, ended, stopped, removed } end = End::none;
  SteadyPoint over;
  std::string outcome;  ///< Complete or Failed when it ended
};

/// Something that may be a reason to stop a Job.
struct Fact {
  SteadyPoint at;
  std::string what;
  std::string cluster;  ///< empty: all
  /// What follows from it may take several steps: it is a reason for any number of runs.
  bool lasting = false;
  std::set<std::string> spares;  ///< keys of records: it is no reason to stop these
};

/// By Workload: the facts that have been the reason to end a run of it.
using UsedFacts = std::set<std::pair<std::string, const Fact*>>;

/// One Workload of a hub, or all those of an elastic Job, which are its sizes.
struct Record {
  std::string job, job_uid;       ///< the hub's Job: its title and uid
  std::string cluster, previous;  ///< recorded last, and before that
  SteadyPoint since{};
  bool by_second_name = false;  ///< it was, and may be gone while the worker is there
  std::string latest;          ///< "namespace/name" of the Workload that `cluster` was recorded for
  std::set<std::string> ever;  ///< clusters that were recorded
  std::deque<Fact> facts;      ///< which stay where they are
  std::vector<Run> runs;
};

class History {
 public:
  History(sim::World& world, bool keep_text);

  // --- told by the simulation

  void follow(const std::string& cluster, apiserver::Store& store, bool hub);
  void follow_link(const std::string& hub, const std::string& worker,
                   std::shared_ptr<const LinkFaults> faults);
  void begin_writes(const Author* author) { author_ = author; }
  void end_writes(const Author* author);
  void sent(const Author& author, const std::string& to, const net::HttpRequest& request);
  void process_started(const Author& process);
  void process_leads(const Author& process);
  void process_leads_no_longer(const Author& process);
  void process_ended(const Author& process);
  void process_paused(const Author& process);
  void process_resumed(const Author& process);
  /// Something that no store shows: "b goes back to an older state".
  void note(const std::string& what);
  /// A reason to stop Jobs of that hub, on one worker or on all.
  void excuse(const std::string& hub, const std::string& what, const std::string& cluster = "");
  /// From now on the worker answers 401 to what the hub sends with that token.
  void refuse(const std::string& hub, const std::string& worker, const std::string& token);
  /// A write to that cluster takes longer than its sender waits.
  void is_late(const std::string& cluster, const std::string& target);
  void is_there(const std::string& cluster, const std::string& target);
  /// An object of that cluster can no longer be decoded by its managers, or can again.
  void becomes_unreadable(const std::string& cluster, const api::ObjectKey& key);
  void becomes_readable(const std::string& cluster, const api::ObjectKey& key);
  /// The cluster's store has gone back to an older state.
  void went_back(const std::string& cluster);
  /// After each step.
  void look();

  // --- asked by invariants

  /// Whether a late write to that path, or to one below it, is still on its way.
  bool awaits_write(const std::string& cluster, const std::string& path) const;
  SteadyPoint now() const { return world_.steady(); }
  const std::vector<std::string>& hubs() const { return hubs_; }
  const std::vector<std::string>& workers() const { return workers_; }
  apiserver::Store& store(const std::string& cluster) const { return *stores_.at(cluster); }
  /// Calls visit(job) for each job of any kind in that cluster, by kind and name.
  template <class Visit>
  void each_job(const std::string& cluster, const Visit& visit) const {
    for (const KindOfJob& kind : kinds_of_jobs()) {
      const apiserver::Shelf* shelf = store(cluster).find_shelf(kind.shelf);
      if (!shelf) continue;
      for (const auto& [key, job] : shelf->objects()) visit(job);
    }
  }
  /// The name of the record that has that Workload ("namespace/name"): its own, or that of the
  /// first one of its elastic Job.
  const std::string& record_of(const std::string& hub, const std::string& workload) const;
  /// Until when a Workload of that record was last one that a manager cannot decode, on any
  /// cluster; now while there is one.
  std::optional<SteadyPoint> unreadable_until(const std::string& hub,
                                              const std::string& record) const;
  /// By "namespace/name".
  const Record* record(const std::string& hub, const std::string& workload) const;
  const std::map<std::string, Record>& records(const std::string& hub) const;
  /// The keys of all records of the hub's Job with that uid.
  const std::set<std::string>& workloads_of_job(const std::string& hub,
                                                const std::string& uid) const;
  /// The hub whose manager created that object on a worker; empty when none did.
  std::string creator(const std::string& uid) const;
  /// Since when the hub has a MultiKueueCluster for the worker, and a kubeconfig with a token that
  /// the worker takes, and requests and watches pass without faults; nullopt: it is not so. Of the
  /// hub itself: its own API server.
  std::optional<SteadyPoint> sound_since(const std::string& hub, const std::string& worker) const;
  /// Until when a process of the hub that started meanwhile could not read the worker's
  /// MultiKueueCluster, and so had no way there; now while there is such a process. nullopt: that
  /// has not happened.
  std::optional<SteadyPoint> hidden_until(const std::string& hub, const std::string& worker) const;
  /// Since when it hears what happens there. Once a link was faulty, a watch may have fallen
  /// silent.
  std::optional<SteadyPoint> hears_since(const std::string& hub, const std::string& worker) const;
  /// The longest time between the two during which the hub had no dependable way to the worker.
  /// Short recoveries in between count too: backoffs outlast them.
  Duration cut_off(const std::string& hub, const std::string& worker, SteadyPoint from,
                   SteadyPoint to) const;
  bool refuses(const std::string& hub, const std::string& worker, const std::string& token) const;
  SteadyPoint started(const Author& process) const;
  /// The process has ended, and its own cluster was restored since it started: what it had sent
  /// there was lost when the server was stopped for that.
  bool was_cut_off(const Author& process) const;
  /// Since when it reaches that worker with the present kubeconfig: since its start, or since it
  /// has learned of that one from its own API server.
  SteadyPoint reaches_since(const Author& process, const std::string& worker) const;
  /// Or since when it runs, if it never led.
  SteadyPoint leads_since(const Author& process) const;
  /// Since when a manager of that cluster leads without a pause, no other one started, ended, was
  /// paused or went on, and all objects can be read; nullopt: it is not so.
  std::optional<SteadyPoint> at_work_since(const std::string& cluster) const;
  /// Since when the hub's MultiKueueConfig does not list the worker; nullopt: it does.
  std::optional<SteadyPoint> unlisted_since(const std::string& hub,
                                            const std::string& worker) const;
  /// Whether the cluster's store went back to an older state within the last so many milliseconds.
  bool restored_within(const std::string& cluster, Duration span) const;
  /// A reason in the history for which that run may be over, or empty. With `used`, each fact
  /// counts for one run of a Workload only, and is noted there.
  std::string reason_to_stop(const Run& run, Duration lost_after, UsedFacts* used = nullptr) const;

  // --- told to invariants

  std::function<void(const Changed&)> on_change;
  std::function<void(const Sent&)> on_sent;
  std::function<void(const Run&)> on_run_over;

  void violated(const std::string& what);
  const std::vector<std::string>& violations() const { return violations_; }
  const std::string& text() const { return text_; }
  int pods() const { return pods_; }  ///< that were made on workers

 private:
  void disturbed(const Author& process, const char* how);
  struct Link {
    std::shared_ptr<const LinkFaults> faults;
    bool configured = true;
    std::string kubeconfig;  ///< in its Secret, and since when
    SteadyPoint given{};
    std::optional<SteadyPoint> unlisted;
    bool hidden = false;  ///< see hidden_until()
    std::optional<SteadyPoint> hidden_until;
    bool sound = true;
    SteadyPoint since{};
    std::vector<std::pair<SteadyPoint, SteadyPoint>> cuts;  ///< those that are over
  };
  void change(const std::string& cluster, const std::string& resource,
              const apiserver::Change& change);
  void hub_workload(const Changed& c);
  void hub_job(const Changed& c);
  void hub_configuration(const Changed& c);
  void read_configuration();
  /// The keys of all records of admitted Workloads.
  std::set<std::string> admitted(const std::string& hub) const;
  /// The hub has the token that its Secret for the worker holds, or one that is as good: it learns
  /// of a new one from its own API server.
  bool knows_token(const std::string& hub, const std::string& worker) const;
  void read_runs(const std::string& worker);
  void read_records(const std::string& hub, std::map<std::string, Record>* records);
  void worker_workload(const Changed& c);
  void worker_job(const Changed& c);
  void begin_run(const Changed& c, const std::string& hub, const std::string& slice);
  /// Whether its job runs under another one of its Workloads than this one.
  bool has_moved_on(const std::string& hub, const std::string& workload) const;
  bool runs_as_another(const std::string& hub, const std::string& workload) const;
  void end_run(const std::string& uid, Run::End end, const std::string& outcome);
  void fact(const std::string& hub, const std::string& workload, std::string what,
            std::string cluster = "");
  void write(const Changed& c);

  sim::World& world_;
  bool keep_text_;
  const Author* author_ = nullptr;
  std::vector<std::string> hubs_, workers_;
  std::map<std::string, apiserver::Store*> stores_;
  std::map<std::pair<std::string, std::string>, Link> links_;
  std::map<std::pair<std::string, std::string>, std::set<std::string>> refused_;  ///< tokens
  std::map<std::string, std::multiset<std::string>> late_;  ///< targets, by cluster
  bool configuration_changed_ = false;
  std::map<std::string, std::map<std::string, Record>> records_;  ///< by hub and workload
  /// Of Workloads of elastic Jobs, by hub and name: the first one of their Job.
  std::map<std::pair<std::string, std::string>, std::string> first_;
  std::map<std::pair<std::string, std::string>, std::set<std::string>>
      of_job_;                                       ///< keys of records, by hub and uid of the Job
  std::map<std::string, std::deque<Fact>> excuses_;  ///< by hub
  std::map<std::string, std::string> creators_;      ///< hub, by uid
  std::map<std::string, SteadyPoint> created_;       ///< by uid of a worker's Job
  std::set<std::string> created_late_;               ///< uids, of a process that led no longer
  struct OpenRun {
    std::string hub, workload;
    std::size_t index;
  };
  std::map<std::string, OpenRun> open_;                 ///< by uid
  std::map<std::string, SteadyPoint> started_, leads_;  ///< by identity
  std::map<std::string, SteadyPoint> restored_, disturbed_;
  std::map<std::string, std::string> leader_;  ///< by cluster: the identity of its manager
  std::set<std::string> paused_, ended_;       ///< identities
  /// By cluster, and by the key of the object on any of them.
  std::map<std::string, int> unreadable_, unreadable_of_;
  std::map<std::string, SteadyPoint> unreadable_until_;  ///< by key
  std::vector<std::string> violations_;
  std::string text_;
  int pods_ = 0;
};

}  // namespace regatta::simtest
