#pragma once

#include "lib/api/labels.h"

namespace regatta::api {

/// Whether `labels` satisfy one requirement of a node selector: In, NotIn, Exists, DoesNotExist, Gt
/// or Lt. Any other operator matches nothing.
bool matches(const LabelSelectorRequirement& requirement, const StringMap& labels);

}  // namespace regatta::api
