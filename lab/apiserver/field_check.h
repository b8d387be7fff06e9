#pragma once

#include "lab/apiserver/options.h"
#include "lab/apiserver/output.h"

#include <optional>

namespace regatta::apiserver {

/// Checks an object from a client against the schema of its type: wrong types (built-in kinds),
/// unknown and duplicate fields, as fieldValidation says. Removes unknown fields of built-in kinds.
/// `json_text` is the text of the object, in which duplicates are found; it may be empty.
std::optional<Failure> check_fields(Exchange& exchange, const ResourceType& type, Json& object,
                                    const std::string& json_text, Validation validation);

/// What decoding does to an object that the server itself changed: drops what the schema does not
/// know, and sets defaults. What is wrong with it, if something is.
std::optional<std::string> complete_object(Json& object, const ResourceType& type);

}  // namespace regatta::apiserver
