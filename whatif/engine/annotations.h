#pragma once

#include <string_view>

/// What users write on objects to say how they behave in a simulation, besides the annotations of
/// sandbox/behaviour.h. On a Job, a Workload, or their pod template:
namespace regatta::whatif::annotations {

/// "true": a preempted job goes on where it was; otherwise it starts again.
constexpr std::string_view resume = "simulate.regatta.dev/resume";
/// It goes on from its last checkpoint, of which it makes one each so many seconds.
constexpr std::string_view checkpoint_seconds = "simulate.regatta.dev/checkpoint-seconds";
/// How long its pods take to become ready, each time they start.
constexpr std::string_view ready_seconds = "simulate.regatta.dev/ready-seconds";

// On an AdmissionCheck:
/// How long it takes to answer; 0 by default.
constexpr std::string_view answer_seconds = "simulate.regatta.dev/answer-seconds";
/// Ready (by default) or Rejected.
constexpr std::string_view answer = "simulate.regatta.dev/answer";

}  // namespace regatta::whatif::annotations
