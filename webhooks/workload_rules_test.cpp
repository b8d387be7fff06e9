#include "webhooks/testing.h"

#include <gtest/gtest.h>

namespace regatta::webhooks {
namespace {

Json workload() {
  return json_of(R"({"metadata":{"name":"w","annotations":{}},"spec":{"podSets":[
    {"name":"main","count":4,"template":{"spec":{"containers":[
      {"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}]}})");
}

/// With quota for its four pods.
Json reserved() {
  return with(workload(), R"({"status":{"conditions":[{"type":"QuotaReserved","status":"True",
      "reason":"R","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}],
    "admission":{"clusterQueue":"cq","podSetAssignments":[
      {"name":"main","count":4,"flavors":{"cpu":"f"},"resourceUsage":{"cpu":"4"}}]}}})");
}

Json elastic(Json object) {
  object["metadata"]["annotations"]["kueue.x-k8s.io/elastic-job"] = "true";
  return object;
}

Json annotated(const std::string& name, const std::string& value) {
  Json out = workload();
  out["metadata"]["annotations"][name] = value;
  return out;
}

struct Case {
  std::string_view name, change, wanted;
};

void expect_on_create(const Json& base, std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    EXPECT_EQ(create("Workload", with(base, c.change)), c.wanted) << c.name;
  }
}

TEST(WorkloadRules, sound_workloads_are_allowed) {
  EXPECT_EQ(create("Workload", workload()), "allowed");
  EXPECT_EQ(create("Workload", reserved()), "allowed");
  EXPECT_EQ(create("Workload", Json::object()), "allowed");
}

TEST(WorkloadRules, requests_name_no_reserved_resource_and_are_not_negative) {
  Json bad = workload();
  Json& container = bad["spec"]["podSets"][0]["template"]["spec"]["containers"][0];
  container["resources"] = json_of(R"({"requests":{"cpu":"-1"},"limits":{"pods":"1"}})");
  const std::string at = "spec.podSets[0].template.spec.containers[0].resources.";
  const std::string negative =
      at + "requests[cpu]: Invalid value: \"-1\": must be greater than or equal to 0";
  const std::string pods =
      at + "limits[pods]: Invalid value: \"pods\": the key is reserved for internal kueue use";
  EXPECT_EQ(create("Workload", bad), "[" + negative + ", " + pods + "]");
  Gates gates;
  gates.resources_are_non_negative = false;
  EXPECT_EQ(create("Workload", bad, gates), pods);
}

TEST(WorkloadRules, one_pod_set_may_start_with_fewer_pods_and_not_in_elastic_jobs) {
  Json one = workload();
  one["spec"]["podSets"][0]["minCount"] = 2;
  EXPECT_EQ(create("Workload", one), "allowed");
  EXPECT_EQ(create("Workload", elastic(one)),
            "spec.podSets: Invalid value: 1: partial admission and elastic job cannot be used "
            "together");
  one["spec"]["podSets"].push_back(one["spec"]["podSets"][0]);
  EXPECT_EQ(create("Workload", one),
            "spec.podSets: Invalid value: 2: at most one podSet can use minCount");
}

TEST(WorkloadRules, sizes_of_slices_belong_to_a_level) {
  const auto request = [](std::string_view text) {
    Json out = workload();
    out["spec"]["podSets"][0]["topologyRequest"] = json_of(text);
    return create("Workload", out);
  };
  const std::string at = "spec.podSets[0].topologyRequest.podSetSliceSize: ";
  EXPECT_EQ(request(R"({"podSetSliceRequiredTopology":"rack","podSetSliceSize":2})"), "allowed");
  EXPECT_EQ(request(R"({"podSetSliceRequiredTopology":"rack"})"),
            at + "Required value: must be set when podSetSliceRequiredTopology is specified");
  EXPECT_EQ(request(R"({"podSetSliceSize":2})"),
            at + "Forbidden: may not be set when podSetSliceRequiredTopology is not specified");
  EXPECT_EQ(request(R"({"podSetSliceRequiredTopology":"rack","podSetSliceSize":0})"),
            at + "Invalid value: 0: must be greater than 0");
}

TEST(WorkloadRules, the_status_refers_to_pod_sets_that_exist) {
  expect_on_create(
      reserved(),
      {{"an assignment", R"({"status":{"admission":{"podSetAssignments":[{"name":"x"}]}}})",
        "status.admission.podSetAssignments[0].name: Not found: \"x\""},
       {"usage that does not divide",
        R"({"status":{"admission":{"podSetAssignments":[
            {"name":"main","count":3,"resourceUsage":{"cpu":"4"}}]}}})",
        "status.admission.podSetAssignments[0].resourceUsage[cpu]: Invalid value: \"4\": is not a "
        "multiple of 3"},
       {"no admission", R"({"status":{"admission":null}})",
        "status.admission: Required value: must be set while the QuotaReserved condition is true"},
       {"reclaimable pods", R"({"status":{"reclaimablePods":[{"name":"x","count":1}]}})",
        "status.reclaimablePods[x].name: Unsupported value: \"x\": supported values: \"main\""},
       {"too many reclaimable pods",
        R"({"status":{"reclaimablePods":[{"name":"main","count":5}]}})",
        "status.reclaimablePods[main].count: Invalid value: 5: should be less or equal to 4"},
       {"updates of a check",
        R"({"status":{"admissionChecks":[{"name":"c","podSetUpdates":[{"name":"x"}]}]}})",
        "status.admissionChecks[0].podSetUpdates[0].name: Unsupported value: \"x\": supported "
        "values: \"main\""}});
}

