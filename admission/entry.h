#pragma once

#include "admission/leaving.h"
#include "admission/preemption.h"

#include <memory>
#include <string>
#include <vector>

namespace regatta::admission {

/// Why a head goes back to its queue. Decides whether it can have the next turn.
enum class RequeueReason : std::uint8_t {
  generic,
  no_fit,
  preemption_no_candidates,
  namespace_mismatch,
  failed_after_nomination,
  pending_preemption,
  preemption_gated,
};

/// One head on its way through a cycle.
struct Entry {
  enum class Status : std::uint8_t { inadmissible, nominated, skipped, assumed, preempting };

  WorkloadId id = no_id;
  QueueId queue = no_id;
  Status status = Status::inadmissible;
  Assignment assignment;
  std::vector<Target> targets;
  std::string reason;
  std::string message;
  RequeueReason requeue_reason = RequeueReason::generic;
};

/// Finds flavors and, if the entry needs them, targets: for all pods, or for as many as fit.
void nominate_flavors(Trial& trial, Entry* entry, const Assignment* pinned, TimePoint now);

class Tournament;

/// Hands out entries in the order in which they may take quota.
class EntryOrder {
 public:
  /// With fair sharing, the victims of the cycle still count in shares.
  EntryOrder(Trial& trial, Leaving* leaving, std::vector<Entry>* entries);
  ~EntryOrder();
  /// Null at the end.
  Entry* next();

 private:
  void sort_classical();
  void draw_tournaments();

  Trial& trial_;
  Leaving& leaving_;
  std::vector<Entry>& entries_;
  std::vector<std::size_t> left_;                         ///< indices, next one last
  std::vector<std::unique_ptr<Tournament>> tournaments_;  ///< with fair sharing
  std::size_t at_ = 0;
};

}  // namespace regatta::admission
