#pragma once

#include "lib/base/json.h"

#include <string>

namespace regatta::manager {

/// Sets what a configuration of v1beta2 leaves open.
void set_defaults(Json* configuration, const std::string& default_namespace);

/// The same for v1beta1, which has a few other defaults.
void set_old_defaults(Json* configuration, const std::string& default_namespace);

/// Makes a configuration of v1beta1 with its defaults one of v1beta2. What only v1beta1 has is left
/// out, and so is a stanza that is switched off.
void convert_old(Json* configuration);

}  // namespace regatta::manager
