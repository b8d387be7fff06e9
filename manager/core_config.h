#pragma once

#include "manager/config/configuration.h"
#include "manager/core.h"

namespace regatta::manager {

/// Translates the configuration file into the configuration of the controllers. `instance` names
/// this process in Events. `invalid` for selectors that cannot be used.
Result<CoreConfig> core_config(const Configuration& config, std::string instance);

}  // namespace regatta::manager
