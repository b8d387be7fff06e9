#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace regatta::api {

/// A longer one is no name of Kubernetes and no label of a node.
constexpr std::size_t hostname_bytes_max = 253;

/// Where neighbouring names that share a prefix ("pool-a-" of "pool-a-1" and "pool-a-2") form runs:
/// the index at which each run begins, the first of them 0. A prefix ends at a "-" and counts when
/// at least two names have it. The longest prefixes are taken with which no more than `runs_max`
/// runs of at most `length_max` names come about; when there are none, everything is one run. A
/// name of more than hostname_bytes_max bytes has no prefix. The time that this takes grows with
/// the number of names times the number of "-" in one of them.
std::vector<std::size_t> hostname_runs(const std::vector<std::string>& names, std::size_t runs_max,
                                       std::size_t length_max);

}  // namespace regatta::api
