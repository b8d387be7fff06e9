#include "lab/apiserver/managed.h"

#include "lab/terms.h"
#include "lib/manifest/schema/builtin.h"

#include <nlohmann/json.hpp>

namespace regatta::apiserver {

Writer writer_of(const ManagedWrite& write) {
  Writer writer;
  writer.manager = write.manager;
  writer.api_version = write.type.api_version();
  writer.subresource = write.subresource;
  writer.ignored =
      default_ignored_fields(write.type.custom, write.type.has_status(), write.subresource);
  writer.schema = write.type.schema.get();
  writer.now = write.now;
  return writer;
}

void track_create(Json& object, const ManagedWrite& write) {
  static const Json nothing = Json::object();
  const ResourceType& type = write.type;
  const Json& blank = type.custom ? nothing : blank_object(type.group, type.version, type.kind);
  track_write(&object, blank, writer_of(write));
}

void track_update(Json& object, const Json& live, const ManagedWrite& write) {
  track_write(&object, live, writer_of(write));
}

}  // namespace regatta::apiserver
