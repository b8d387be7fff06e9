#include "admission/queues.h"

#include <algorithm>
#include <utility>

namespace regatta::admission {

std::size_t WorkloadTable::Hash::operator()(const api::ObjectKey* key) const {
  const std::hash<std::string> hash;
  return hash(key->ns) * 31 + hash(key->name);
}

WorkloadId WorkloadTable::insert(const api::ObjectKey& key) {
  WorkloadId id = 0;
  if (free_.empty()) {
    id = static_cast<WorkloadId>(entries_.size());
    entries_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  entries_[id].key = key;
  ids_.emplace(&entries_[id].key, id);
  return id;
}

void WorkloadTable::erase(WorkloadId id) {
  ids_.erase(&entries_[id].key);
  entries_[id] = WorkloadEntry{};
  free_.push_back(id);
}

WorkloadId WorkloadTable::find(const api::ObjectKey& key) const {
  const auto it = ids_.find(&key);
  return it == ids_.end() ? no_id : it->second;
}

bool PendingQueue::before(WorkloadId a, WorkloadId b) const {
  const WorkloadEntry& left = table_[a];
  const WorkloadEntry& right = table_[b];
  if (left.order_time != right.order_time) return left.order_time < right.order_time;
  if (left.uid != right.uid) return left.uid < right.uid;
  return left.key < right.key;
}

bool PendingQueue::class_before(const PendingClass* a, const PendingClass* b) const {
  if (a->key.priority != b->key.priority) return a->key.priority > b->key.priority;
  return before(a->members.front(), b->members.front());
}

void PendingQueue::place_member(PendingClass* in, std::uint32_t at, WorkloadId id) {
  in->members[at] = id;
  table_[id].position = at;
}

/// Restores the heap order of members after the one at `at` changed.
void PendingQueue::sift_member(PendingClass* in, std::uint32_t at) {
  const WorkloadId id = in->members[at];
  while (at > 0 && before(id, in->members[(at - 1) / 2])) {
    place_member(in, at, in->members[(at - 1) / 2]);
    at = (at - 1) / 2;
  }
  const auto size = static_cast<std::uint32_t>(in->members.size());
  for (std::uint32_t child = 2 * at + 1; child < size; child = 2 * at + 1) {
    if (child + 1 < size && before(in->members[child + 1], in->members[child])) ++child;
    if (!before(in->members[child], id)) break;
    place_member(in, at, in->members[child]);
    at = child;
  }
  place_member(in, at, id);
}

void PendingQueue::add_member(PendingClass* to, WorkloadId id) {
  WorkloadEntry& entry = table_[id];
  entry.pending_class = to;
  entry.place = Place::queued;
  to->members.push_back(id);
  sift_member(to, static_cast<std::uint32_t>(to->members.size() - 1));
}

void PendingQueue::remove_member(PendingClass* from, WorkloadId id) {
  const std::uint32_t at = table_[id].position;
  const WorkloadId last = from->members.back();
  from->members.pop_back();
  if (last != id) {
    place_member(from, at, last);
    sift_member(from, at);
  }
  table_[id].pending_class = nullptr;
}

void PendingQueue::place_class(ClassHeap* heap, std::uint32_t at, PendingClass* which) {
  (*heap)[at] = which;
  which->position = at;
}

void PendingQueue::sift_class(ClassHeap* in, std::uint32_t at) {
  ClassHeap& heap = *in;
  PendingClass* moved = heap[at];
  while (at > 0 && class_before(moved, heap[(at - 1) / 2])) {
    place_class(in, at, heap[(at - 1) / 2]);
    at = (at - 1) / 2;
  }
  const auto size = static_cast<std::uint32_t>(heap.size());
  for (std::uint32_t child = 2 * at + 1; child < size; child = 2 * at + 1) {
    if (child + 1 < size && class_before(heap[child + 1], heap[child])) ++child;
    if (!class_before(heap[child], moved)) break;
    place_class(in, at, heap[child]);
    at = child;
  }
  place_class(in, at, moved);
}

void PendingQueue::link(PendingClass* added) {
  added->heap = usage_ ? &heaps_[added->key.local_queue] : &heap_;
  added->heap->push_back(added);
  sift_class(added->heap, static_cast<std::uint32_t>(added->heap->size() - 1));
}

void PendingQueue::unlink(PendingClass* removed) {
  ClassHeap* heap = removed->heap;
  const std::uint32_t at = removed->position;
  PendingClass* last = heap->back();
  heap->pop_back();
  if (last != removed) {
    place_class(heap, at, last);
    sift_class(heap, at);
  }
  if (usage_ && heap->empty()) heaps_.erase(removed->key.local_queue);
}

void PendingQueue::order_by_usage(Usage usage) {
  if (!usage && !usage_) return;
  heap_.clear();
  heaps_.clear();
  usage_ = std::move(usage);
  for (auto& [key, pending] : active_) link(&pending);
}

/// The first workload of the LocalQueues with the least usage.
WorkloadId PendingQueue::next_by_usage() const {
  double least = 0;
  const PendingClass* best = nullptr;
  for (const auto& [local_queue, heap] : heaps_) {
    const double usage = usage_(local_queue);
    if (best != nullptr &&
        (usage > least || (usage == least && class_before(best, heap.front())))) {
      continue;
    }
    best = heap.front();
    least = usage;
  }
  const bool is_sticky = sticky_ != no_id && is_waiting(table_[sticky_]);
  if (is_sticky && usage_(table_[sticky_].local_queue) == least) return sticky_;
  return best->members.front();
}

void PendingQueue::drop_if_empty(PendingClass* which) {
  if (!which->members.empty()) return;
  (which->parked ? parked_ : active_).erase(ClassKey(which->key));
}

void PendingQueue::push(WorkloadId id) {
  const WorkloadEntry& entry = table_[id];
  const ClassKey key{entry.shape->id, entry.priority, entry.local_queue};
  auto [it, added] = active_.try_emplace(key);
  it->second.key = key;
  add_member(&it->second, id);
  if (added) {
    link(&it->second);
  } else {
    sift_class(it->second.heap, it->second.position);
  }
  ++waiting_;
}

void PendingQueue::park(WorkloadId id) {
  const WorkloadEntry& entry = table_[id];
  const ClassKey key{entry.shape->id, entry.priority, entry.local_queue};
  PendingClass& into = parked_[key];
  into.key = key;
  into.parked = true;
  add_member(&into, id);
  ++parked_count_;
}

void PendingQueue::delay(WorkloadId id) {
  table_[id].place = Place::delayed;
  delayed_.insert(id);
}

void PendingQueue::erase(WorkloadId id) {
  WorkloadEntry& entry = table_[id];
  if (sticky_ == id) sticky_ = no_id;
  if (entry.place == Place::delayed) {
    delayed_.erase(id);
  } else if (PendingClass* from = entry.pending_class; from != nullptr) {
    remove_member(from, id);
    if (from->parked) {
      --parked_count_;
    } else {
      --waiting_;
      if (from->members.empty()) {
        unlink(from);
      } else {
        sift_class(from->heap, from->position);
      }
    }
    drop_if_empty(from);
  }
  entry.place = Place::nowhere;
}

WorkloadId PendingQueue::pop() {
  if (waiting_ == 0) return no_id;
  const WorkloadId sticky = sticky_;
  WorkloadId id = no_id;
  if (usage_) {
    id = next_by_usage();
  } else if (sticky != no_id && is_waiting(table_[sticky])) {
    id = sticky;
  } else {
    id = heap_.front()->members.front();
  }
  erase(id);
  sticky_ = sticky;
  table_[id].place = Place::in_cycle;
  popped_ = id;
  return id;
}

WorkloadId PendingQueue::in_cycle() const {
  return popped_ != no_id && table_[popped_].place == Place::in_cycle ? popped_ : no_id;
}

void PendingQueue::move_class(Classes::iterator which, Classes* from, Classes* to) {
  PendingClass* moving = &which->second;
  const std::size_t count = moving->members.size();
  const bool parking = !moving->parked;
  if (parking) unlink(moving);
  waiting_ = parking ? waiting_ - count : waiting_ + count;
  parked_count_ = parking ? parked_count_ + count : parked_count_ - count;
  auto node = from->extract(which);
  auto inserted = to->insert(std::move(node));
  if (inserted.inserted) {
    moving->parked = parking;
    if (!parking) link(moving);
    return;
  }
  PendingClass* into = &inserted.position->second;
  const std::vector<WorkloadId> members = std::move(inserted.node.mapped().members);
  for (const WorkloadId id : members) add_member(into, id);
  if (!parking) sift_class(into->heap, into->position);
}

void PendingQueue::park_alike(const WorkloadEntry& like, std::string_view why) {
  alike_.try_emplace({like.shape->id, like.priority},
                     Alike{like.shape, like.key, std::string(why)});
  const ClassKey first{like.shape->id, like.priority, 0};
  for (auto it = active_.lower_bound(first); it != active_.end();) {
    if (it->first.shape != like.shape->id || it->first.priority != like.priority) break;
    const auto which = it++;
    move_class(which, &active_, &parked_);
  }
}

bool PendingQueue::parked_alike(const WorkloadEntry& like) const {
  return alike_.contains({like.shape->id, like.priority});
}

const api::ObjectKey* PendingQueue::parked_by(const WorkloadEntry& like) const {
  const auto it = alike_.find({like.shape->id, like.priority});
  return it == alike_.end() ? nullptr : &it->second.first;
}

std::string_view PendingQueue::parked_for(const WorkloadEntry& like) const {
  const auto it = alike_.find({like.shape->id, like.priority});
  return it == alike_.end() ? std::string_view() : std::string_view(it->second.why);
}

bool PendingQueue::reactivate(const std::function<bool(LocalQueueId)>& passes, TimePoint now) {
  alike_.clear();
  bool moved = false;
  for (auto it = parked_.begin(); it != parked_.end();) {
    const auto which = it++;
    if (!passes(which->first.local_queue)) continue;
    move_class(which, &parked_, &active_);
    moved = true;
  }
  for (auto it = delayed_.begin(); it != delayed_.end();) {
    const WorkloadId id = *it;
    const WorkloadEntry& entry = table_[id];
    if (!backoff_over(entry, now) || !passes(entry.local_queue)) {
      ++it;
      continue;
    }
    it = delayed_.erase(it);
    push(id);
    moved = true;
  }
  return moved;
}

std::vector<api::ObjectKey> PendingQueue::waiting_keys() const {
  std::vector<api::ObjectKey> keys;
  for (const auto& [key, members] : active_) {
    for (const WorkloadId id : members.members) keys.push_back(table_[id].key);
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::vector<api::ObjectKey> PendingQueue::inadmissible_keys() const {
  std::vector<api::ObjectKey> keys;
  for (const auto& [key, members] : parked_) {
    for (const WorkloadId id : members.members) keys.push_back(table_[id].key);
  }
  for (const WorkloadId id : delayed_) keys.push_back(table_[id].key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

void PendingQueue::sort_as_popped(std::vector<WorkloadId>* ids) const {
  std::sort(ids->begin(), ids->end(), [&](WorkloadId a, WorkloadId b) {
    if (usage_) {
      const double left = usage_(table_[a].local_queue);
      const double right = usage_(table_[b].local_queue);
      if (left != right) return left < right;
    }
    if ((a == sticky_) != (b == sticky_)) return a == sticky_;
    if (table_[a].priority != table_[b].priority) return table_[a].priority > table_[b].priority;
    return before(a, b);
  });
}

std::vector<WorkloadId> PendingQueue::in_order() const {
  std::vector<WorkloadId> ids;
  for (const auto& [key, members] : active_) {
    ids.insert(ids.end(), members.members.begin(), members.members.end());
  }
  sort_as_popped(&ids);
  return ids;
}

std::vector<WorkloadId> PendingQueue::all_in_order() const {
  std::vector<WorkloadId> ids = all();
  sort_as_popped(&ids);
  return ids;
}

std::vector<WorkloadId> PendingQueue::all() const {
  std::vector<WorkloadId> ids(delayed_.begin(), delayed_.end());
  ids.reserve(size());
  for (const Classes* classes : {&active_, &parked_}) {
    for (const auto& [key, members] : *classes) {
      ids.insert(ids.end(), members.members.begin(), members.members.end());
    }
  }
  return ids;
}

std::vector<PendingKind> PendingQueue::kinds() const {
  std::map<std::pair<std::uint64_t, std::int64_t>, PendingKind> kinds;
  for (const Classes* classes : {&active_, &parked_}) {
    for (const auto& [key, pending] : *classes) {
      PendingKind& kind = kinds[{key.shape, key.priority}];
      kind.example = pending.members.front();
      (pending.parked ? kind.inadmissible : kind.waiting) += pending.members.size();
    }
  }
  for (const WorkloadId id : delayed_) {
    PendingKind& kind = kinds[{table_[id].shape->id, table_[id].priority}];
    kind.example = id;
    ++kind.inadmissible;
  }
  std::vector<PendingKind> out;
  out.reserve(kinds.size());
  for (const auto& [key, kind] : kinds) out.push_back(kind);
  return out;
}

}  // namespace regatta::admission
