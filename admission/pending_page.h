#pragma once

/// Pages of the waiting workloads of one queue, in the order in which they would be admitted.
///
/// A page takes time linear in the number of waiting workloads, and only the page itself is sorted:
/// a ClusterQueue may hold 100,000 of them.

#include "admission/status_reader.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace regatta::admission {

/// A workload that has no quota yet, and its places in both orders, from 0. As long as a cycle has
/// taken it out, it keeps its place.
struct PendingPlace {
  WorkloadId id = no_id;
  std::size_t in_cluster_queue = 0;
  std::size_t in_local_queue = 0;
};

struct PageRequest {
  std::size_t offset = 0;
  std::size_t limit = 0;
};

/// `comparisons`, if given, gets the number of comparisons that were made.
std::vector<PendingPlace> page_of(const StatusReader& reader, const QueueInfo& queue,
                                  PageRequest request, std::size_t* comparisons = nullptr);
/// The same for the workloads of one LocalQueue.
std::vector<PendingPlace> page_of(const StatusReader& reader, const QueueInfo& queue,
                                  LocalQueueId local, PageRequest request,
                                  std::size_t* comparisons = nullptr);

}  // namespace regatta::admission
