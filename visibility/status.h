#pragma once

#include "lib/base/json.h"
#include "visibility/api.h"

namespace regatta::visibility {

// Refusals: a Kubernetes Status.

Answer no_such_page();
Answer no_such_method();
/// `kind`: "clusterqueue" or "localqueue".
Answer no_such_queue(std::string_view kind, std::string_view name);
Answer bad_request(const std::string& message);
Answer not_acceptable();
Answer unauthorized();
/// `message`: what the user may not do.
Answer forbidden(const std::string& message, const Json& details);
/// The API server cannot say now whether the user may.
Answer unavailable(const std::string& message);

}  // namespace regatta::visibility
