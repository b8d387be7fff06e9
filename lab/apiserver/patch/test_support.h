#pragma once

#include "lab/apiserver/patch/apply.h"
#include "lab/apiserver/patch/managed_fields.h"
#include "lab/terms.h"
#include "lib/base/json.h"
#include "lib/manifest/schema/builtin.h"
#include "lib/manifest/schema/testing.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

/// Fixtures shared by the tests of this folder.
namespace regatta::apiserver::testing {

using manifest::testing::json_of;
using manifest::testing::widget_schema;

inline TimePoint at_second(int seconds) {
  return TimePoint(std::chrono::seconds(seconds));
}

inline Writer widget_writer(std::string manager, std::string subresource = "") {
  Writer writer;
  writer.manager = std::move(manager);
  writer.api_version = "example.dev/v1";
  writer.ignored = default_ignored_fields(true, true, subresource);
  writer.subresource = std::move(subresource);
  writer.schema = widget_schema();
  writer.now = at_second(1);
  return writer;
}

inline Writer config_map_writer(std::string manager) {
  Writer writer;
  writer.manager = std::move(manager);
  writer.api_version = "v1";
  writer.schema = builtin_schema("", "v1", "ConfigMap");
  writer.now = at_second(1);
  return writer;
}

/// Entry `index` of an object's managedFields without its time, or null.
inline Json fields_of(const Json& object, std::string_view manager,
                      std::string_view subresource = "") {
  if (!object.contains("metadata") || !object["metadata"].contains("managedFields")) return nullptr;
  for (const Json& entry : object["metadata"]["managedFields"]) {
    if (entry["manager"] == manager && entry.value("subresource", "") == subresource) {
      return entry["fieldsV1"];
    }
  }
  return nullptr;
}

}  // namespace regatta::apiserver::testing
