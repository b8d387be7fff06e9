#pragma once

#include "tests/sim/cluster.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace regatta::simtest {

/// Checks the rules of the federation in the stores themselves, not in what components believe
/// about them. Called after every step.
class Checks {
 public:
  Checks(sim::World& world, SimCluster& hub, std::vector<SimCluster*> workers, bool keep_history);

  void step();
  /// The hub sends a request to that worker now.
  void requested(const SimCluster& cluster, const net::HttpRequest& request);
  /// Called when nothing happens any more: nothing of ours may be left anywhere.
  void at_rest();

  const std::vector<std::string>& violations() const { return violations_; }
  const std::string& history() const { return history_; }
  bool every_job_ended() const;
  bool workers_clean() const;
  bool queues_empty() const;
  int jobs_ended() const;

 private:
  struct Seen {
    SimCluster* cluster;
    std::string shelf;
    std::uint64_t next = 0;
    std::uint64_t forgotten = 0;
  };
  void change(SimCluster& cluster, const std::string& shelf, const apiserver::Change& change);
  void job_created(SimCluster& cluster, const Json& job);
  void job_requested(const SimCluster& cluster, const Json& job);
  void removal_requested(const SimCluster& cluster, const std::string& target);
  void cluster_name_kept(const Json& before, const Json& after);
  void quota_kept(SimCluster& cluster);
  std::string counted(SimCluster& cluster) const;
  void violated(std::string what);
  bool hub_sees(const SimCluster& worker);
  void record(const SimCluster& cluster, const std::string& shelf, const apiserver::Change& change);

  sim::World& world_;
  SimCluster& hub_;
  std::vector<SimCluster*> workers_;
  bool keep_history_;
  std::vector<Seen> seen_;
  std::vector<std::string> violations_;
  std::string history_;
};

}  // namespace regatta::simtest
