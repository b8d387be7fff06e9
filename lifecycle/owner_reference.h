#pragma once

#include "lib/api/meta.h"

namespace regatta::lifecycle {

/// The reference that makes `owner` the controller of another object.
template <class T>
api::OwnerReference controller_reference(const T& owner) {
  api::OwnerReference reference;
  reference.api_version = T::resource.api_version();
  reference.kind = std::string(T::resource.kind);
  reference.name = owner.metadata.name;
  reference.uid = owner.metadata.uid;
  reference.controller = true;
  reference.block_owner_deletion = true;
  return reference;
}

}  // namespace regatta::lifecycle
