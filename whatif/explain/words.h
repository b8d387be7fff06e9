#pragma once

#include "admission/explain.h"

#include <string>
#include <vector>

namespace regatta::whatif {

/// "a", "a and b", "a, b and 3 others".
std::string listed(const std::vector<std::string>& names,
                   std::size_t at_most = admission::explain_names_max);
/// "1 workload", "3 workloads".
std::string counted(std::size_t count, const std::string& noun);
/// "4 nvidia.com/gpu", "1500m cpu"; "unlimited cpu".
std::string amount_of(const std::string& resource, admission::Amount amount);
/// "5m ago"; "in 5m" for a time in the future.
std::string relative(TimePoint time, TimePoint now);
/// "dev/a (of ClusterQueue x, for 3h)".
std::string holder_text(const admission::Holder& holder, TimePoint now);

std::string_view text_of(api::WithinQueuePolicy policy);
std::string_view text_of(api::ReclaimPolicy policy);
std::string_view text_of(api::BorrowPolicy policy);

}  // namespace regatta::whatif
