#pragma once

#include "lib/api/meta.h"

#include <string>

namespace regatta::api {

/// The reference that makes the object of that kind and metadata the controller of another object.
inline OwnerReference controller_reference(const ResourceInfo& kind, const ObjectMeta& owner) {
  OwnerReference reference;
  reference.api_version = kind.api_version();
  reference.kind = std::string(kind.kind);
  reference.name = owner.name;
  reference.uid = owner.uid;
  reference.controller = true;
  reference.block_owner_deletion = true;
  return reference;
}

}  // namespace regatta::api
