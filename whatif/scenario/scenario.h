#pragma once

/// One scenario of the conformance format: a cluster's objects, then steps of events, each followed
/// by one scheduling cycle.
///
///   text ──parse_scenario()─▶ Scenario ──run_scenario()──▶ ObservedStep… ──to_json()──▶ output
///
/// What a file expects is never read here: that is for tests to compare with.

#include "admission/config.h"
#include "lib/api/core.h"
#include "lib/api/kueue.h"
#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/base/json.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace regatta::whatif {

/// Any object of a scenario. Kinds are in the order in which they are loaded.
using ScenarioObject =
    std::variant<api::Namespace, api::Node, api::Pod, api::Topology, api::ResourceFlavor,
                 api::Cohort, api::ClusterQueue, api::LocalQueue, api::Workload>;

/// Creates or replaces the object.
struct PutObject {
  ScenarioObject object;
};
struct DeleteWorkload {
  std::string workload;  ///< "ns/name", here and below
};
struct FinishWorkload {
  std::string workload;
};
struct SetPriority {
  std::string workload;
  std::int32_t value = 0;
};
struct SetReclaimable {
  std::string workload;
  std::string pod_set;
  std::int32_t count = 0;
};
using ScenarioEvent =
    std::variant<PutObject, DeleteWorkload, FinishWorkload, SetPriority, SetReclaimable>;

struct ScenarioStep {
  std::vector<ScenarioEvent> events;
};

struct Scenario {
  std::string name;
  admission::Config config;
  TimePoint now{};  ///< the time of the first step
  std::vector<ScenarioObject> objects;
  std::vector<ScenarioStep> steps;
};

constexpr std::size_t scenario_bytes_max = 64 << 20;
constexpr std::size_t scenario_steps_max = 100'000;

/// Reads a scenario. An `invalid` error says where: "steps[2].events[0].update.spec: …".
Result<Scenario> parse_scenario(std::string_view text);
Result<Scenario> read_scenario(const Json& json);

/// The "config" of a scenario: fair sharing, feature gates, quotaCheckStrategy.
Result<admission::Config> read_scenario_config(const Json& json);

}  // namespace regatta::whatif
