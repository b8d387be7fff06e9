#include "lib/api/convert.h"

#include "lib/api/codec.h"
#include "lib/api/convert_topology.h"
#include "lib/api/kueue.h"
#include "lib/base/rng.h"

#include <gtest/gtest.h>

namespace regatta::api {
namespace {

Json parsed(std::string_view text) {
  return parse_json(text).value();
}

Json up(std::string_view text) {
  Json object = parsed(text);
  const Status status = convert(object, "v1beta1", "v1beta2");
  EXPECT_TRUE(status) << status.error().what();
  object.erase("apiVersion");
  object.erase("kind");
  return object;
}

Json down(std::string_view text) {
  Json object = parsed(text);
  const Status status = convert(object, "v1beta2", "v1beta1");
  EXPECT_TRUE(status) << status.error().what();
  object.erase("apiVersion");
  object.erase("kind");
  return object;
}

TEST(Convert, cluster_queue) {
  EXPECT_EQ(up(R"({"kind":"ClusterQueue","spec":{"cohort":"c","admissionChecks":["a","b"],
              "flavorFungibility":{"whenCanBorrow":"Borrow","whenCanPreempt":"Preempt"}},
              "status":{"pendingWorkloadsStatus":{},
                "fairSharing":{"weightedShare":1,"admissionFairSharingStatus":{}}}})"),
            parsed(R"({"spec":{"cohortName":"c",
              "admissionChecksStrategy":{"admissionChecks":[{"name":"a"},{"name":"b"}]},
              "flavorFungibility":{"whenCanBorrow":"MayStopSearch",
                "whenCanPreempt":"MayStopSearch"}},
              "status":{"fairSharing":{"weightedShare":1}}})"));
  EXPECT_EQ(down(R"({"kind":"ClusterQueue","spec":{"cohortName":"c",
              "concurrentAdmissionPolicy":{"migration":{}},
              "admissionChecksStrategy":{"admissionChecks":[{"name":"a"}]}}})"),
            parsed(R"({"spec":{"cohort":"c",
              "admissionChecksStrategy":{"admissionChecks":[{"name":"a"}]}}})"));
}

TEST(Convert, local_queue) {
  EXPECT_EQ(up(R"({"kind":"LocalQueue","status":{"flavorUsage":[1],"flavors":[2]}})"),
            parsed(R"({"status":{"flavorsUsage":[1]}})"));
  EXPECT_EQ(down(R"({"kind":"LocalQueue","status":{"flavorsUsage":[1]}})"),
            parsed(R"({"status":{"flavorUsage":[1]}})"));
}

TEST(Convert, multikueue_cluster) {
  const std::string_view old_form =
      R"({"kind":"MultiKueueCluster","spec":{"kubeConfig":{"location":"s","locationType":"Secret"}}})";
  const std::string_view new_form = R"({"kind":"MultiKueueCluster","spec":{"clusterSource":
      {"kubeConfig":{"location":"s","locationType":"Secret"}}}})";
  EXPECT_EQ(up(old_form)["spec"], parsed(new_form)["spec"]);
  EXPECT_EQ(down(new_form)["spec"], parsed(old_form)["spec"]);
}

TEST(Convert, an_empty_location_is_no_kubeconfig) {
  EXPECT_EQ(up(R"({"kind":"MultiKueueCluster","spec":{"clusterProfileRef":{"name":"p"},
              "kubeConfig":{"location":"","locationType":"Secret"}}})"),
            parsed(R"({"spec":{"clusterSource":{"clusterProfileRef":{"name":"p"}}}})"));
}

TEST(Convert, priority_of_a_workload) {
  EXPECT_EQ(up(R"({"kind":"Workload","spec":{"priorityClassName":"p",
              "priorityClassSource":"kueue.x-k8s.io/workloadpriorityclass"}})"),
            parsed(R"({"spec":{"priorityClassRef":{"group":"kueue.x-k8s.io",
              "kind":"WorkloadPriorityClass","name":"p"}}})"));
  EXPECT_EQ(up(R"({"kind":"Workload","spec":{"priorityClassName":"","priorityClassSource":""}})"),
            parsed(R"({"spec":{}})"));
  EXPECT_EQ(down(R"({"kind":"Workload","spec":{"priorityClassRef":{"group":"scheduling.k8s.io",
              "kind":"PriorityClass","name":"p"},"preemptionGates":[{"name":"g"}]}})"),
            parsed(R"({"spec":{"priorityClassName":"p",
              "priorityClassSource":"scheduling.k8s.io/priorityclass"}})"));
}

constexpr std::string_view domains = R"({"kind":"Workload","status":{
  "accumulatedPastExexcutionTimeSeconds":5,"admission":{"podSetAssignments":[{"topologyAssignment":{
  "levels":["block","host"],"domains":[{"values":["b1","node-1.x"],"count":2},
    {"values":["b1","node-22.x"],"count":2}]}}]}}})";

