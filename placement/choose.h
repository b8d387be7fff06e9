#pragma once

#include "lib/base/clock.h"
#include "placement/nominate.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regatta::placement {

/// A MultiKueueCluster as decisions may name it.
struct Member {
  std::string name;
  std::string managed_cluster;  ///< by annotation; empty: there is none
  std::string profile;          ///< the name of its ClusterProfile; empty: there is none
};

/// The MultiKueueClusters that decisions name, in their order. An annotation goes before the name
/// of a ClusterProfile, that before the MultiKueueCluster's own name. `unknown` gets the names that
/// lead to none.
std::vector<std::string> members_named(const std::vector<std::string>& decided,
                                       const std::vector<Member>& members,
                                       std::vector<std::string>* unknown);

struct ChooseConfig {
  std::size_t at_once = nominated_max;  ///< clusters for a workload at a time
  Duration round = std::chrono::minutes(5);
};

struct ChooseInput {
  std::vector<std::string> decided;  ///< MultiKueueClusters, best first
  std::set<std::string> listed;      ///< clusters of the MultiKueueConfig
  std::set<std::string> connected;   ///< of those
  std::set<std::string> full;        ///< enough workloads are on their way there
  std::vector<std::string> nominated;
  TimePoint quota_reserved_at{};  ///< the first round starts here
};

struct Chosen {
  /// What status.nominatedClusterNames should be; the input's when it may stay.
  std::vector<std::string> clusters;
  std::optional<Duration> look_again;  ///< when the next round begins
  /// Clusters that it would be nominated for if they had room in the ledger.
  std::vector<std::string> waits_for;
  /// Why a decided cluster is not nominated, in the decision's order.
  std::vector<std::string> why_not;
};

/// The nominations of a workload that holds quota and has no cluster yet, as a Placement decided.
///
/// Up to `at_once` clusters are nominated. When more are decided, the next ones replace them after
/// each round, and after the last the first come again. Which round it is follows from the time of
/// the reservation, so a restart changes nothing.
///
/// When a decision changes, the workload's nominations follow as soon as one of the new clusters
/// may take it; until then it keeps those it has. A cluster that it is nominated for already is
/// kept whether it is full or has lost its connection.
Chosen choose(const ChooseInput& input, TimePoint now, const ChooseConfig& config);

}  // namespace regatta::placement
