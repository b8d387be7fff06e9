#pragma once

#include "lab/apiserver/output.h"

#include <optional>

namespace regatta::apiserver {

/// /, /api, /apis and below, /version: what the server says about itself. Null for other paths.
std::optional<Answer<net::HttpResponse>> discovery(const Core& core, Exchange& exchange);

}  // namespace regatta::apiserver
