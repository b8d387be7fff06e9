#pragma once

/// What admission keeps of a ClusterQueue and of a LocalQueue. QueueBook owns both; each book
/// (books.h) writes the part that is its own.

#include "admission/queues.h"
#include "admission/usage_history.h"
#include "admission/victim_order.h"
#include "admission/workload.h"
#include "lib/api/kueue.h"
#include "lib/api/labels.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regatta::admission {

struct QueueInfo {
  struct Group {
    std::vector<ResourceId> resources;
    std::vector<FlavorId> flavors;  ///< in order of preference
  };

  QueueInfo(std::string name, WorkloadTable* table) : name(std::move(name)), pending(table) {}

  // Written by QueueBook
  std::string name;
  QueueId id = no_id;
  NodeId node = no_node;
  bool deleting = false;
  bool active = false;
  bool topology_only = false;  ///< every flavor has a topology: it is implied for all pods
  api::ClusterQueueSpec spec;
  std::optional<api::Selector> namespaces;  ///< absent: none
  std::vector<Group> groups;
  std::vector<FrId> frs;  ///< pairs for which it has quota, sorted

  // Written by PendingBook
  PendingQueue pending;
  std::uint32_t rank =
      0;               ///< place among all ClusterQueues by name; see PendingBook::rank_queues()
  bool ready = false;  ///< active, and a workload waits

  // Written by UsageBook
  std::vector<WorkloadId> reserved;  ///< unordered; see WorkloadEntry::position
  VictimOrder victims;               ///< the same, in the order of preemption
  std::size_t admitted = 0;

  const Group* group_of(ResourceId resource) const;
};

struct LocalQueueInfo {
  // Written by QueueBook
  api::ObjectKey key;
  bool exists = false;
  api::LocalQueueSpec spec;
  QueueId queue = no_id;         ///< the ClusterQueue; no_id when it does not exist
  std::set<WorkloadId> members;  ///< its workloads that could be queued or hold quota

  // Written by PendingBook
  std::size_t pending = 0;

  // Written by UsageBook
  std::size_t reserving = 0;
  std::size_t admitted = 0;

  // Written by HistoryBook
  UsageHistory history;  ///< with admission fair sharing
  Consumption in_use;    ///< the same: what its admitted workloads hold
};

}  // namespace regatta::admission
