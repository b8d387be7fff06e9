#pragma once

#include "lib/api/field_errors.h"
#include "lib/base/json.h"

namespace regatta::webhooks {

constexpr std::size_t admission_gate_bytes_max = 63;

/// Checks the annotation kueue.x-k8s.io/admission-gated-by of any object: names of gates, each of
/// the form "example.com/path", with commas between them.
void check_admission_gates(const Json& object, api::ErrorList* errors);
/// The same, and that gates are only removed.
void check_admission_gates_update(const Json& before, const Json& after, api::ErrorList* errors);

}  // namespace regatta::webhooks
