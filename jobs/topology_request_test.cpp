#include "jobs/topology_request.h"

#include "lib/api/names.h"

#include <gtest/gtest.h>

namespace regatta::jobs {
namespace {

using api::StringMap;

const std::string required = "kueue.x-k8s.io/podset-required-topology";
const std::string preferred = "kueue.x-k8s.io/podset-preferred-topology";
const std::string unconstrained = "kueue.x-k8s.io/podset-unconstrained-topology";
const std::string group = "kueue.x-k8s.io/podset-group-name";
const std::string slice_level = "kueue.x-k8s.io/podset-slice-required-topology";
const std::string slice_size = "kueue.x-k8s.io/podset-slice-size";
const std::string layers = "kueue.x-k8s.io/podset-slice-required-topology-constraints";

/// The request in one line.
std::string outline(const std::optional<api::PodSetTopologyRequest>& request) {
  if (!request) return "nothing";
  std::string out;
  const auto add = [&](const std::string& text) { out += (out.empty() ? "" : " ") + text; };
  if (request->required) add("required=" + *request->required);
  if (request->preferred) add("preferred=" + *request->preferred);
  if (request->unconstrained) add(*request->unconstrained ? "unconstrained" : "constrained");
  if (request->pod_set_slice_required_topology) {
    add("slices=" + *request->pod_set_slice_required_topology + ":" +
        std::to_string(request->pod_set_slice_size.value_or(0)));
  }
  for (const auto& layer : request->slice_constraints) {
    add("layer=" + layer.topology + ":" + std::to_string(layer.size));
  }
  if (request->pod_set_group_name) add("group=" + *request->pod_set_group_name);
  if (request->pod_index_label) add("index=" + *request->pod_index_label);
  if (request->sub_group_index_label) add("sub-index=" + *request->sub_group_index_label);
  if (request->sub_group_count) add("sub-groups=" + std::to_string(*request->sub_group_count));
  return out;
}

struct RequestCase {
  const char* name;
  StringMap annotations;
  const char* wanted;
  PodNumbering numbering;
  TopologyOptions options;
};

class TopologyRequests : public testing::TestWithParam<RequestCase> {};

TEST_P(TopologyRequests, AreReadFromAnnotations) {
  const RequestCase& c = GetParam();
  const auto request = topology_request(c.annotations, c.numbering, c.options);
  EXPECT_EQ(request ? outline(*request) : "error: " + request.error().what(), c.wanted);
}

const PodNumbering by_index{"idx", {}, {}};
const TopologyOptions off{false, true};
const TopologyOptions single_layer{true, false};

INSTANTIATE_TEST_SUITE_P(
    Table, TopologyRequests,
    testing::Values(
        RequestCase{"no_annotation", {}, "nothing", {}, {}},
        RequestCase{"numbered_pods_keep_their_numbers", {}, "index=idx", by_index, {}},
        RequestCase{"sub_groups", {}, "index=i sub-index=j sub-groups=3", {"i", "j", 3}, {}},
        RequestCase{"required", {{required, "rack"}}, "required=rack", {}, {}},
        RequestCase{"preferred", {{preferred, "rack"}}, "preferred=rack index=idx", by_index, {}},
        RequestCase{"required_wins", {{preferred, "b"}, {required, "a"}}, "required=a", {}, {}},
        RequestCase{"unconstrained", {{unconstrained, "True"}}, "unconstrained", {}, {}},
        RequestCase{"explicitly_not", {{unconstrained, "0"}}, "constrained", {}, {}},
        RequestCase{"no_truth_value",
                    {{unconstrained, "yes"}},
                    "error: strconv.ParseBool: parsing \"yes\": invalid syntax",
                    {},
                    {}},
        RequestCase{"slices_alone", {{slice_level, "r"}, {slice_size, "4"}}, "slices=r:4", {}, {}},
        RequestCase{"half_a_slice_says_nothing", {{slice_level, "r"}}, "nothing", {}, {}},
        RequestCase{"size_that_is_no_number",
                    {{slice_level, "r"}, {slice_size, "4x"}},
                    "error: strconv.ParseInt: parsing \"4x\": invalid syntax",
                    {},
                    {}},
        RequestCase{"layers",
                    {{preferred, "b"},
                     {layers, R"([{"topology":"b","size":8},{"topology":"r","size":4}])"}},
                    "preferred=b layer=b:8 layer=r:4",
                    {},
                    {}},
        RequestCase{"layers_without_their_gate",
                    {{required, "b"}, {layers, R"([{"topology":"b","size":8}])"}},
                    "required=b",
                    {},
                    single_layer},
        RequestCase{"too_many_layers",
                    {{layers, "[{},{},{},{}]"}},
                    "error: topology constraints must contain between 1 and 3 entries: got 4",
                    {},
                    {}},
        RequestCase{"layers_that_are_no_json",
                    {{layers, "[{]"}},
                    "error: failed to parse multi-layer topology constraints annotation: invalid "
                    "character ']' looking for beginning of object key string",
                    {},
                    {}},
        RequestCase{"group", {{required, "r"}, {group, "g"}}, "required=r group=g", {}, {}},
        RequestCase{"group_needs_a_level",
                    {{unconstrained, "true"}, {group, "g"}},
                    "unconstrained",
                    {},
                    {}},
        RequestCase{"switched_off", {{required, "rack"}}, "nothing", by_index, off}),
    [](const auto& info) { return std::string(info.param.name); });

struct CheckCase {
  const char* name;
  StringMap annotations;
  std::string wanted;
  TopologyOptions options;
};

class TopologyChecks : public testing::TestWithParam<CheckCase> {};

TEST_P(TopologyChecks, NameTheAnnotation) {
  const CheckCase& c = GetParam();
  EXPECT_EQ(api::to_text(check_topology("t", c.annotations, 8, c.options)), c.wanted);
}

std::string at(const std::string& annotation) {
  return "t.annotations[" + annotation + "]";
}

INSTANTIATE_TEST_SUITE_P(
    Table, TopologyChecks,
    testing::Values(
        CheckCase{"fine", {{required, "cloud.com/rack"}}, "", {}},
        CheckCase{"fine_slices", {{slice_level, "r"}, {slice_size, "8"}}, "", {}},
        CheckCase{"two_placements",
                  {{required, "r"}, {preferred, "r"}},
                  "t.annotations: Invalid value: must not contain more than one topology "
                  "annotation: [\"" +
                      required + "\", \"" + preferred + "\", \"" + unconstrained + "\"]",
                  {}},
        CheckCase{"no_boolean",
                  {{unconstrained, "maybe"}},
                  at(unconstrained) + ": Invalid value: \"maybe\": must be a boolean value",
                  {}},
        CheckCase{"slice_without_size",
                  {{slice_level, "r"}},
                  at(slice_size) + ": Required value: must be set when '" + slice_level +
                      "' is specified",
                  {}},
        CheckCase{"size_without_slice",
                  {{slice_size, "2"}},
                  at(slice_size) + ": Forbidden: may not be set when '" + slice_level +
                      "' is not specified",
                  {}},
        CheckCase{"size_zero",
                  {{slice_level, "r"}, {slice_size, "0"}},
                  at(slice_size) + ": Invalid value: \"0\": must be greater than or equal to 1",
                  {}},
        CheckCase{"size_no_number",
                  {{slice_level, "r"}, {slice_size, "two"}},
                  at(slice_size) + ": Invalid value: \"two\": must be a numeric value",
                  {}},
        CheckCase{
            "size_beyond_the_pods",
            {{slice_level, "r"}, {slice_size, "9"}},
            at(slice_size) + ": Invalid value: \"9\": must not be greater than pod set count 8",
            {}},
        CheckCase{"numeric_group",
                  {{required, "r"}, {group, "12"}},
                  at(group) + ": Invalid value: \"12\": must not be a number",
                  {}},
        CheckCase{"group_with_slices",
                  {{required, "r"}, {group, "g"}, {slice_level, "r"}, {slice_size, "2"}},
                  "[" + at(group) + ": Forbidden: may not be set when '" + slice_size +
                      "' is specified, " + at(group) + ": Forbidden: may not be set when '" +
                      slice_level + "' is specified]",
                  {}},
        CheckCase{"group_without_level",
                  {{unconstrained, "true"}, {group, "g"}},
                  at(group) + ": Forbidden: may not be set when neither '" + preferred + "' nor '" +
                      required + "' is specified",
                  {}},
        CheckCase{"layers_without_their_gate",
                  {{layers, "[]"}},
                  at(layers) + ": Forbidden: the TASMultiLayerTopology feature gate must be "
                               "enabled to use this annotation",
                  single_layer},
        CheckCase{"no_layers",
                  {{layers, "[]"}},
                  at(layers) + ": Invalid value: \"[]\": topology constraints must contain between "
                               "1 and 3 entries",
                  {}},
        CheckCase{"layers_that_are_no_json",
                  {{layers, "nope"}},
                  at(layers) + ": Invalid value: \"nope\": must be a valid JSON array: invalid "
                               "character 'o' in literal null (expecting 'u')",
                  {}},
        CheckCase{"layers_that_do_not_divide",
                  {{layers, R"([{"topology":"b","size":6},{"topology":"r","size":4}])"}},
                  at(layers) + "[1].size: Invalid value: 4: must evenly divide the parent layer "
                               "size 6",
                  {}},
        CheckCase{"the_same_layer_twice",
                  {{layers, R"([{"topology":"b","size":4},{"topology":"b","size":2}])"}},
                  at(layers) + "[1].topology: Duplicate value: \"b (also at index 0)\"",
                  {}},
        CheckCase{"layer_beyond_the_pods",
                  {{layers, R"([{"topology":"b","size":16}])"}},
                  at(layers) + ": Invalid value: 16: must not be greater than pod set count 8",
                  {}},
        CheckCase{"switched_off", {{required, "not a label"}}, "", off}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(TopologyChecks, ALevelIsALabelName) {
  const auto wrong = check_topology("t", {{required, "not a label"}}, 8);
  ASSERT_EQ(wrong.size(), 1u);
  EXPECT_EQ(wrong.front().field, at(required));
}

TEST(TopologyChecks, LayersThatAreNoJson) {
  const auto wrong = check_topology("t", {{layers, "{"}}, 8);
  ASSERT_EQ(wrong.size(), 1u);
  EXPECT_EQ(wrong.front().field, at(layers));
}

api::PodSet member(const std::string& name, std::int32_t count, const char* level) {
  api::PodSet set;
  set.name = name;
  set.count = count;
  set.topology_request.emplace();
  set.topology_request->pod_set_group_name = "g";
  if (*level) set.topology_request->required = level;
  return set;
}

std::string check_groups(const std::vector<api::PodSet>& sets) {
  return api::to_text(check_topology_groups(sets, {{"a", "A"}, {"b", "B"}, {"c", "C"}}));
}

TEST(TopologyGroups, ALeaderAndItsWorkers) {
  EXPECT_EQ(check_groups({member("a", 1, "r"), member("b", 7, "r")}), "");
}

TEST(TopologyGroups, ThreeAreNoGroup) {
  const std::string why =
      "[" + group +
      "]: Invalid value: \"g\": can only define groups of exactly 2 pod sets, got: 3 "
      "pod set(s)";
  EXPECT_EQ(check_groups({member("a", 1, "r"), member("b", 7, "r"), member("c", 7, "r")}),
            "[A" + why + ", B" + why + ", C" + why + "]");
}

TEST(TopologyGroups, OneOfThemHasOnePod) {
  const std::string why = "[" + group +
                          "]: Invalid value: \"g\": can only define groups where at least one pod "
                          "set has only 1 replica, got: 2 replica(s) and 7 replica(s) in the group";
  EXPECT_EQ(check_groups({member("a", 2, "r"), member("b", 7, "r")}),
            "[A" + why + ", B" + why + "]");
}

TEST(TopologyGroups, BothAskForTheSame) {
  const std::string why = ": Invalid value: must specify '" + required + "' or '" + preferred +
                          "' topology consistent with '";
  EXPECT_EQ(check_groups({member("a", 1, "r"), member("b", 7, "s")}),
            "[A" + why + "B' in group 'g', B" + why + "A' in group 'g']");
}

}  // namespace
}  // namespace regatta::jobs
