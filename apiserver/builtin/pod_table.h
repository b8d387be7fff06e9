#pragma once

#include "apiserver/strategy.h"

#include <vector>

namespace regatta::apiserver::builtin {

std::vector<TableColumn> pod_columns();
std::vector<Json> pod_cells(const Json& pod, TimePoint now);

}  // namespace regatta::apiserver::builtin
