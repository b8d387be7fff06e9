#pragma once

/// The workloads of one ClusterQueue that wait for quota.
///
/// Workloads that differ only in name and age are one class: same shape, priority and LocalQueue.
/// The queue is a heap of classes, each a heap of its members, so what is decided for one member
/// can be applied to the whole class in one step: parking a class after its head did not fit, and
/// reactivating it when something changed, cost the same for one member as for a million.

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
  WorkloadId find(const api::ObjectKey& key) const;  ///< or no_id
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
  std::vector<WorkloadId> members;  ///< binary heap: oldest first, then by UID
  ClassHeap* heap = nullptr;        ///< it is in, unless parked
  std::uint32_t position = 0;       ///< there
};

/// In the heap: it has its turn coming.
inline bool is_waiting(const WorkloadEntry& entry) {
  return entry.pending_class != nullptr && !entry.pending_class->parked;
}
/// Found inadmissible: it waits for something to change.
inline bool is_parked(const WorkloadEntry& entry) {
  return entry.pending_class != nullptr && entry.pending_class->parked;
}

/// Workloads that differ in name, age and LocalQueue only.
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
  /// Takes it out from wherever it is.
  void erase(WorkloadId id);

  /// The next in line, sticky first; it is in the cycle afterwards. no_id when nobody waits.
  WorkloadId pop();

  /// Remembers that workloads like this one do not fit, and parks them all.
  void park_alike(const WorkloadEntry& like, std::string_view why = {});
  /// Whether workloads like this one were parked since the last reactivation.
  bool parked_alike(const WorkloadEntry& like) const;
  /// The workload whose turn parked those like this one; null when none did. And the reason that
  /// turn ended with.
  const api::ObjectKey* parked_by(const WorkloadEntry& like) const;
  std::string_view parked_for(const WorkloadEntry& like) const;
  /// Back to the heap: every parked workload whose LocalQueue passes, and those whose delay is
  /// over.
  bool reactivate(const std::function<bool(LocalQueueId)>& passes, TimePoint now);

  /// With it, whoever's LocalQueue has the least usage is next, before all else. It may change
  /// between two calls.
  using Usage = std::function<double(LocalQueueId)>;
  void order_by_usage(Usage usage);
  const Usage* usage() const { return usage_ ? &usage_ : nullptr; }

  /// Next in line whatever its priority, until popped and dropped.
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
  /// The same for all it has, as if nobody were parked or delayed.
  std::vector<WorkloadId> all_in_order() const;

 private:
  struct Alike {
    ShapePtr shape;  ///< keeps its id from being used again
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
  ClassHeap heap_;                           ///< of all, or
  std::map<LocalQueueId, ClassHeap> heaps_;  ///< by LocalQueue, with their usage
  Usage usage_;
  std::set<WorkloadId> delayed_;
  std::map<std::pair<std::uint64_t, std::int64_t>, Alike> alike_;
  std::size_t waiting_ = 0;
  std::size_t parked_count_ = 0;
  WorkloadId sticky_ = no_id;
};

}  // namespace regatta::admission
