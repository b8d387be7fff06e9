#pragma once

#include "jobs/lookup.h"
#include "lib/base/json.h"

namespace regatta::clusters {

/// Of a Workload that cannot be decoded, as when a newer version has written it: the quota that it
/// holds, which nothing else may get. Each field that cannot be read is left out by itself. Whether
/// it holds quota is not left open: with an admission it does, unless it is known to have none.
///
/// When `stored`, an older version that could be read, holds quota, all else is as in that one.
///
/// `not_found` when there is no quota to keep, or `stored` holds the same already.
Result<jobs::WorkloadPtr> part_with_quota(const Json& value, const api::Workload* stored);

}  // namespace regatta::clusters