TEST(Convert, a_plain_list_of_checks_wins_over_a_strategy) {
  EXPECT_EQ(up(R"({"kind":"ClusterQueue","spec":{"admissionChecks":["a"],
              "admissionChecksStrategy":{"admissionChecks":[{"name":"b"}]}}})"),
            parsed(R"({"spec":{"admissionChecksStrategy":{"admissionChecks":[{"name":"a"}]}}})"));
}

TEST(Convert, a_reference_to_another_kind_of_priority_class_has_no_older_form) {
  EXPECT_EQ(down(R"({"kind":"Workload","spec":{"priorityClassRef":{"group":"kueue.x-k8s.io",
              "kind":"PriorityClass","name":"p"}}})"),
            parsed(R"({"spec":{}})"));
}

TEST(Convert, topology_is_written_compactly_and_spelled_out_again) {
  const Json compact = up(domains);
  EXPECT_EQ(compact["status"]["accumulatedPastExecutionTimeSeconds"], 5);
  const Json& assignment =
      compact["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"];
  EXPECT_EQ(assignment, parsed(R"({"levels":["block","host"],"slices":[{"domainCount":2,
      "podCounts":{"universal":2},"valuesPerLevel":[{"universal":"b1"},
        {"individual":{"prefix":"node-","suffix":".x","roots":["1","22"]}}]}]})"));
  Json back = compact;
  back["kind"] = "Workload";
  ASSERT_TRUE(convert(back, "v1beta2", "v1beta1"));
  back.erase("apiVersion");
  EXPECT_EQ(back, parsed(domains));
}

/// The names of the slices' prefixes, and how many domains each slice has.
std::string slices_of(const std::vector<std::string>& hosts, bool hostname_prefixes) {
  Json object = parsed(R"({"kind":"Workload","status":{"admission":{"podSetAssignments":[
    {"topologyAssignment":{"levels":["kubernetes.io/hostname"],"domains":[]}}]}}})");
  Json& assignment = object["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"];
  for (const std::string& host : hosts) {
    assignment["domains"].push_back({{"values", {host}}, {"count", 1}});
  }
  EXPECT_TRUE(convert(object, "v1beta1", "v1beta2", ConvertOptions{hostname_prefixes}));
  std::string out;
  for (const Json& slice : assignment["slices"]) {
    const Json& level = slice["valuesPerLevel"][0];
    out += level.contains("universal") ? level["universal"].get<std::string>()
                                       : level["individual"].value("prefix", "");
    out += " x" + std::to_string(slice["domainCount"].get<int>()) + "; ";
  }
  Json back = object;
  EXPECT_TRUE(convert(back, "v1beta2", "v1beta1"));
  const Json& spelled =
      back["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"]["domains"];
  EXPECT_EQ(spelled.size(), hosts.size());
  for (std::size_t i = 0; i < hosts.size(); ++i) EXPECT_EQ(spelled[i]["values"][0], hosts[i]);
  return out;
}

TEST(Convert, runs_of_nodes_with_a_prefix_get_slices_of_their_own_where_that_is_shorter) {
  std::vector<std::string> hosts;
  const std::string first = "cluster-with-a-long-name-pool-alpha-";
  const std::string second = "cluster-with-a-long-name-pool-omega-";
  for (int i = 10; i < 40; ++i) hosts.push_back(first + std::to_string(i));
  for (int i = 10; i < 40; ++i) hosts.push_back(second + std::to_string(i));
  EXPECT_EQ(slices_of(hosts, true), first + " x30; " + second + " x30; ");
  EXPECT_EQ(slices_of(hosts, false), "cluster-with-a-long-name-pool- x60; ");
  EXPECT_EQ(slices_of({"a-1", "a-2", "b-1", "b-2"}, true), " x4; ") << "one slice is shorter";
  EXPECT_EQ(slices_of({}, true), "");
}

TEST(Convert, prefix_and_suffix_never_overlap) {
  const Json compact = up(R"({"kind":"Workload","status":{"admission":{"podSetAssignments":[
    {"topologyAssignment":{"levels":["h"],"domains":[{"values":["aa"],"count":1},
      {"values":["aaa"],"count":3}]}}]}}})");
  EXPECT_EQ(compact["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"]["slices"],
            parsed(R"([{"domainCount":2,"podCounts":{"individual":[1,3]},
              "valuesPerLevel":[{"individual":{"suffix":"aa","roots":["","a"]}}]}])"));
}

