#include "apiserver/managed.h"

#include "apiserver/json_access.h"

#include <nlohmann/json.hpp>

namespace regatta::apiserver {

void track_create(Json& object, const ManagedWrite&) {
  metadata_of(object).erase("managedFields");
}

void track_update(Json& object, const Json& live, const ManagedWrite&) {
  const Json* managed = member(live, "metadata", "managedFields");
  if (managed) {
    metadata_of(object)["managedFields"] = *managed;
  } else {
    metadata_of(object).erase("managedFields");
  }
}

}  // namespace regatta::apiserver
