#pragma once

#include "lib/manifest/builtin/generic.h"

namespace regatta::manifest::builtin {

/// Checks what the kinds that keep pods running have in common: replicas, a selector, and a
/// template that it selects, of pods that restart.
void validate_pod_keeper(const Json& spec, FieldErrors* errors);

/// The selector as tables show it: "a=b,c in (d,e)", "<none>".
std::string selector_text(const Json& selector);

}  // namespace regatta::manifest::builtin