TEST(WorkloadRules, conditions_are_complete) {
  expect_on_create(
      workload(),
      {{"everything is missing", R"({"status":{"conditions":[{"type":"T"}]}})",
        "[status.conditions[0].status: Unsupported value: \"\": supported values: \"False\", "
        "\"True\", \"Unknown\", status.conditions[0].lastTransitionTime: Required value, "
        "status.conditions[0].reason: Required value]"},
       {"a generation below zero",
        R"({"status":{"conditions":[{"type":"T","status":"True","reason":"R",
            "observedGeneration":-1,"lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
        "status.conditions[0].observedGeneration: Invalid value: -1: must be greater than or equal "
        "to zero"}});
}

TEST(WorkloadRules, priority_boosts_are_numbers_of_32_bits) {
  Gates gates;
  gates.priority_boost = true;
  const auto boost = [&](const std::string& value) {
    const std::string said =
        create("Workload", annotated("kueue.x-k8s.io/priority-boost", value), gates);
    return said == "allowed" ? said : said.substr(said.rfind("must be"));
  };
  for (const char* good : {"0", "-2147483648", "+7", "007"})
    EXPECT_EQ(boost(good), "allowed") << good;
  for (const char* bad : {"2147483648", "1.5", "0x1", "+-1", "--1", " 1", "1_0"}) {
    EXPECT_EQ(boost(bad), "must be a valid signed integer") << bad;
  }
  EXPECT_EQ(create("Workload", annotated("kueue.x-k8s.io/priority-boost", "x")), "allowed");
}

TEST(WorkloadRules, admission_gates_are_paths_with_a_domain) {
  const auto gate = [](const std::string& value) {
    const std::string said =
        create("Workload", annotated("kueue.x-k8s.io/admission-gated-by", value));
    return said == "allowed" ? said : said.substr(said.find("]: ") + 3);
  };
  EXPECT_EQ(gate("example.org/a, example.org/b"), "allowed");
  EXPECT_EQ(gate("  "), "allowed");
  EXPECT_EQ(gate("a"),
            "Invalid value: \"a\": must be a domain-prefixed path (such as \"acme.io/foo\")");
  EXPECT_EQ(gate("a/b,a/b"), "Invalid value: \"a/b,a/b\": duplicate gate name: a/b");
  EXPECT_EQ(gate("a/b,"), "Invalid value: \"a/b,\": cannot contain empty gate names");
  EXPECT_EQ(
      gate("a/b c"),
      R"(Invalid value: "b c": Invalid path (regex used for validation is '[A-Za-z0-9/\-._~%!$&'()*+,;=:]+'))");
  EXPECT_EQ(gate("a/" + std::string(62, 'b')), "Too long: may not be more than 63 bytes");
}

TEST(WorkloadRules, admission_gates_are_only_removed) {
  const auto change = [](const std::string& from, const std::string& to) {
    const std::string name = "kueue.x-k8s.io/admission-gated-by";
    const std::string said = update("Workload", annotated(name, from), annotated(name, to));
    return said == "allowed" ? said : said.substr(said.find("]: ") + 3);
  };
  EXPECT_EQ(change("a/b,c/d", "c/d"), "allowed");
  EXPECT_EQ(change("a/b", ""), "allowed");
  EXPECT_EQ(change("", "a/b"), "Forbidden: cannot add admission gate after creation");
  EXPECT_EQ(change("a/b", "c/d"), "Forbidden: can only remove gates, not add new ones");
}

