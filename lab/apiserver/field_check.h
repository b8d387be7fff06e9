#pragma once

#include "lab/apiserver/options.h"
#include "lab/apiserver/output.h"

#include <optional>

namespace regatta::apiserver {

/// Holds what a client sent against the schema of its type: wrong types (built-in kinds), unknown
/// and duplicate fields, as fieldValidation asks. Unknown fields of built-in kinds are removed.
/// `json_text`: the text it came from, for duplicates; may be empty.
std::optional<Failure> check_fields(Exchange& exchange, const ResourceType& type, Json& object,
                                    const std::string& json_text, Validation validation);

}  // namespace regatta::apiserver
