#pragma once

#include "lib/manifest/assets.h"

namespace regatta::lab {

/// The files of examples/, sorted by path.
const std::vector<manifest::Asset>& examples();

}  // namespace regatta::lab
