#include "lib/manifest/fields/field_validation.h"

#include "lib/manifest/schema/testing.h"

#include <gtest/gtest.h>

namespace regatta::manifest {
namespace {

BodyKind builtin(std::string_view group, std::string_view version, std::string_view kind) {
  BodyKind body{std::string(kind), builtin_schema(group, version, kind), false, nullptr};
  EXPECT_NE(body.schema, nullptr);
  return body;
}

BodyKind widget() {
  return BodyKind{"Widget", testing::widget_schema(), true, object_meta_schema()};
}

BodyReport report_of(std::string_view text, const BodyKind& kind) {
  return check_body(text, kind, testing::json_of(text));
}

std::string strict_text(std::string_view text, const BodyKind& kind) {
  BodyReport report = report_of(text, kind);
  EXPECT_EQ(report.type_error.value_or(""), "") << text;
  return report.strict.empty() ? "" : strict_error_text(report.strict);
}

TEST(FieldValidation, ListsUnknownAndDuplicateFieldsAsTheyAreRead) {
  BodyKind kind = builtin("", "v1", "ConfigMap");
  EXPECT_EQ(
      strict_text(R"({"apiVersion":"v1","kind":"ConfigMap",
              "metadata":{"name":"d","nosuchmeta":1},"dataa":{"k":"v","k":"v"}})",
                  kind),
      "strict decoding error: unknown field \"metadata.nosuchmeta\", unknown field \"dataa\"");
  EXPECT_EQ(strict_text(R"({"data":{"a":"1","a":"2"}})", kind),
            "strict decoding error: duplicate field \"data.a\"");
  EXPECT_EQ(strict_text(R"({"Data":{"a":"1"}})", kind),
            "strict decoding error: unknown field \"Data\"");
  EXPECT_EQ(strict_text(R"({"metadata":{"labels":{"x":"y"},"ownerReferences":[{"uid":"u"},
              {"bad":{"deep":1}}]},"data":{"a":"1"}})",
                        kind),
            "strict decoding error: unknown field \"metadata.ownerReferences[1].bad\"");
  EXPECT_EQ(strict_text(R"({"metadata":{"name":"a"},"data":{"metadata.name":"x"}})", kind), "");
}

TEST(FieldValidation, OfCustomResourcesMetadataComesFirst) {
  EXPECT_EQ(strict_text(R"({"apiVersion":"example.dev/v1","kind":"Widget","metadata":{"name":"w2",
              "bogus":1},"spec":{"size":3,"nosuch":1,"size":4,"free":{"x":{"y":1}}},"extra":{}})",
                        widget()),
            "strict decoding error: duplicate field \"spec.size\", unknown field "
            "\"metadata.bogus\", unknown field \"extra\", unknown field \"spec.nosuch\"");
  EXPECT_EQ(strict_text(R"({"spec":{"parts":[{"name":"a"},{"name":"b","c":{"d":1}}]}})", widget()),
            "strict decoding error: unknown field \"spec.parts[1].c\"");
}

struct TypeCase {
  const char* group;
  const char* version;
  const char* kind;
  const char* text;
  const char* error;
};

