#pragma once

#include "admission/pending_page.h"
#include "visibility/api.h"

namespace regatta::visibility {

/// The JSON text of a PendingWorkloadsSummary. A page may have 100,000 items, so it is written at
/// once, not built as a tree.
std::string summary_text(std::string_view version,
                         const std::vector<admission::PendingPlace>& places, const Source& source);

}  // namespace regatta::visibility
