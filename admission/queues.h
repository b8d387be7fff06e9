#pragma once

/// The workloads of one ClusterQueue that wait for quota.
///
/// Workloads of the same shape, priority and LocalQueue form a class: they differ only in name and
/// age. The queue is a heap of classes, and each class is a heap of its members. So a decision
/// about one member applies to the whole class in one step: to park a class after its head did not
/// fit, or to reactivate it, costs the same for one member as for a million.

#include "admission/workload.h"

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::admission {

/// All known workloads. An id stays valid until its workload is erased; ids are reused.
class WorkloadTable {
 public:
  WorkloadId insert(const api::ObjectKey& key);
  void erase(WorkloadId id);
  WorkloadId find(const api::ObjectKey& key) const;  ///< no_id if unknown
  WorkloadEntry& operator[](WorkloadId id) { return entries_[id]; }
  const WorkloadEntry& operator[](WorkloadId id) const { return entries_[id]; }
  std::size_t size() const { return ids_.size(); }

 private:
  struct Hash {
    std::size_t operator()(const api::ObjectKey* key) const;
  };
  struct Equal {
    bool operator()(const api::ObjectKey* a, const api::ObjectKey* b) const { return *a == *b; }
  };
  std::deque<WorkloadEntry> entries_;
  std::vector<WorkloadId> free_;
  std::unordered_map<const api::ObjectKey*, WorkloadId, Hash, Equal> ids_;
};

struct ClassKey {
  std::uint64_t shape = 0;
  std::int64_t priority = 0;
  LocalQueueId local_queue = no_id;
  friend auto operator<=>(const ClassKey&, const ClassKey&) = default;
};

struct PendingClass;
using ClassHeap = std::vector<PendingClass*>;

struct PendingClass {
  ClassKey key;
  bool parked = false;
  std::vector<WorkloadId> members;  ///< binary heap: the oldest first, then by UID
  ClassHeap* heap = nullptr;        ///< the heap it is in, unless parked
  std::uint32_t position = 0;       ///< in `heap`
};

/// In the heap: the workload will have a turn.
inline bool is_waiting(const WorkloadEntry& entry) {
  return entry.pending_class != nullptr && !entry.pending_class->parked;
}
/// Found inadmissible: the workload waits for a change.
inline bool is_parked(const WorkloadEntry& entry) {
  return entry.pending_class != nullptr && entry.pending_class->parked;
}

/// Waiting workloads of one shape and priority.
struct PendingKind {
  WorkloadId example = no_id;
  std::size_t waiting = 0;
  std::size_t inadmissible = 0;
};

class PendingQueue {
 public:
  explicit PendingQueue(WorkloadTable* table) : table_(*table) {}
  PendingQueue(const PendingQueue&) = delete;
  PendingQueue& operator=(const PendingQueue&) = delete;

  void push(WorkloadId id);
  void park(WorkloadId id);
  void delay(WorkloadId id);
  /// Removes the workload, whether it is in the heap, parked or delayed.
  void erase(WorkloadId id);

  /// Takes the first workload of the queue for the cycle that begins; no_id when none waits.
  WorkloadId pop();

  /// Parks all workloads of the same shape and priority, and remembers that they do not fit.
  void park_alike(const WorkloadEntry& like, std::string_view why = {});
  /// Whether workloads of this shape and priority were parked since the last reactivation.
  bool parked_alike(const WorkloadEntry& like) const;
  /// parked_by(): the workload whose turn parked workloads of this shape and priority, or null.
  /// parked_for(): the reason with which that turn ended.
  const api::ObjectKey* parked_by(const WorkloadEntry& like) const;
  std::string_view parked_for(const WorkloadEntry& like) const;
  /// Returns to the heap the parked workloads, and the delayed ones whose backoff is over, if their
  /// LocalQueue passes. True if any returned.
  bool reactivate(const std::function<bool(LocalQueueId)>& passes, TimePoint now);

  /// Makes the LocalQueue with the least usage come first, before every other criterion. The usage
  /// may change between two calls.
  using Usage = std::function<double(LocalQueueId)>;
  void order_by_usage(Usage usage);
  const Usage* usage() const { return usage_ ? &usage_ : nullptr; }

  /// Makes the workload the first of the queue, whatever its priority, until clear_sticky() or
  /// erase(). With order_by_usage(), this holds only while its LocalQueue has the least usage.
  void set_sticky(WorkloadId id) { sticky_ = id; }
  void clear_sticky() { sticky_ = no_id; }
  WorkloadId sticky() const { return sticky_; }

  std::size_t waiting() const { return waiting_; }
  std::size_t inadmissible() const { return parked_count_ + delayed_.size(); }
  std::size_t size() const { return waiting() + inadmissible(); }
  /// Linear in the number of classes.
  std::vector<PendingKind> kinds() const;
  /// Sorted by key.
  std::vector<api::ObjectKey> waiting_keys() const;
  std::vector<api::ObjectKey> inadmissible_keys() const;
  /// In the order in which they would be popped; linear in the number of classes and members.
  std::vector<WorkloadId> in_order() const;
  /// The same for all workloads, as if none were parked or delayed.
  std::vector<WorkloadId> all_in_order() const;
  /// All of them, in no order.
  std::vector<WorkloadId> all() const;
  /// The workload that pop() took last, if it is still in the cycle; else no_id. The id may be that
  /// of a workload of another queue.
  WorkloadId in_cycle() const;

 private:
  struct Alike {
    ShapePtr shape;  ///< keeps the id of the shape from being reused
    api::ObjectKey first;
    std::string why;
  };
  using Classes = std::map<ClassKey, PendingClass>;

  bool before(WorkloadId a, WorkloadId b) const;
  void sort_as_popped(std::vector<WorkloadId>* ids) const;
  bool class_before(const PendingClass* a, const PendingClass* b) const;
  void add_member(PendingClass* to, WorkloadId id);
  void remove_member(PendingClass* from, WorkloadId id);
  void sift_member(PendingClass* in, std::uint32_t at);
  void place_member(PendingClass* in, std::uint32_t at, WorkloadId id);
  void link(PendingClass* added);
  void unlink(PendingClass* removed);
  void sift_class(ClassHeap* heap, std::uint32_t at);
  static void place_class(ClassHeap* heap, std::uint32_t at, PendingClass* which);
  WorkloadId next_by_usage() const;
  void move_class(Classes::iterator which, Classes* from, Classes* to);
  void drop_if_empty(PendingClass* which);

  WorkloadTable& table_;
  Classes active_;
  Classes parked_;
  ClassHeap heap_;                           ///< of all classes, unless order_by_usage()
  std::map<LocalQueueId, ClassHeap> heaps_;  ///< by LocalQueue, with order_by_usage()
  Usage usage_;
  std::set<WorkloadId> delayed_;
  std::map<std::pair<std::uint64_t, std::int64_t>, Alike> alike_;
  std::size_t waiting_ = 0;
  std::size_t parked_count_ = 0;
  WorkloadId sticky_ = no_id;
  WorkloadId popped_ = no_id;
};

}  // namespace regatta::admission
