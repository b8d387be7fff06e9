// Checks the CRDs of charts/regatta/files/crds against the types: what a schema describes survives
// the codec, and what the codec knows is in the schema.

#include "lib/api/codec.h"
#include "lib/api/convert.h"
#include "lib/api/field_paths.h"
#include "lib/api/kueue.h"
#include "lib/api/yaml.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

namespace regatta::api {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

const Json& crd_of(const ResourceInfo& resource) {
  static std::map<std::string, Json> cache;
  const std::string plural(resource.plural);
  const auto [it, fresh] = cache.emplace(plural, Json());
  if (fresh) {
    const std::string path = "charts/regatta/files/crds/kueue.x-k8s.io_" + plural + ".yaml";
    const auto documents = parse_yaml_documents(read_file(path));
    if (documents && documents->size() == 1) it->second = documents->front();
  }
  return it->second;
}

const Json& schema_of(const ResourceInfo& resource, std::string_view version) {
  static const Json none = Json::object();
  const Json& crd = crd_of(resource);
  if (!crd.is_object()) return none;
  for (const Json& entry : crd.at("spec").at("versions")) {
    if (entry.at("name") == version) return entry.at("schema").at("openAPIV3Schema");
  }
  return none;
}

/// A value with every property set, to something that is not its default or zero.
Json full_value(const Json& schema) {
  if (schema.contains("x-kubernetes-int-or-string")) return "7";
  const std::string type = schema.value("type", "");
  if (type == "array") return Json::array({full_value(schema.at("items"))});
  if (type == "integer") return 7;
  if (type == "boolean") return true;
  if (type == "string") {
    if (schema.contains("enum")) return schema.at("enum").back().get<std::string>();
    return schema.value("format", "") == "date-time" ? "2026-01-02T03:04:05Z" : "text";
  }
  Json out = Json::object();
  if (schema.contains("additionalProperties")) {
    out["key"] = full_value(schema.at("additionalProperties"));
  }
  if (schema.contains("properties")) {
    for (const auto& [name, property] : schema.at("properties").items()) {
      out[name] = full_value(property);
    }
  }
  return out;
}

Json full_object(const ResourceInfo& resource, std::string_view version) {
  Json out = full_value(schema_of(resource, version));
  out["apiVersion"] = "kueue.x-k8s.io/" + std::string(version);
  out["kind"] = std::string(resource.kind);
  out["metadata"] = Json{{"name", "x"}};
  return out;
}

void schema_paths(const Json& schema, const std::string& path, std::set<std::string>* out) {
  if (schema.contains("items")) return schema_paths(schema.at("items"), path + "[]", out);
  if (!schema.contains("properties")) return;
  for (const auto& [name, property] : schema.at("properties").items()) {
    const std::string below = path.empty() ? name : path + "." + name;
    out->insert(below);
    schema_paths(property, below, out);
  }
}

/// Paths of `value` that `schema` does not describe.
void foreign_paths(const Json& value, const Json& schema, const std::string& path,
                   std::vector<std::string>* out) {
  if (value.is_array() && schema.contains("items")) {
    for (const Json& item : value) foreign_paths(item, schema.at("items"), path + "[]", out);
  } else if (value.is_object() && schema.contains("properties")) {
    for (const auto& [name, member] : value.items()) {
      const auto it = schema.at("properties").find(name);
      if (it == schema.at("properties").end()) {
        out->push_back(path + "." + name);
      } else {
        foreign_paths(member, *it, path + "." + name, out);
      }
    }
  }
}

template <class T>
class CrdOf : public testing::Test {};

using Kinds = testing::Types<Workload, ClusterQueue, LocalQueue, Cohort, ResourceFlavor, Topology,
                             WorkloadPriorityClass, AdmissionCheck, MultiKueueCluster,
                             MultiKueueConfig, ProvisioningRequestConfig>;
TYPED_TEST_SUITE(CrdOf, Kinds);

TYPED_TEST(CrdOf, names_the_kind_as_the_type_does) {
  const ResourceInfo& resource = TypeParam::resource;
  const Json& crd = crd_of(resource);
  ASSERT_TRUE(crd.is_object()) << "run the tests from the source root";
  EXPECT_EQ(crd["metadata"]["name"], resource.group_resource());
  EXPECT_EQ(crd["spec"]["names"]["kind"], resource.kind);
  EXPECT_EQ(crd["spec"]["scope"], resource.namespaced ? "Namespaced" : "Cluster");
}

TYPED_TEST(CrdOf, everything_the_schema_describes_survives_the_codec) {
  const Json object = full_object(TypeParam::resource, "v1beta2");
  const Result<TypeParam> read = from_json<TypeParam>(object);
  ASSERT_TRUE(read) << read.error().what();
  const Json written = to_json(*read);
  EXPECT_TRUE(written == object) << Json::diff(written, object).dump(1);
}

TYPED_TEST(CrdOf, everything_the_codec_knows_is_in_the_schema) {
  // A kind that shares a status type with others leaves out the fields of the others.
  static const std::set<std::string> others = {
      "ClusterQueue status.fairSharing.admissionFairSharingStatus",
      "ClusterQueue status.fairSharing.admissionFairSharingStatus.consumedResources",
      "ClusterQueue status.fairSharing.admissionFairSharingStatus.lastUpdate",
      "Cohort status.fairSharing.admissionFairSharingStatus",
      "Cohort status.fairSharing.admissionFairSharingStatus.consumedResources",
      "Cohort status.fairSharing.admissionFairSharingStatus.lastUpdate",
      "LocalQueue status.flavorsReservation[].resources[].borrowed",
      "LocalQueue status.flavorsUsage[].resources[].borrowed"};
  std::set<std::string> described;
  schema_paths(schema_of(TypeParam::resource, "v1beta2"), "", &described);
  const std::vector<std::string> known = field_paths<TypeParam>();
  EXPECT_GT(known.size(), 1u);
  for (const std::string& path : known) {
    if (others.count(std::string(TypeParam::resource.kind) + " " + path) > 0) continue;
    EXPECT_TRUE(described.count(path) > 0) << path;
  }
}

TYPED_TEST(CrdOf, an_object_of_the_older_version_is_read_and_fits_the_newer_schema) {
  Json object = full_object(TypeParam::resource, "v1beta1");
  if (std::is_same_v<TypeParam, ClusterQueue>) {  // free text in the older schema
    object["spec"]["admissionScope"]["admissionMode"] = "NoAdmissionFairSharing";
  }
  EXPECT_TRUE(from_json<TypeParam>(object)) << from_json<TypeParam>(object).error().what();
  ASSERT_TRUE(convert(object, "v1beta1", "v1beta2"));
  std::vector<std::string> foreign;
  foreign_paths(object, schema_of(TypeParam::resource, "v1beta2"), "", &foreign);
  // AdmissionCheck has no conversion webhook: the API server prunes this field.
  std::erase(foreign, ".spec.retryDelayMinutes");
  EXPECT_EQ(foreign, std::vector<std::string>());
}

TYPED_TEST(CrdOf, an_object_of_the_newer_version_converts_into_the_older_schema) {
  Json object = full_object(TypeParam::resource, "v1beta2");
  ASSERT_TRUE(convert(object, "v1beta2", "v1beta1"));
  EXPECT_EQ(object["apiVersion"], "kueue.x-k8s.io/v1beta1");
  std::vector<std::string> foreign;
  foreign_paths(object, schema_of(TypeParam::resource, "v1beta1"), "", &foreign);
  std::erase(foreign, ".spec.quotaManagement");  // pruned, as above
  EXPECT_EQ(foreign, std::vector<std::string>());
}

TEST(Crds, every_list_by_key_has_the_keys_structural_schemas_need) {
  int lists = 0;
  const std::function<void(const Json&)> walk = [&](const Json& schema) {
    if (schema.value("x-kubernetes-list-type", "") == "map") {
      ++lists;
      const Json& item = schema.at("items");
      for (const Json& key : schema.at("x-kubernetes-list-map-keys")) {
        const Json required = item.value("required", Json::array());
        const bool sure = std::find(required.begin(), required.end(), key) != required.end();
        EXPECT_TRUE(sure || item.at("properties").at(key.get<std::string>()).contains("default"));
      }
    }
    if (schema.contains("items")) walk(schema.at("items"));
    if (schema.contains("additionalProperties")) walk(schema.at("additionalProperties"));
    const Json properties = schema.value("properties", Json::object());
    for (const auto& [name, property] : properties.items()) walk(property);
  };
  walk(schema_of(Workload::resource, "v1beta1"));
  walk(schema_of(Workload::resource, "v1beta2"));
  walk(schema_of(ClusterQueue::resource, "v1beta2"));
  EXPECT_GT(lists, 40);
}

}  // namespace
}  // namespace regatta::api
