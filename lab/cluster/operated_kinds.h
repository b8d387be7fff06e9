#pragma once

#include "lib/api/resource.h"
#include "lib/base/clock.h"
#include "lib/base/json.h"
#include "lib/manifest/behaviour.h"

#include <nlohmann/json.hpp>

#include <array>
#include <optional>
#include <string_view>
#include <vector>

/// Kinds of jobs that are custom resources: an operator runs them, and the status says how far they
/// are. The table says where each kind has its fields and what its operator writes there; nothing
/// else of an operator is here. Pure.
namespace regatta::lab {

enum class OperatedPhase { suspended, running, succeeded, failed };

struct OperatedKind {
  api::ResourceInfo resource;
  Json::json_pointer suspend, managed_by;
  std::string_view own_controller;  ///< the value of managed_by that means the same as none
  /// What the status says of each phase: the type of a condition, or the value of `phase_field` if
  /// the kind has such a field. Empty: only the counts tell.
  std::array<std::string_view, 4> words;
  std::string_view phase_field;
  /// Pods: their gates hold them, and one that has a controller is left to it.
  bool pods = false;
  /// Writes the rest of the status.
  void (*details)(const Json& job, OperatedPhase phase, TimePoint now, Json* status);
};

const std::vector<OperatedKind>& operated_kinds();
/// Pods that Kueue manages and nothing else runs, as those of groups. Not among operated_kinds().
const OperatedKind& managed_pods();
/// nullptr when no operator is simulated for the kind.
const OperatedKind* operated_kind(std::string_view group, std::string_view kind);

/// The status of the job in that phase, made of the one that it has.
Json operated_status(const OperatedKind& kind, const Json& job, OperatedPhase phase, TimePoint now);
/// Succeeded or failed, as its status says.
bool operated_ended(const OperatedKind& kind, const Json& job);
bool operated_suspended(const OperatedKind& kind, const Json& job);
/// managedBy names the operator or is absent.
bool operated_here(const OperatedKind& kind, const Json& job);

struct OperatedStep {
  std::optional<Json> status;     ///< the whole status, to be written
  std::optional<Duration> again;  ///< when time alone changes the result
};

/// One step of a job that the operator runs. `ran`: for how long it has run.
///  1. A job that ended stays as it is.
///  2. A suspended job says so, and has no pods. A Pod that is held says nothing.
///  3. A job that has run its time ends, as its annotations say.
///  4. Otherwise it runs, with all of its pods.
OperatedStep plan_operated(const OperatedKind& kind, const Json& job,
                           const manifest::Behaviour& how, Duration ran, TimePoint now);

}  // namespace regatta::lab