TEST(WorkloadRules, pod_sets_that_hold_quota_only_shrink) {
  const auto change = [](std::string_view set, const Gates& gates = {}) {
    Json after = reserved();
    after["spec"]["podSets"][0].merge_patch(json_of(set));
    return update("Workload", reserved(), after, gates);
  };
  EXPECT_EQ(change(R"({"count":3})"), "allowed");
  EXPECT_EQ(change(R"({"template":{"metadata":{},"spec":{"volumes":[]}}})"), "allowed");
  EXPECT_EQ(change(R"({"count":5,"template":{"spec":{"containers":null}}})"),
            "spec.podSets.0: Invalid value: {\"name\":\"main\",\"template\":{\"metadata\":{},"
            "\"spec\":{\"containers\":null}},\"count\":5}: field is immutable");
  Gates gates;
  gates.elastic_jobs = false;
  EXPECT_NE(change(R"({"count":3})", gates), "allowed");
  EXPECT_EQ(update("Workload", reserved(), with(reserved(), R"({"spec":{"podSets":null}})"))
                .substr(0, 62),
            "[status.admission.podSetAssignments[0].name: Not found: \"main\"");
}

TEST(WorkloadRules, reclaimable_pods_are_not_taken_back) {
  const auto status = [](Json object, std::string_view pods) {
    object["status"]["reclaimablePods"] = json_of(pods);
    return object;
  };
  const Json two = status(reserved(), R"([{"name":"main","count":2}])");
  EXPECT_EQ(update("Workload", two, status(reserved(), R"([{"name":"main","count":3}])")),
            "allowed");
  EXPECT_EQ(update("Workload", two, status(reserved(), R"([{"name":"main","count":1}])")),
            "status.reclaimablePods[main].count: Invalid value: 1: cannot be less than 2");
  EXPECT_EQ(update("Workload", two, reserved()),
            "status.reclaimablePods[main]: Required value: cannot be removed");
  Json smaller = elastic(status(reserved(), R"([{"name":"main","count":1}])"));
  smaller["spec"]["podSets"][0]["count"] = 3;
  EXPECT_EQ(update("Workload", elastic(two), smaller), "allowed") << "counted anew";
}

TEST(WorkloadRules, an_admission_stays_as_it_is_besides_places) {
  const auto assignment = [](std::string_view change) {
    Json after = reserved();
    after["status"]["admission"]["podSetAssignments"][0].merge_patch(json_of(change));
    return after;
  };
  const Json placed = assignment(R"({"topologyAssignment":{"levels":["rack"]}})");
  EXPECT_EQ(update("Workload", reserved(), placed), "allowed");
  EXPECT_EQ(update("Workload", placed, reserved()), "allowed");
  Gates gates;
  gates.topology_aware_scheduling = false;
  EXPECT_NE(update("Workload", reserved(), placed, gates), "allowed");
  EXPECT_EQ(update("Workload", reserved(), assignment(R"({"flavors":{"cpu":"g"}})")),
            "status.admission: Invalid value: {\"clusterQueue\":\"cq\",\"podSetAssignments\":[{"
            "\"name\":\"main\",\"flavors\":{\"cpu\":\"g\"},\"resourceUsage\":{\"cpu\":\"4\"},"
            "\"count\":4}]}: field is immutable");
}

TEST(WorkloadRules, updates_of_a_ready_check_stay_as_they_are) {
  const auto check = [](std::string_view state, std::string_view updates) {
    Json out = workload();
    out["status"]["admissionChecks"] = {{{"name", "c"}, {"state", std::string(state)}}};
    out["status"]["admissionChecks"][0]["podSetUpdates"] = json_of(updates);
    return out;
  };
  const std::string_view some = R"([{"name":"main","labels":{"a":"b"}}])";
  EXPECT_EQ(update("Workload", check("Pending", "[]"), check("Ready", some)), "allowed");
  EXPECT_EQ(update("Workload", check("Ready", "[]"), check("Ready", "null")), "allowed");
  EXPECT_EQ(update("Workload", check("Ready", some), check("Ready", "[]")),
            "status.admissionChecks[0].podSetUpdates: Invalid value: []: field is immutable");
}

