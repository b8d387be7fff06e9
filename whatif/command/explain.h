#pragma once

#include "whatif/engine/simulation.h"
#include "whatif/explain/account.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::whatif {

/// A workload to explain, and when.
struct ExplainWish {
  api::ObjectKey key;  ///< of the Workload, or of its Job
  std::string at;      ///< "90m" since the start, or RFC 3339; empty: at the end
};

/// Reads "NAMESPACE/NAME" or "NAMESPACE/NAME@TIME".
Result<ExplainWish> parse_wish(std::string_view text);

struct ToldCluster {
  std::string cluster;  ///< empty for the hub, or the only one
  Account account;
};

/// The answer to a wish: the hub's account first, then those of workers with a copy.
struct ToldWish {
  ExplainWish wish;
  std::vector<ToldCluster> clusters;
  /// Set instead of accounts when there is no such workload at that time: its fate in a word
  /// (Finished, Failed, Deleted, Unknown) and in a sentence.
  std::string fate;
  std::string gone;

  bool unknown() const { return fate == "Unknown"; }
};

/// Simulates until the last of those times. An Error names a wish whose time is outside of the
/// simulation. `watch` as in simulate(); after an interruption the answers are as of then.
Result<std::vector<ToldWish>> explain_simulated(
    SimulationInput input, const std::vector<ExplainWish>& wishes,
    const std::function<bool(const Progress&)>& watch = nullptr);

void print(const std::vector<ToldWish>& told, std::ostream& out);
/// An object for each wish; a single one is not in a list.
Json to_json(const std::vector<ToldWish>& told);

}  // namespace regatta::whatif
