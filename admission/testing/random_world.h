#pragma once

/// Random quota trees and workloads, and a stand-in for the controllers around admission.

#include "admission/cycle.h"
#include "lib/base/rng.h"

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace regatta::admission::testing {

struct Draw {
  bool fair_sharing = false;
  bool preemption = true;
  bool unlimited = true;          ///< some quotas are unlimited
  bool partial_admission = true;  ///< some workloads may start smaller
  int resources = 0;              ///< one or two; 0: either
  int queues = 8;
  int workloads = 60;
};

struct Inputs {
  Config config;
  std::vector<api::ResourceFlavor> flavors;
  std::vector<api::Cohort> cohorts;
  std::vector<api::ClusterQueue> queues;
  std::vector<api::LocalQueue> local_queues;
  std::vector<api::Workload> workloads;
};

/// Draws Cohort trees of any depth with their own quotas, limits and weights, and ClusterQueues
/// below them or without Cohort, with one or two flavors of one or two resources.
Inputs draw_inputs(Rng* rng, const Draw& draw);

/// The seeds from 1 on of which a test tries `count`, see tries(); with REGATTA_SEED=<n>, that one
/// alone.
std::vector<std::uint64_t> seeds(std::uint64_t count);
/// REGATTA_SEED names one.
bool one_seed();

/// A State, its objects, and the controllers: decisions are read back; preempted workloads stop
/// some cycles later and wait again.
class Player {
 public:
  /// Gives the objects of each kind in an order that depends on `shuffle`.
  Player(const Inputs& inputs, std::uint64_t shuffle);

  State& state() { return state_; }
  const std::map<api::ObjectKey, api::Workload>& workloads() const { return workloads_; }
  TimePoint now() const { return now_; }

  /// How many cycles a preempted workload takes to stop.
  void set_grace(int cycles) { grace_ = cycles; }
  CycleResult cycle();
  void submit(const api::Workload& workload);
  /// The workload ends; it must hold quota or wait.
  void finish(const api::ObjectKey& key);
  std::vector<api::ObjectKey> running() const;
  /// The decisions of every cycle, one line each.
  const std::string& log() const { return log_; }

 private:
  struct Stopping {
    std::uint64_t at = 0;
    api::ObjectKey key;
  };

  void admit(const AdmittedWorkload& decision);
  void evict(const PreemptedWorkload& decision);
  void stop_evicted();
  void write_log(const CycleResult& result);

  State state_;
  std::map<api::ObjectKey, api::Workload> workloads_;
  TimePoint now_;
  int grace_ = 0;
  std::uint64_t cycles_ = 0;
  std::deque<Stopping> stopping_;
  std::string log_;
};

}  // namespace regatta::admission::testing
