#pragma once

#include "lib/base/json.h"

#include <string>

namespace regatta::kube {

/// Which part of an object a patch may touch.
enum class PatchScope {
  status,    ///< .status alone
  metadata,  ///< labels, annotations, finalizers and ownerReferences alone
  object,    ///< everything but .status; of the metadata what `metadata` covers
};

/// The text of a merge patch that takes `scope` of `before` to `after`, with
/// metadata.resourceVersion of `before` so that it applies to nothing else; empty when there is
/// nothing to change.
std::string guarded_merge_patch(Json before, Json after, PatchScope scope);

}  // namespace regatta::kube
