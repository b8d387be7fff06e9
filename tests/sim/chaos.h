#pragma once

#include "tests/sim/cluster.h"
#include "tests/sim/scenario.h"

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace regatta::simtest {

struct ChaosDeps {
  Surroundings& around;
  const Scenario& scenario;
  std::vector<SimCluster*> hubs, workers;
  std::string ca;
  std::function<void(SimCluster*, std::size_t slot)> start;  ///< a manager of that cluster
  TaskScope& scope;
};

struct ChaosCounts {
  int crashes = 0, partitions = 0, actions = 0;
  Duration set_back{0};              ///< by how much clocks were set back, together
  std::map<std::string, int> deeds;  ///< how often each of all_deeds() was done
};

/// Everything that a Chaos may do, in words. Each is done in some world.
const std::vector<std::string>& all_deeds();

/// What goes wrong in a world: does the scenario's kinds of trouble at random moments until its
/// faults end, and then mends everything.
class Chaos {
 public:
  explicit Chaos(ChaosDeps deps);

  /// Links as they are when nothing is wrong.
  void mend_links();
  /// Spawns everything.
  void start();
  /// The time of faults is over, and all is mended.
  bool calm() const { return right_; }
  const ChaosCounts& counts() const { return counts_; }

 private:
  using Action = Task<> (Chaos::*)();
  struct Kind {
    Trouble trouble;
    int weight;
    Action action;
  };
  static const std::vector<Kind>& kinds();
  Task<> run();
  Task<> one(Action action);
  Task<> restart_server(SimCluster* worker);

  Task<> crash_hub();
  Task<> crash_worker();
  Task<> partition();
  Task<> noise();
  Task<> late();
  Task<> delete_job();
  Task<> recreate_job();
  Task<> vandalise();
  Task<> pause_hub();
  Task<> step_clock();
  Task<> restore_worker();
  Task<> restore_hub();
  Task<> deactivate();
  Task<> stop_queue();
  Task<> edit_job();
  Task<> resize_job(SimCluster* hub);
  Task<> scale_job();
  Task<> change_config();
  Task<> name_again();
  Task<> forget_name(SimCluster* hub, SimCluster* worker);
  Task<> lose_config(SimCluster* hub);
  Task<> swap_check();
  Task<> lose_check(SimCluster* hub);
  Task<> move_server();
  void move(SimCluster* worker);
  Task<> refuse_jobs();
  Task<> change_remote_job();
  Task<> foreign_job();
  Task<> deactivate_copy();
  Task<> compact_or_rotate();
  Task<> replace_token();
  Task<> newer_object();

  Task<> crash(SimCluster* cluster, std::size_t slot);
  Task<> restore(SimCluster* cluster, bool versions_go_on);
  Task<> make_all_known(SimCluster* cluster);
  Task<> make_known(SimCluster* cluster, api::ResourceInfo resource, api::ObjectKey key);
  Task<> supervise();
  Task<> nominate();
  Json nonsense_of_nominations();
  Task<> answer_other_checks();
  Task<> activate();
  Task<> perhaps_activate(SimCluster* hub, apiserver::StoredPtr workload);
  Task<> add_namespace();
  Task<> lose_worker();
  Task<> lie();
  Task<> one_lie(SimCluster* liar);
  Task<> claim_ends();
  Task<> claim_an_end(SimCluster* liar, SimCluster* hub, apiserver::StoredPtr workload);
  Task<> keep();
  Task<> keep_job(SimCluster* liar, SimCluster* hub, apiserver::StoredPtr workload, bool copy);
  Task<> make_up_copies(SimCluster* liar, SimCluster* hub);
  Task<> repent(SimCluster* liar);
  Task<> remove_forged_jobs(SimCluster* liar);
  Task<> set_right();
  Task<> write_secret(SimCluster* hub, SimCluster* worker);
  Task<> list_clusters(SimCluster* hub);

  Rng& rng() { return rng_; }
  void did(const char* what);
  bool has(Trouble trouble) const { return deps_.scenario.has(trouble); }
  Duration some(std::int64_t low, std::int64_t high) { return Duration(rng_.between(low, high)); }
  Task<> wait(std::int64_t low, std::int64_t high);
  SimCluster* any_worker();
  SimCluster* any_hub();
  std::size_t any_slot();
  /// A random object of that resource; null when there is none.
  apiserver::StoredPtr any_object(SimCluster* cluster, const char* resource);
  /// The same for the jobs of all kinds.
  apiserver::StoredPtr any_job(SimCluster* cluster);
  apiserver::StoredPtr job_with_a_late_write(SimCluster* hub) const;
  apiserver::StoredPtr last_ended(SimCluster* hub) const;
  std::vector<apiserver::StoredPtr> jobs_of(SimCluster* cluster) const;
  /// The job as its user submits it once more.
  Json submitted_again(const apiserver::Stored& job) const;

  ChaosDeps deps_;
  Rng rng_;
  ChaosCounts counts_;
  int under_way_ = 0;
  bool over_ = false, right_ = false;
  std::map<std::string, int> generations_;        ///< of kubeconfigs, by hub and worker
  std::map<std::string, std::string> addresses_;  ///< by worker
  std::map<std::string, std::multiset<std::string>> unlisted_;  ///< by hub
  std::set<std::string> named_again_;                           ///< workers, by hub and worker
  std::string lost_;                                            ///< the worker that is away
  std::set<std::string> busy_;  ///< what is being changed and will be put back
};

}  // namespace regatta::simtest
