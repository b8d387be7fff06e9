#include "lib/base/json_access.h"
#include "lib/manifest/assets.h"
#include "webhooks/shape.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>

namespace regatta::webhooks {
namespace {

using Kind = ShapeType::Kind;

/// What a schema says of a value, in the words of shapes.
std::optional<Kind> kind_of(const Json& schema) {
  const std::string& type = text_at(schema, "type");
  const std::string& format = text_at(schema, "format");
  if (true_at(schema, "x-kubernetes-int-or-string")) {
    return schema.contains("pattern") ? Kind::quantity : Kind::int_or_string;
  }
  if (type == "string") return format == "date-time" ? Kind::time : Kind::string;
  if (type == "integer") return format == "int64" ? Kind::int64 : Kind::int32;
  if (type == "boolean") return Kind::boolean;
  if (type == "array") return Kind::list;
  if (schema.contains("additionalProperties")) return Kind::map;
  if (type == "object") return Kind::structure;
  return std::nullopt;
}

class Walk {
 public:
  void compare(const Json& schema, const ShapeType& type, const std::string& path) {
    // The API server, not the schema, says what metadata looks like, and sources of volumes that
    // hardly any pod uses have a schema that takes everything.
    const bool open = true_at(schema, "x-kubernetes-preserve-unknown-fields");
    if (path.ends_with(".metadata") || open) return;
    const std::optional<Kind> kind = kind_of(schema);
    if (kind != type.kind) {
      differences_ += path + ": another type\n";
    } else if (kind == Kind::list) {
      compare(schema["items"], *type.element, path + "[]");
    } else if (kind == Kind::map) {
      compare(schema["additionalProperties"], *type.element, path + "{}");
    } else if (kind == Kind::structure) {
      compare_members(schema, *type.shape, path);
    }
  }

  const std::string& differences() const { return differences_; }

 private:
  void compare_members(const Json& schema, const Shape& shape, const std::string& path) {
    std::set<std::string> names;
    for (const ShapeField& field : shape.fields) {
      names.insert(field.name);
      const Json* property = member(schema, {"properties", field.name});
      if (property) {
        compare(*property, field.type, path + "." + field.name);
      } else {
        differences_ += path + "." + field.name + ": not in the schema\n";
      }
    }
    for (const auto& [name, property] : object_or_empty(schema, {"properties"}).items()) {
      if (names.count(name) == 0) differences_ += path + "." + name + ": not in the listing\n";
    }
  }

  std::string differences_;
};

TEST(ShapeListings, have_the_fields_and_types_of_the_crds) {
  const std::set<std::string> listed = {"Workload", "ClusterQueue", "Cohort", "LocalQueue",
                                        "MultiKueueCluster"};
  std::size_t compared = 0;
  for (const Json& definition : manifest::objects_below(manifest::kueue_crds()).value()) {
    const std::string& kind = text_at(definition, {"spec", "names", "kind"});
    for (const Json& version : definition["spec"]["versions"]) {
      const bool old = text_at(version, "name") == "v1beta1";
      if (listed.count(kind) == 0 && (old || kind != "ResourceFlavor")) continue;
      Walk walk;
      walk.compare(version["schema"]["openAPIV3Schema"], shape_type(old ? "v1beta1." + kind : kind),
                   kind);
      EXPECT_EQ(walk.differences(), "") << text_at(version, "name");
      ++compared;
    }
  }
  EXPECT_EQ(compared, 11u);
}

}  // namespace
}  // namespace regatta::webhooks
