#pragma once

#include "lab/apiserver/request.h"
#include "lib/net/http.h"

#include <optional>
#include <string>
#include <vector>

namespace regatta::apiserver {

/// Answers /healthz, /livez and /readyz; null for other paths.
std::optional<net::HttpResponse> health(const RequestInfo& info);
/// The names of the checks that "healthz", "livez" or "readyz" makes.
const std::vector<std::string>& health_checks(const std::string& endpoint);

}  // namespace regatta::apiserver
