#pragma once

#include "lib/base/clock.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Nomination: which workers may try a workload.
namespace regatta::placement {

enum class Dispatcher {
  all_at_once,  ///< every connected cluster at once
  incremental,  ///< a few more in each round, in the order of the MultiKueueConfig
  external,     ///< those that an external dispatcher wrote into status.nominatedClusterNames
  // These compare workers (rank.h):
  capacity,
  cost,
  spread,
  locality,
};

/// The dispatcher of that name; the empty one is all_at_once. A name that is not Kueue's and not in
/// our domain is an external dispatcher's, as is that of Placements.
Dispatcher dispatcher_of(std::string_view name);
/// As command lines take them: "all-at-once".
const std::vector<std::string>& short_names();
std::optional<Dispatcher> dispatcher_by_short_name(std::string_view name);
/// Whether a name in our domain is no dispatcher's.
bool is_misspelled(std::string_view name);
/// The names in our domain.
const std::vector<std::string>& own_dispatchers();

struct NominationConfig {
  Dispatcher dispatcher = Dispatcher::all_at_once;
  int step_size = 3;
  Duration round = std::chrono::minutes(5);
  bool by_name = false;  ///< incremental goes by cluster name, not by the config's order
  /// All at once: of more than can be nominated, each twenty have their turn for so long.
  Duration page = std::chrono::minutes(10);
};

/// The API allows so many names in status.nominatedClusterNames.
inline constexpr std::size_t nominated_max = 20;

struct NominationInput {
  /// Of MultiKueueConfig spec.clusters, in that order, those that may be asked: they are connected.
  /// Never null.
  std::shared_ptr<const std::vector<std::string>> able;
  std::size_t listed = 0;              ///< how many spec.clusters has
  std::vector<std::string> nominated;  ///< status.nominatedClusterNames now
  TimePoint quota_reserved_at{};       ///< the first round starts here
  std::string uid;                     ///< of the workload: of very many, each asks others first
};

struct Nomination {
  /// What the list should be; equal to the input's when nothing is to be written.
  std::vector<std::string> clusters;
  /// When the answer may change although no object did.
  std::optional<Duration> look_again;
};

/// The nominations for a workload that holds quota and has no cluster yet. Pure. Rounds follow from
/// the time of the reservation, so a restart does not start them again.
///
/// Of more than can be nominated, all_at_once and incremental ask twenty at a time, in turns.
///
/// all_at_once: the connected clusters, sorted by name. incremental: step_size clusters at once and
/// step_size more in each round, connected ones in config order, added to those already nominated;
/// a cluster that is not connected uses up no place, also when it was nominated before it was lost.
/// All others: the list as it is.
Nomination nominate(const NominationInput& input, TimePoint now, const NominationConfig& config);

}  // namespace regatta::placement
