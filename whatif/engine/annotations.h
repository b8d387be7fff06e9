#pragma once

#include <string_view>

/// Annotations that say how objects behave in a simulation, besides those of sandbox/behaviour.h.
/// On a Job, a Workload, or their pod template:
namespace regatta::whatif::annotations {

/// "true": a preempted job continues where it was; otherwise it starts from the beginning.
constexpr std::string_view resume = "simulate.regatta.dev/resume";
/// A preempted job continues from its last checkpoint. It makes one each time this many seconds
/// pass.
constexpr std::string_view checkpoint_seconds = "simulate.regatta.dev/checkpoint-seconds";
/// How long the pods take to become ready, each time they start.
constexpr std::string_view ready_seconds = "simulate.regatta.dev/ready-seconds";

// On an AdmissionCheck:
/// How long the check takes to answer; 0 by default.
constexpr std::string_view answer_seconds = "simulate.regatta.dev/answer-seconds";
/// The answer of the check: Ready (by default) or Rejected.
constexpr std::string_view answer = "simulate.regatta.dev/answer";

}  // namespace regatta::whatif::annotations
