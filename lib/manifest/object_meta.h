#pragma once

#include "lib/api/validation.h"
#include "lib/base/rng.h"
#include "lib/manifest/registry.h"

namespace regatta::manifest {

/// The rules of ObjectMeta that hold for every kind.

/// Starts a new object: sets uid, creationTimestamp and a generated name, and drops what only the
/// server sets.
void start_metadata(Json& object, TimePoint now, Rng& rng);
/// The name from generateName and a random suffix.
std::string generated_name(std::string_view prefix, Rng& rng);

/// Drops repeated owner references. Returns the warning to give for them, or empty.
std::string drop_repeated_owners(Json& object);

/// Before an update: takes the fields that only the server sets from `old`.
void keep_system_metadata(Json& object, const Json& old);

FieldErrors validate_metadata(const Json& object, const ResourceType& type);
FieldErrors validate_metadata_update(const Json& object, const Json& old, const ResourceType& type);
/// What is wrong with the name of an object of that type.
api::Complaints name_errors(const ResourceType& type, std::string_view name);

}  // namespace regatta::manifest
