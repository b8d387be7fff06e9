#include "lib/manifest/crd/custom_resource.h"

#include "lib/manifest/crd/definition.h"
#include "lib/manifest/crd/testing.h"

#include <gtest/gtest.h>

namespace regatta::manifest {
namespace {

using namespace std::chrono_literals;

const Strategy& widgets() {
  static const auto types = *resource_types(widget_definition(), nullptr);
  return *types.front().strategy;
}

Json widget(const char* spec, const char* status = "null") {
  Json out = {{"apiVersion", "example.dev/v1"},
              {"kind", "Widget"},
              {"metadata", {{"name", "w"}}},
              {"spec", Json::parse(spec)}};
  if (auto parsed = Json::parse(status); !parsed.is_null()) out["status"] = std::move(parsed);
  return out;
}

struct ResourceCase {
  const char* name;
  const char* spec;
  const char* want;
  friend void PrintTo(const ResourceCase& c, std::ostream* out) { *out << c.name; }
};
class CreateTable : public ::testing::TestWithParam<ResourceCase> {};

TEST_P(CreateTable, SaysWhatIsWrong) {
  auto object = widget(GetParam().spec);
  widgets().set_defaults(object);
  EXPECT_EQ(describe(widgets().validate_create(object)), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    , CreateTable,
    ::testing::Values(
        ResourceCase{"fine", R"({"size": 3})", ""},
        ResourceCase{"rule", R"({"size": 3, "min": 5, "max": 3})",
                     "spec: Invalid value: min must not exceed max"},
        ResourceCase{"message_expression_reason_and_field_path", R"({"size": 1, "paused": true})",
                     "[Forbidden] spec.paused: Forbidden: size 1 cannot be paused"},
        ResourceCase{
            "range_errors_do_not_hide_rules", R"({"size": 0, "min": 5, "max": 3})",
            "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1\n"
            "spec: Invalid value: min must not exceed max"},
        ResourceCase{
            "type_errors_hide_rules", R"({"size": "x", "min": 5, "max": 3})",
            "[TypeInvalid] spec.size: Invalid value: \"string\": spec.size in body must be of type "
            "integer: \"string\"\nrules not checked"},
        ResourceCase{"missing_fields_hide_rules", R"({})",
                     "[Required] spec.size: Required value\nrules not checked"},
        ResourceCase{"transition_rules_need_an_old_value", R"({"size": 3, "fixed": "a"})", ""},
        ResourceCase{
            "scale_wants_whole_numbers", R"({"size": 3, "replicas": 3.0})",
            ".spec.replicas: Invalid value: 0: .spec.replicas accessor error: 3 is of the type "
            "float64, expected int64"},
        ResourceCase{
            "scale_wants_objects", R"("x")",
            "[TypeInvalid] spec: Invalid value: \"string\": spec in body must be of type object: "
            "\"string\"\n.spec.replicas: Invalid value: 0: .spec.replicas accessor error: x is of "
            "the type string, expected map[string]interface{}\nrules not checked"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(CustomResource, TransitionRulesCompareWithTheOldValue) {
  const auto old = widget(R"({"size": 3, "fixed": "a"})");
  EXPECT_EQ(describe(widgets().validate_update(widget(R"({"size": 3, "fixed": "b"})"), old)),
            "spec.fixed: Invalid value: \"b\": fixed is immutable");
  EXPECT_EQ(describe(widgets().validate_update(widget(R"({"size": 3})"), old)), "");
}

TEST(CustomResource, RulesAreNotHeldAgainstWhatDidNotChange) {
  const auto old = widget(R"({"size": 3, "min": 5, "max": 3})");
  auto labelled = old;
  labelled["metadata"]["labels"] = {{"a", "b"}};
  EXPECT_EQ(describe(widgets().validate_update(labelled, old)), "");
  auto changed = old;
  changed["spec"]["size"] = 4;
  EXPECT_EQ(describe(widgets().validate_update(changed, old)),
            "spec: Invalid value: min must not exceed max");
}

TEST(CustomResource, ListItemsAreFoundAgainByTheirKey) {
  const auto old = widget(R"({"size": 3, "parts": [{"name": "a", "count": 3}]})");
  const auto reordered = widget(R"({"size": 3, "parts": [{"name": "b", "count": 1},
                                                         {"name": "a", "count": 2}]})");
  EXPECT_EQ(describe(widgets().validate_update(reordered, old)),
            "spec.parts[1].count: Invalid value: 2: count may only grow");
}

TEST(CustomResource, StatusIsValidatedAlone) {
  const auto old = widget(R"({"size": 99})");
  const auto now = widget(R"({"size": 99})", R"({"phase": "Nope"})");
  EXPECT_EQ(describe(widgets().validate_status_update(now, old)),
            "[NotSupported] status.phase: Unsupported value: \"Nope\": supported values: \"New\", "
            "\"Ready\"\nrules not checked");
  const auto late = widget(R"({"size": 9})", R"({"conditions": [
    {"type": "Ready", "status": "True", "lastTransitionTime": "yesterday"}]})");
  EXPECT_EQ(describe(widgets().validate_status_update(late, old)),
            "[TypeInvalid] status.conditions[0].lastTransitionTime: Invalid value: \"yesterday\": "
            "conditions[0].lastTransitionTime in body must be of type date-time: \"yesterday\"\n"
            "rules not checked");
}

TEST(CustomResource, WritersOfSpecDoNotTouchStatus) {
  auto created = widget(R"({"size": 3})", R"({"phase": "Ready"})");
  widgets().prepare_for_create(created, TimePoint());
  EXPECT_FALSE(created.contains("status"));
  EXPECT_EQ(created["metadata"]["generation"], 1);

  created["status"] = {{"phase", "New"}};
  auto same = created;
  same["status"]["phase"] = "Ready";
  same["metadata"]["labels"] = {{"a", "b"}};
  widgets().prepare_for_update(same, created, TimePoint());
  EXPECT_EQ(same["status"]["phase"], "New");
  EXPECT_EQ(same["metadata"]["generation"], 1);

  auto changed = created;
  changed["spec"]["size"] = 4;
  widgets().prepare_for_update(changed, created, TimePoint());
  EXPECT_EQ(changed["metadata"]["generation"], 2);
}

TEST(CustomResource, WritersOfStatusTouchNothingElse) {
  auto old = widget(R"({"size": 3})");
  old["metadata"]["generation"] = 1;
  auto now = widget(R"({"size": 4})", R"({"phase": "Ready"})");
  now["metadata"]["labels"] = {{"a", "b"}};
  now["metadata"]["managedFields"] = Json::array({1});
  widgets().prepare_for_status_update(now, old, TimePoint());
  EXPECT_EQ(now["spec"]["size"], 3);
  EXPECT_EQ(now["status"]["phase"], "Ready");
  EXPECT_FALSE(now["metadata"].contains("labels"));
  EXPECT_TRUE(now["metadata"].contains("managedFields"));
}

TEST(CustomResource, ColumnsComeFromTheDefinition) {
  auto object =
      widget(R"({"size": 3})",
             R"({"phase": "Ready", "conditions": [{"type": "Ready", "status": "True"}]})");
  object["metadata"]["creationTimestamp"] = "1970-01-01T00:00:00Z";
  EXPECT_EQ(Json(widgets().cells(object, TimePoint(330s))).dump(),
            R"(["w",3,"True","Ready","5m30s"])");
  EXPECT_EQ(Json(widgets().cells(widget("{}"), TimePoint())).dump(),
            R"(["w",null,null,null,null])");
  const auto columns = widgets().columns();
  ASSERT_EQ(columns.size(), 5u);
  EXPECT_EQ(columns[0].format, "name");
  EXPECT_EQ(columns[1].type, "integer");
  EXPECT_EQ(columns[3].priority, 1);
}

TEST(CustomResource, SelectableFieldsComeFromTheDefinition) {
  auto object = widget(R"({"size": 3})");
  widgets().set_defaults(object);
  const auto fields = widgets().selectable_fields(object);
  ASSERT_EQ(fields.size(), 1u);
  EXPECT_EQ(fields[0], std::pair(std::string("spec.color"), std::string("red")));
}

}  // namespace
}  // namespace regatta::manifest
