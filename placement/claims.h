#pragma once

#include "lib/api/object_map.h"
#include "placement/room.h"

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace regatta::placement {

/// What workloads of this hub will use on workers whose queues do not show it yet: those that are
/// nominated, and those whose quota the worker has written a moment ago. Without it all workloads
/// of one moment would go to the worker that had room before them.
///
/// It also counts the workloads of each worker until they are released. Only in memory: after a
/// restart the caller claims for every workload again.
class Claims {
 public:
  /// The workload may use that LocalQueue of these workers, and of no others. It keeps what is
  /// known of its copies there.
  void claim(const api::ObjectKey& key, const api::ObjectKey& local_queue,
             const std::vector<std::string>& clusters, const Amounts& asked);
  /// Its copy on that worker has no room: it waits there, and takes none from others.
  void waits(const api::ObjectKey& key, const std::string& cluster);
  /// Its copy has quota of that ClusterQueue since that resourceVersion of the worker. The first
  /// one counts.
  void reserved(const api::ObjectKey& key, const std::string& cluster,
                const std::string& cluster_queue, const std::string& version);
  /// The ClusterQueue has told its usage in that resourceVersion.
  void told(const std::string& cluster, const std::string& cluster_queue,
            const std::string& version);
  /// It has ended, or is evicted or gone.
  void release(const api::ObjectKey& key);
  void clear();

  /// What others than that workload will use, and do not use yet, through that LocalQueue.
  Amounts ahead(const std::string& cluster, const api::ObjectKey& local_queue,
                const api::ObjectKey& but) const;
  /// Calls `visit` with the LocalQueues of which ahead() may have something.
  template <class Visit>
  void for_each_queue(const std::string& cluster, Visit visit) const {
    const Sums* known = sums(cluster);
    if (!known) return;
    for (const auto& [queue, amounts] : known->ahead) visit(queue);
  }
  /// Whether that worker's queue tells a usage that includes the workload.
  bool shown(const std::string& cluster, const api::ObjectKey& key) const;
  /// Other workloads that are nominated for the worker, or were admitted there.
  int workloads(const std::string& cluster, const api::ObjectKey& but) const;

 private:
  enum class Stage { asks, waits, reserved, shown };
  struct Entry {
    Stage stage = Stage::asks;
    std::string cluster_queue;  ///< that gave it quota
    std::string version;
  };
  struct Claim {
    api::ObjectKey local_queue;
    Amounts asked;
    std::map<std::string, Entry> clusters;
  };
  static bool counts(Stage stage) { return stage == Stage::asks || stage == Stage::reserved; }
  Entry* find(const api::ObjectKey& key, const std::string& cluster);
  void set_stage(const api::ObjectKey& key, const std::string& cluster, Stage stage);
  void count(const Claim& claim, const std::string& cluster, Stage stage, int sign);

  /// What all claims on a cluster come to.
  struct Sums {
    std::map<api::ObjectKey, Amounts> ahead;  ///< by LocalQueue
    int workloads = 0;
    std::set<api::ObjectKey> unshown;  ///< reserved
  };
  const Sums* sums(const std::string& cluster) const;

  std::unordered_map<api::ObjectKey, Claim, api::KeyHash> claims_;
  std::unordered_map<std::string, Sums> clusters_;  ///< those with workloads
};

}  // namespace regatta::placement
