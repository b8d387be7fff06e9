#pragma once

#include "whatif/engine/simulation.h"
#include "whatif/explain/account.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::whatif {

/// A workload one wants to hear about, and when.
struct ExplainWish {
  api::ObjectKey key;  ///< of the Workload, or of the Job it was made for
  std::string at;      ///< "90m" since the start, or RFC 3339; empty: at the end
};

/// Reads "NAMESPACE/NAME" or "NAMESPACE/NAME@TIME".
Result<ExplainWish> parse_wish(std::string_view text);

struct ToldCluster {
  std::string cluster;  ///< empty for the hub, or the only one
  Account account;
};

/// What came of a wish: the hub's account first, then those of workers with a copy of it.
struct ToldWish {
  ExplainWish wish;
  std::vector<ToldCluster> clusters;
  /// Instead, when there is no such workload at that time: what is known of it, in a word
  /// (Finished, Failed, Deleted, Unknown) and in a sentence.
  std::string fate;
  std::string gone;

  bool unknown() const { return fate == "Unknown"; }
};

/// Simulates until the last of those times. An Error names the wish whose time is none of the
/// simulation's. `watch` as in simulate(); what it ended is told as of then.
Result<std::vector<ToldWish>> explain_simulated(
    SimulationInput input, const std::vector<ExplainWish>& wishes,
    const std::function<bool(const Progress&)>& watch = nullptr);

void print(const std::vector<ToldWish>& told, std::ostream& out);
/// An object for each wish; one alone is not in a list.
Json to_json(const std::vector<ToldWish>& told);

}  // namespace regatta::whatif
