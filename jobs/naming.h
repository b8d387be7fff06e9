#pragma once

#include <string>
#include <string_view>

namespace regatta::jobs {

/// The name of the Workload made for a job: the kind in lower case, the job's name, and five hex
/// digits that tell apart what the cut or a re-creation would confuse. At most 253 characters.
/// `generation` tells apart the Workloads of an elastic job; `brief` ones have at most 63.
/// Compatible with upstream to the letter, so that a manager taking over finds its Workloads.
std::string workload_name(std::string_view kind, std::string_view group, std::string_view name,
                          std::string_view uid, std::string_view generation = {},
                          bool brief = false);

}  // namespace regatta::jobs
