#pragma once

#include <string>
#include <vector>

namespace regatta::api {

/// The path of every field the codec of T reads and writes, lists marked "[]":
/// "spec.podSets[].count". Metadata and what is kept as text (pod templates) are not entered.
template <class T>
std::vector<std::string> field_paths();

}  // namespace regatta::api
