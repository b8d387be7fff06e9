#pragma once

#include "jobs/generic_job.h"
#include "lib/api/field_errors.h"

#include <memory>
#include <vector>

namespace regatta::jobs {

struct DescribedKinds {
  std::vector<std::shared_ptr<const JobKind>> kinds;
  api::FieldErrors errors;  ///< each with the path of its field; with any, `kinds` is not complete
};

/// The kinds of `integrations.describedKinds` of a configuration. A kind that is described twice,
/// or that Regatta has, is an error.
DescribedKinds described_kinds(const std::vector<Json>& descriptions);

}  // namespace regatta::jobs
