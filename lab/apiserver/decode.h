#pragma once

#include "lab/apiserver/core.h"
#include "lab/apiserver/options.h"
#include "lab/apiserver/output.h"

namespace regatta::apiserver {

/// The body of a create or update as an object of `type`: read from JSON or YAML, its kind and
/// version checked, its fields checked against the schema as fieldValidation asks (warnings go to
/// the exchange).
Answer<Json> decode_object(Core& core, Exchange& exchange, const ResourceType& type,
                           Validation validation);

/// The body of a DELETE; null when there is none.
Answer<std::unique_ptr<Json>> decode_options_body(const Exchange& exchange);

/// The body as JSON whatever its kind; for reviews and other one-off kinds.
Answer<Json> decode_any(const Exchange& exchange, std::string_view kind);

}  // namespace regatta::apiserver
