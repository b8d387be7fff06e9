#pragma once

#include "lib/api/batch.h"
#include "lib/base/clock.h"

#include <optional>
#include <string_view>

namespace regatta::manifest {

// What users write on a Job, or on its pod template, to say how its pods behave. The Job's own
// annotation wins.
namespace annotations {
/// Seconds each pod runs, with an optional fraction: "12.5".
constexpr std::string_view run_seconds = "sandbox.regatta.dev/run-seconds";
/// "true": every pod fails; a number: so many pods fail before the first one succeeds.
constexpr std::string_view fail = "sandbox.regatta.dev/fail";
/// The part of terminationGracePeriodSeconds, 0 to 1, that a pod takes to end when asked to.
constexpr std::string_view termination_share = "sandbox.regatta.dev/termination-share";
/// "false": the Job has no Pod objects, and only its status tells how it goes.
constexpr std::string_view pods = "sandbox.regatta.dev/pods";
}  // namespace annotations

struct Behaviour {
  Duration run{5000};
  std::int64_t failures = 0;  ///< pods that fail; the largest number for "every one"
  Duration termination{0};    ///< from the request to end until a pod has ended
  bool pods = true;
};

/// The values in the annotations; `otherwise` where an annotation is absent or cannot be read.
Behaviour behaviour_of(const api::Job& job, const Behaviour& otherwise);
/// The same for any object that has annotations and a pod template.
Behaviour behaviour_of(const api::ObjectMeta& metadata, const api::PodTemplate& pod_template,
                       const Behaviour& otherwise);
/// A number of seconds, 0 and above, in the annotation of that name; the template's counts where
/// the object has none. nullopt when there is none or it cannot be read.
std::optional<Duration> seconds_in(const api::ObjectMeta& metadata,
                                   const api::PodTemplate& pod_template, std::string_view name);

/// Whether the simulated Job controller is responsible: managedBy names it or is absent.
bool is_ours(const api::Job& job);

}  // namespace regatta::manifest
