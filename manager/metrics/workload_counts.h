#pragma once

#include "lib/api/workload.h"

#include <compare>
#include <cstdint>
#include <map>
#include <string>

namespace regatta::manager {

/// Counts the Workloads of a LocalQueue in states that no queue counts: finished and kept, or not
/// admitted for some reason. It follows their changes, so that it never has to visit all of them.
class WorkloadCounts {
 public:
  struct Key {
    api::ObjectKey local_queue;
    std::string reason;  ///< of Admitted=False; "Finished" for those that ended
    std::string cause;   ///< of QuotaReserved=False; empty with quota
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  static constexpr const char* finished = "Finished";

  /// `before` is null for a new Workload, `after` for a deleted one.
  void changed(const api::Workload* before, const api::Workload* after);

  const std::map<Key, std::int64_t>& all() const { return counts_; }

 private:
  void add(const api::Workload& workload, int by);

  std::map<Key, std::int64_t> counts_;  ///< never zero
};

}  // namespace regatta::manager
