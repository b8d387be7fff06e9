#pragma once

#include <string>
#include <string_view>

namespace regatta::jobs {

/// The name of the Workload made for a job: the kind in lower case, the job's name, and five hex
/// digits. These tell apart jobs that have the same name after it was cut, or after they were
/// created anew. At most 253 characters, or 63 with `brief`. `generation` tells apart the Workloads
/// of an elastic job. The names are those of upstream to the letter, so that a manager that takes
/// over finds its Workloads.
std::string workload_name(std::string_view kind, std::string_view group, std::string_view name,
                          std::string_view uid, std::string_view generation = {},
                          bool brief = false);

}  // namespace regatta::jobs