TEST(FieldValidation, SaysWhichStructureCannotHoldAValue) {
  const TypeCase cases[] = {
      {"", "v1", "ConfigMap", R"({"data":{"k":1}})",
       "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"},
      {"", "v1", "ConfigMap", R"({"data":[]})",
       "json: cannot unmarshal array into Go struct field ConfigMap.data of type "
       "map[string]string"},
      {"", "v1", "ConfigMap", R"({"metadata":{"labels":{"a":true}}})",
       "json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type "
       "string"},
      {"batch", "v1", "Job", R"({"spec":{"parallelism":"x"}})",
       "json: cannot unmarshal string into Go struct field JobSpec.spec.parallelism of type int32"},
      {"batch", "v1", "Job", R"({"spec":{"parallelism":1.5}})",
       "json: cannot unmarshal number 1.5 into Go struct field JobSpec.spec.parallelism of type "
       "int32"},
      {"batch", "v1", "Job", R"({"spec":{"parallelism":3000000000}})",
       "json: cannot unmarshal number 3000000000 into Go struct field JobSpec.spec.parallelism of "
       "type int32"},
      {"batch", "v1", "Job", R"({"spec":{"template":{"spec":{"containers":[{"image":1}]}}}})",
       "json: cannot unmarshal number into Go struct field "
       "Container.spec.template.spec.containers.image of type string"},
      {"coordination.k8s.io", "v1", "Lease", R"({"spec":{"renewTime":"2026-01-01T00:00:05Z"}})",
       "parsing time \"2026-01-01T00:00:05Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot "
       "parse \"Z\" as \".000000\""},
      {"coordination.k8s.io", "v1", "Lease",
       R"({"spec":{"renewTime":"2026-01-01T00:00:05.123456789Z"}})",
       "parsing time \"2026-01-01T00:00:05.123456789Z\" as \"2006-01-02T15:04:05.000000Z07:00\": "
       "cannot parse \"789Z\" as \"Z07:00\""},
      {"coordination.k8s.io", "v1", "Lease", R"({"spec":{"renewTime":"soon"}})",
       "parsing time \"soon\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"soon\" as "
       "\"2006\""},
      {"coordination.k8s.io", "v1", "Lease",
       R"({"spec":{"renewTime":"2026-01-01T02:00:05.5+02:00"}})",
       "parsing time \"2026-01-01T02:00:05.5+02:00\" as \"2006-01-02T15:04:05.000000Z07:00\": "
       "cannot parse \".5+02:00\" as \".000000\""},
      {"", "v1", "Secret", R"({"data":{"a":"!"}})", "illegal base64 data at input byte 0"},
      {"", "v1", "Secret", R"({"data":{"a":"aGk=","b":"YQ==","c":"YWJj","d":""}})", ""},
      {"coordination.k8s.io", "v1", "Lease",
       R"({"spec":{"renewTime":"2026-01-01T00:00:05.000000Z"}})", ""},
      {"", "v1", "ConfigMap", R"({"metadata":{"creationTimestamp":null},"data":null})", ""},
  };
  for (const TypeCase& c : cases) {
    BodyReport report = report_of(c.text, builtin(c.group, c.version, c.kind));
    EXPECT_EQ(report.type_error.value_or(""), c.error) << c.text;
  }
}

TEST(FieldValidation, OfCustomResourcesOnlyMetadataIsDecoded) {
  EXPECT_EQ(report_of(R"({"metadata":{"labels":{"a":1}},"spec":{"size":"x"}})", widget())
                .type_error.value_or(""),
            "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string");
  EXPECT_FALSE(report_of(R"({"spec":{"size":"x"}})", widget()).type_error);
}

TEST(FieldValidation, QuantitiesMayBeNumbers) {
  BodyKind node = builtin("", "v1", "Node");
  EXPECT_FALSE(report_of(R"({"status":{"capacity":{"cpu":4,"memory":"1Gi",
      "pods":"1e3","x":"100m"}}})",
                         node)
                   .type_error);
  EXPECT_TRUE(report_of(R"({"status":{"capacity":{"cpu":"4x"}}})", node).type_error);
}

TEST(FieldValidation, EmptyListsAndMapsAreDroppedEmptyStructuresStay) {
  Json pod = testing::json_of(R"({"metadata":{"labels":{},"annotations":{"a":"b"},
    "ownerReferences":[],"managedFields":[]},"spec":{"containers":[],"securityContext":{},
    "nodeSelector":{},
    "volumes":[{"name":"v","emptyDir":{}}]},"status":{}})");
  drop_empty_members(&pod, *builtin_schema("", "v1", "Pod"));
  EXPECT_EQ(pod,
            testing::json_of(
                R"({"metadata":{"annotations":{"a":"b"},"managedFields":[]},"spec":{"containers":[],
    "securityContext":{},"volumes":[{"name":"v","emptyDir":{}}]},"status":{}})"));
}

TEST(FieldValidation, EscapesAndColonsInStringsHideNoDuplicate) {
  BodyKind kind = builtin("", "v1", "ConfigMap");
  EXPECT_EQ(strict_text(R"({"data":{"a":"x\\\": {\"b\":1","c":":"}})", kind), "");
  EXPECT_EQ(strict_text(R"({"data":{"a":"\\","b":"\":","b":"c"}})", kind),
            "strict decoding error: duplicate field \"data.b\"");
}

}  // namespace
}  // namespace regatta::manifest
