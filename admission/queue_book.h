#pragma once

/// The ClusterQueues, Cohorts and LocalQueues, and how they belong together. QueueBook owns the
/// quota tree and everything that is looked up by the name or number of a queue.
///
/// A Cohort exists as long as it has an object or members. Objects come in any order: a LocalQueue
/// may be known long before it exists, because a workload names it.
///
/// Changes of the structure leave the tree unsettled, so that loading many queues is not quadratic.
/// settled_forest() settles it. Books change usage only in a settled tree, so a tree stays settled
/// until its structure changes again.

#include "admission/config.h"
#include "admission/id_set.h"
#include "admission/objects.h"
#include "admission/queue_info.h"
#include "admission/quota.h"
#include "admission/reactivations.h"

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace regatta::admission {

/// Objects whose status may have changed since the last take_changes().
struct Changes {
  std::set<std::string> cluster_queues;
  std::set<std::string> cohorts;
  std::set<api::ObjectKey> local_queues;
};

class QueueBook {
 public:
  QueueBook(const Config& config, Names& names, WorkloadTable& workloads,
            const ObjectBook& objects);
  QueueBook(const QueueBook&) = delete;
  QueueBook& operator=(const QueueBook&) = delete;

  // ClusterQueues. Ids are never reused.
  QueueInfo& add(const std::string& name);
  void set_spec(QueueInfo* queue, const api::ClusterQueueSpec& spec);
  /// Requires that no workload holds quota in the ClusterQueue and no LocalQueue leads to it.
  void remove(QueueInfo* queue);
  /// find() no longer finds the ClusterQueue; remove() follows.
  void forget_name(const QueueInfo& queue);
  /// Computes again whether the ClusterQueue can admit workloads.
  void refresh_activity(QueueInfo* queue);
  QueueInfo& queue(QueueId id) { return *queues_[id]; }
  const QueueInfo& queue(QueueId id) const { return *queues_[id]; }
  /// Null when there is none.
  QueueInfo* find(const std::string& name);
  const QueueInfo* find(const std::string& name) const;
  const std::map<std::string, QueueId>& by_name() const { return queue_ids_; }
  QueueId queue_of_node(NodeId node) const { return node_queue_[node]; }

  // Cohorts
  /// Returns the Cohort's node, or no_node when the object did not change.
  NodeId upsert(const api::Cohort& cohort);
  void erase_cohort(const std::string& name);
  /// no_node when there is none.
  NodeId cohort(const std::string& name) const;
  struct CohortInfo {
    NodeId node = no_node;
    bool exists = false;   ///< there is a Cohort object
    bool deleted = false;  ///< there was one: members name it in vain
    api::CohortSpec spec;
  };
  const std::map<std::string, CohortInfo>& cohorts() const { return cohorts_; }

  // LocalQueues. They keep their ids when their objects come and go.
  LocalQueueId local_queue_id(const api::ObjectKey& key);
  /// The ClusterQueue of a LocalQueue that exists and is not stopped, or no_id.
  QueueId target_of(const LocalQueueInfo& local) const;
  LocalQueueInfo& local(LocalQueueId id) { return local_queues_[id]; }
  const LocalQueueInfo& local(LocalQueueId id) const { return local_queues_[id]; }
  const std::deque<LocalQueueInfo>& locals() const { return local_queues_; }
  /// no_id when no object ever named it.
  LocalQueueId find_local(const api::ObjectKey& key) const;
  const std::map<api::ObjectKey, LocalQueueId>& locals_by_key() const { return local_queue_ids_; }
  /// The ClusterQueue in which the workload waits, or would wait; null when there is none.
  QueueInfo* queue_for(const WorkloadEntry& entry);

  // The quota tree
  QuotaForest& settled_forest() {
    if (!forest_.settled()) settle();
    return forest_;
  }
  /// The structure is current; sums are those of the last settling.
  const QuotaForest& forest() const { return forest_; }
  Reactivations& reactivations() { return reactivations_; }
  const Reactivations& reactivations() const { return reactivations_; }

  // Objects that take_changes() returns next
  void touch(const QueueInfo& queue) { touched_queues_.insert(queue.id); }
  void touch(LocalQueueId id) { touched_local_queues_.insert(id); }
  Changes take_changes();

 private:
  NodeId cohort_node(const std::string& name);
  void drop_unused_cohort(const std::string& name);
  std::vector<Quota> quotas_of(const std::vector<api::ResourceGroup>& groups);
  void set_node_queue(NodeId node, QueueId queue);
  void name_cohort(NodeId node);
  void name_cohorts_above(NodeId node, std::set<NodeId>* seen);
  void name_cohorts_below(NodeId root);
  void name_touched();
  void settle();

  const Config& config_;
  Names& names_;
  WorkloadTable& workloads_;
  const ObjectBook& objects_;
  QuotaForest forest_;
  Reactivations reactivations_;
  std::map<std::string, CohortInfo> cohorts_;
  std::vector<std::unique_ptr<QueueInfo>> queues_;
  std::map<std::string, QueueId> queue_ids_;
  std::vector<QueueId> node_queue_;
  std::deque<LocalQueueInfo> local_queues_;
  std::map<api::ObjectKey, LocalQueueId> local_queue_ids_;
  Changes changes_;
  IdSet touched_queues_;
  IdSet touched_local_queues_;
};

}  // namespace regatta::admission
