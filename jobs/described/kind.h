#pragma once

#include "jobs/described/description.h"

#include <memory>

namespace regatta::jobs {

/// The kind of job that the description describes.
std::shared_ptr<const JobKind> described_kind(KindDescription description);

}  // namespace regatta::jobs