TEST(WorkloadRules, the_cluster_is_a_nominated_one_unless_a_slice_is_replaced) {
  const Json before = with(workload(), R"({"status":{"nominatedClusterNames":["w1"]}})");
  EXPECT_EQ(update("Workload", before, with(before, R"({"status":{"clusterName":"w1"}})")),
            "allowed");
  Json other = with(before, R"({"status":{"clusterName":"w2"}})");
  EXPECT_EQ(update("Workload", before, other),
            "status.clusterName: Invalid value: \"w2\": when setting clusterName it must be one of "
            "the nominatedClusterNames");
  other["metadata"]["annotations"]["kueue.x-k8s.io/workload-slice-replacement-for"] = "";
  EXPECT_EQ(update("Workload", before, other), "allowed");
}

/// So many entries with these members, and the names p0, p1, …
Json named(int number, std::string_view members) {
  Json out(Json::value_t::array);
  for (int i = 0; i < number; ++i) {
    out.push_back(json_of(members));
    out.back()["name"] = "p" + std::to_string(i);
  }
  return out;
}

TEST(WorkloadRules, very_many_entries_are_looked_up_once_each) {
  // To compare each with each other would take minutes.
  constexpr int number = 20'000;
  Json object = elastic(reserved());
  object["spec"]["podSets"] = named(number, R"({"count":1})");
  object["status"]["admission"]["podSetAssignments"] = named(number, R"({"count":1})");
  object["status"]["reclaimablePods"] = named(number, R"({"count":2})");
  object["status"]["admissionChecks"] = named(number, R"({"state":"Ready"})");
  Gates gates;
  gates.elastic_jobs = true;
  EXPECT_EQ(update("Workload", object, object, gates), "allowed");
}

TEST(WorkloadRules, very_many_admission_gates_are_looked_up_once_each) {
  std::string gates;
  for (int i = 0; i < 100'000; ++i) gates += (i ? ",a.b/" : "a.b/") + std::to_string(i);
  const std::string name = "kueue.x-k8s.io/admission-gated-by";
  Gates on;
  on.admission_gated_by = true;
  const Json gated = annotated(name, gates);
  EXPECT_EQ(update("Workload", gated, gated, on), "allowed");
  const std::string field = "metadata.annotations[" + name + "]: Invalid value: \"";
  const std::string commas = "a.b/c" + std::string(100'000, ',');
  EXPECT_EQ(create("Workload", annotated(name, commas), on),
            field + commas + "\": cannot contain empty gate names");
  const std::string twice = gates + ',' + gates;
  EXPECT_EQ(create("Workload", annotated(name, twice), on),
            "[" + field + twice + "\": duplicate gate name: a.b/0, more errors were left out]");
}

TEST(WorkloadRules, a_refusal_has_a_limit_however_many_names_are_wrong) {
  Json object = workload();
  object["spec"]["podSets"] = named(5'000, R"({"count":1})");
  for (const char* field : {"reclaimablePods", "admissionChecks"}) {
    Json bad = object;
    Json wrong = named(5'000, R"({"count":1})");
    for (Json& one : wrong) one["name"] = "no" + one["name"].get<std::string>();
    bad["status"][field] = wrong;
    if (field == std::string_view("admissionChecks")) {
      bad["status"][field] = {{{"name", "c"}, {"podSetUpdates", wrong}}};
    }
    const std::string told = create("Workload", bad);
    EXPECT_NE(told.find("Unsupported value: \"nop99\": supported values: \"p0\""), told.npos);
    EXPECT_NE(told.find(" and 4980 more, "), told.npos);
    EXPECT_TRUE(told.ends_with(", more errors were left out]"));
    EXPECT_LT(told.size(), 100'000u) << field;
  }
}

TEST(WorkloadRules, many_checks_of_one_name_do_not_each_show_its_updates) {
  Json before = workload(), after = workload();
  before["spec"]["podSets"] = after["spec"]["podSets"] = named(20'000, R"({"count":1})");
  const Json one = {{"name", "c"}, {"state", "Ready"}};
  for (int i = 0; i < 1'000; ++i) before["status"]["admissionChecks"].push_back(one);
  after["status"]["admissionChecks"] = Json::array({one});
  after["status"]["admissionChecks"][0]["podSetUpdates"] = named(20'000, "{}");
  const std::string told = update("Workload", before, after);
  EXPECT_TRUE(told.starts_with("[status.admissionChecks[0].podSetUpdates: Invalid value: "));
  EXPECT_TRUE(told.ends_with(": field is immutable, more errors were left out]"));
  EXPECT_LT(told.size(), 1'000'000u);
}

}  // namespace
}  // namespace regatta::webhooks
