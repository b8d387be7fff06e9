#pragma once

#include "lib/api/meta.h"
#include "lib/api/names.h"

#include <string>

namespace regatta::api {

/// A hub of MultiKueue has sent the object here: a copy of a Workload, or a job with it.
inline bool made_on_hub(const ObjectMeta& metadata) {
  return !metadata.label(std::string(labels::multikueue_origin)).empty();
}

}  // namespace regatta::api
