#pragma once

#include "lab/apiserver/core.h"
#include "lab/apiserver/options.h"
#include "lab/apiserver/output.h"

namespace regatta::apiserver {

/// The body of a create or update as an object of `type`, from JSON or YAML. Its kind and version
/// are checked, and its fields are checked against the schema as fieldValidation says (warnings go
/// to the exchange).
Answer<Json> decode_object(Core& core, Exchange& exchange, const ResourceType& type,
                           Validation validation);

/// The body of a DELETE; null without a body.
Answer<std::unique_ptr<Json>> decode_options_body(const Exchange& exchange);

/// The body as JSON, of any kind; for reviews and other kinds that are not stored.
Answer<Json> decode_any(const Exchange& exchange, std::string_view kind);

}  // namespace regatta::apiserver
