#pragma once

#include "lib/manifest/strategy.h"

#include <vector>

namespace regatta::manifest::builtin {

std::vector<TableColumn> pod_columns();
std::vector<Json> pod_cells(const Json& pod, TimePoint now);

}  // namespace regatta::manifest::builtin
