#pragma once

#include "whatif/report.h"

#include <set>
#include <string>
#include <vector>

namespace regatta::whatif {

/// The records of all clusters that the simulation writes while it runs.
struct Records {
  std::vector<WorkloadRecord> workloads;
  std::vector<PreemptionRecord> preemptions;
  std::vector<std::string> warnings;  ///< at most warnings_max, each once

  static constexpr std::size_t warnings_max = 100;
  void warn(std::string text) {
    if (warnings.size() >= warnings_max || !known_.insert(text).second) return;
    warnings.push_back(std::move(text));
  }

 private:
  std::set<std::string> known_;
};

}  // namespace regatta::whatif