TEST(Convert, refuses_assignments_that_do_not_add_up) {
  Json object = parsed(R"({"kind":"Workload","status":{"admission":{"podSetAssignments":[
    {"topologyAssignment":{"levels":["h"],"slices":[{"domainCount":900000000,
      "podCounts":{"universal":1},"valuesPerLevel":[{"universal":"x"}]}]}}]}}})");
  EXPECT_EQ(
      convert(object, "v1beta2", "v1beta1").error().what(),
      "topologyAssignment: more than 400000 domains in v1beta1, in all objects of one request "
      "together");
  object = parsed(domains);
  object["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"]["levels"] = {
      "one", "two", "three"};
  EXPECT_EQ(convert(object, "v1beta1", "v1beta2").error().what(),
            "topologyAssignment: a domain needs one value for each level");
}

/// A Workload whose assignment has so many domains, each of them with that value.
Json workload_of_domains(std::int64_t count, const std::string& value) {
  Json object = parsed(R"({"kind":"Workload","status":{"admission":{"podSetAssignments":[
    {"topologyAssignment":{"levels":["h"],"slices":[{"podCounts":{"universal":1}}]}}]}}})");
  Json& slice =
      object["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"]["slices"][0];
  slice["domainCount"] = count;
  slice["valuesPerLevel"] = Json::array({Json{{"universal", value}}});
  return object;
}

std::string error_of_conversion(Json object, DomainAllowance* allowance) {
  const Status status = convert(object, "v1beta2", "v1beta1", ConvertOptions{true, allowance});
  return status ? "" : status.error().what();
}

TEST(Convert, domains_of_all_objects_of_a_request_have_one_limit) {
  const std::string beyond =
      "topologyAssignment: more than 5 domains in v1beta1, in all objects of one request together";
  DomainAllowance allowance = allowance_of(5);
  EXPECT_EQ(error_of_conversion(workload_of_domains(3, "x"), &allowance), "");
  EXPECT_EQ(error_of_conversion(workload_of_domains(2, "x"), &allowance), "");
  EXPECT_EQ(error_of_conversion(workload_of_domains(1, "x"), &allowance), beyond);
  EXPECT_EQ(error_of_conversion(workload_of_domains(0, "x"), &allowance), "");
  EXPECT_EQ(error_of_conversion(workload_of_domains(-1, "x"), &allowance),
            "topologyAssignment: domainCount must not be negative");
  EXPECT_EQ(error_of_conversion(workload_of_domains(INT64_MAX, "x"), &allowance), beyond);
  EXPECT_EQ(allowance_of(7 << 20).domains_max, topology_domains_max);
}

TEST(Convert, values_of_all_objects_of_a_request_have_one_limit) {
  DomainAllowance allowance;
  allowance.bytes_max = 3 * (topology_value_bytes + 10);
  EXPECT_EQ(error_of_conversion(workload_of_domains(2, "0123456789"), &allowance), "");
  EXPECT_EQ(error_of_conversion(workload_of_domains(1, "0123456789"), &allowance), "");
  EXPECT_EQ(error_of_conversion(workload_of_domains(1, ""), &allowance),
            "topologyAssignment: more than 78 bytes of values of domains in v1beta1, in all "
            "objects of one request together");
}

/// Spelled out, this is a tebibyte.
TEST(Convert, a_long_value_of_many_domains_is_refused_early) {
  const Json object = workload_of_domains(400'000, std::string(3 << 20, 'x'));
  EXPECT_NE(error_of_conversion(object, nullptr).find("33554432 bytes"), std::string::npos);
}

TEST(Convert, an_assignment_to_all_nodes_of_a_very_large_cluster_may_be_spelled_out) {
  constexpr std::int64_t nodes = 150'000;
  constexpr std::int64_t of_a_node = 3 * topology_value_bytes + 63 + 63 + 40;
  EXPECT_LT(nodes, topology_domains_max);
  EXPECT_LT(nodes * of_a_node, topology_bytes_max);
}

TEST(Convert, kinds_without_a_webhook_change_their_version_only) {
  EXPECT_EQ(up(R"({"kind":"AdmissionCheck","spec":{"retryDelayMinutes":15}})"),
            parsed(R"({"spec":{"retryDelayMinutes":15}})"));
}

TEST(Convert, refuses_unknown_versions) {
  Json object = Json::object();
  EXPECT_EQ(convert(object, "v1beta1", "v1").error().what(),
            "unknown version \"v1\" of group kueue.x-k8s.io");
}

TEST(Convert, older_objects_are_read_as_the_newer_type) {
  const Workload wl = decode<Workload>(R"({"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"Workload",
    "spec":{"priorityClassName":"p","priority":3,
      "priorityClassSource":"scheduling.k8s.io/priorityclass"}})")
                          .value();
  EXPECT_EQ(wl.spec.priority_class_ref->kind, "PriorityClass");
  EXPECT_EQ(to_json(wl)["apiVersion"], "kueue.x-k8s.io/v1beta2");
  EXPECT_FALSE(to_json(wl)["spec"].contains("priorityClassName"));
}

}  // namespace
}  // namespace regatta::api
