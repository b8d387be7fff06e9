#pragma once

#include "lab/apiserver/patch/managed_fields.h"
#include "lab/terms.h"
#include "lib/base/clock.h"
#include "lib/manifest/registry.h"

namespace regatta::apiserver {

/// A write as managedFields record it.
struct ManagedWrite {
  const ResourceType& type;
  std::string manager;
  std::string subresource;
  TimePoint now;
};

Writer writer_of(const ManagedWrite& write);

/// Sets metadata.managedFields of a new object.
void track_create(Json& object, const ManagedWrite& write);
/// Sets metadata.managedFields of an object that replaces `live`, from the differences.
void track_update(Json& object, const Json& live, const ManagedWrite& write);

}  // namespace regatta::apiserver
