#pragma once

#include "lab/conformance/compare.h"

namespace regatta::lab {

/// Compares the outcome of one step of a scenario of jobs with what the step expects, by the rules
/// of their corpus: what is empty does not count, quantities are equal by value, some lists have no
/// order, and of errors of the reconciler only the presence counts.
Differences compare_job_step(const Json& step, const Json& got);

}  // namespace regatta::lab
