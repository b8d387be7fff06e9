#include "lib/api/codec.h"

#include "lib/api/batch.h"
#include "lib/api/kueue.h"
#include "lib/api/managed_clusters.h"
#include "lib/base/rng.h"
#include "lib/base/testing.h"

#include <gtest/gtest.h>

namespace regatta::api {
namespace {

constexpr std::string_view workload_text = R"({
  "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
  "metadata": {"name": "wl", "namespace": "kq", "uid": "u1", "resourceVersion": "11",
    "generation": 2, "creationTimestamp": "2026-01-02T03:04:05Z",
    "labels": {"kueue.x-k8s.io/job-uid": "j"}, "finalizers": ["kueue.x-k8s.io/resource-in-use"],
    "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "j",
      "controller": true, "blockOwnerDeletion": true}],
    "managedFields": [{"manager": "x"}]},
  "spec": {"active": true, "queueName": "lq", "priority": 5, "futureField": {"a": [1, 2.5]},
    "priorityClassRef": {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "p"},
    "preemptionGates": [{"name": "kueue.x-k8s.io/multikueue", "why": "future"}],
    "podSets": [{"name": "main", "count": 3, "minCount": 1, "futureToo": 7,
      "topologyRequest": {"required": "rack", "podSetSliceSize": 2},
      "template": {"metadata": {"labels": {"a": "b"}, "name": "n"},
        "spec": {"restartPolicy": "Never", "bogus": {"kept": true},
          "affinity": {"podAffinity": {"x": 1}, "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
              {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z"]}]}]}}},
          "tolerations": [{"key": "gpu", "operator": "Exists"}],
          "containers": [{"name": "main", "image": "img:1", "env": [{"name": "A"}],
            "resources": {"requests": {"cpu": "1000m", "memory": "32Mi"}}}]}}}]},
  "status": {
    "conditions": [{"type": "Admitted", "status": "True", "reason": "Admitted", "message": "",
      "lastTransitionTime": "2026-01-02T03:04:06Z", "observedGeneration": 2}],
    "admission": {"clusterQueue": "cq", "podSetAssignments": [{"name": "main", "count": 3,
      "flavors": {"cpu": "rf"}, "resourceUsage": {"cpu": "3", "memory": "96Mi"}}]},
    "admissionChecks": [{"name": "mk", "state": "Ready", "message": "",
      "lastTransitionTime": "2026-01-02T03:04:06Z"}],
    "clusterName": "east"}
})";

Json json_of(std::string_view text) {
  return parse_json(text).value();
}

template <class T>
std::string error_of(std::string_view text) {
  const Result<T> read = decode<T>(text);
  return read ? "no error" : read.error().what();
}

TEST(Codec, reads_the_fields_of_a_workload) {
  const Workload wl = decode<Workload>(workload_text).value();
  EXPECT_EQ(wl.metadata.key().str(), "kq/wl");
  EXPECT_TRUE(wl.metadata.controller());
  EXPECT_EQ(
      wl.spec.pod_sets.at(0).pod_template.spec().containers.at(0).resources.requests.at("cpu"),
      Quantity(1));
  EXPECT_EQ(wl.spec.pod_sets[0].pod_template.spec().node_affinity->required->size(), 1u);
  EXPECT_EQ(wl.spec.preemption_gates, std::vector<std::string>{"kueue.x-k8s.io/multikueue"});
  EXPECT_TRUE(is_true(wl.status.conditions, "Admitted"));
  EXPECT_EQ(find_check(wl.status, "mk")->state, CheckState::Ready);
  EXPECT_EQ(wl.status.cluster_name, "east");
}

TEST(Codec, a_workload_keeps_every_field_of_its_spec_through_a_copy) {
  const Json original = json_of(workload_text);
  const Json copy = to_json(decode<Workload>(workload_text).value());
  EXPECT_EQ(copy["spec"], original["spec"]);
  EXPECT_EQ(copy["status"], original["status"]);
}

TEST(Codec, what_is_changed_in_the_typed_spec_wins_over_the_text) {
  Workload wl = decode<Workload>(workload_text).value();
  wl.spec.queue_name = "other";
  wl.spec.priority_class_ref.reset();
  wl.spec.pod_sets[0].count = 2;
  wl.spec.preemption_gates = {"new", "kueue.x-k8s.io/multikueue"};
  const Json spec = to_json(wl)["spec"];
  EXPECT_EQ(spec["queueName"], "other");
  EXPECT_FALSE(spec.contains("priorityClassRef"));
  EXPECT_EQ(spec["podSets"][0]["count"], 2);
  EXPECT_EQ(spec["podSets"][0]["futureToo"], 7);
  EXPECT_EQ(spec["preemptionGates"].dump(),
            R"([{"name":"new"},{"name":"kueue.x-k8s.io/multikueue","why":"future"}])");
}

TEST(Codec, an_entry_keeps_its_unknown_fields_when_the_list_moves) {
  Workload wl = decode<Workload>(workload_text).value();
  PodSet extra = wl.spec.pod_sets[0];
  extra.name = "first";
  wl.spec.pod_sets.insert(wl.spec.pod_sets.begin(), extra);
  const Json sets = to_json(wl)["spec"]["podSets"];
  EXPECT_FALSE(sets[0].contains("futureToo"));
  EXPECT_EQ(sets[1]["futureToo"], 7);
}

TEST(Codec, entries_are_looked_up_once_however_many_have_no_name_or_another_place) {
  // To compare each entry with each other one would take hours.
  constexpr std::size_t number = 200'000;
  std::string text = R"({"preemptionGates":[)";
  for (std::size_t i = 0; i < number; ++i) text += "{},";
  text += R"({"name":"first","why":"future"},{"name":"x","n":1},{"name":"x","n":2}]})";
  Workload wl;
  wl.raw_spec = RawJson(text);
  wl.spec.preemption_gates.assign(number, "new");
  wl.spec.preemption_gates.front() = "first";
  wl.spec.preemption_gates.insert(wl.spec.preemption_gates.end(), {"x", "", "x", "x"});
  const Json gates = to_json(wl)["spec"]["preemptionGates"];
  ASSERT_EQ(gates.size(), number + 4);
  EXPECT_EQ(gates[0].dump(), R"({"name":"first","why":"future"})");
  EXPECT_EQ(gates[1].dump(), R"({"name":"new"})");
  EXPECT_EQ(gates[number].dump(), R"({"n":1,"name":"x"})");
  EXPECT_EQ(gates[number + 1].dump(), R"({"name":""})");
  EXPECT_EQ(gates[number + 2].dump(), R"({"n":2,"name":"x"})");
  EXPECT_EQ(gates[number + 3].dump(), R"({"name":"x"})");
}

TEST(Codec, of_several_entries_of_one_name_the_next_one_is_taken) {
  Workload wl;
  wl.raw_spec = RawJson(R"({"preemptionGates":[{"name":"a","n":0},{"name":"b","n":1},
      {"name":"a","n":2},{"name":"b","n":3},7,{"name":5}]})");
  wl.spec.preemption_gates = {"b", "b", "a", "a", "b", "a"};
  EXPECT_EQ(to_json(wl)["spec"]["preemptionGates"].dump(),
            R"([{"n":1,"name":"b"},{"n":3,"name":"b"},{"n":2,"name":"a"},{"n":0,"name":"a"},)"
            R"({"name":"b"},{"name":"a"}])");
}

/// `item`, so many times.
std::string list_of(std::size_t count, std::string_view item) {
  std::string out = "[";
  for (std::size_t i = 0; i < count; ++i) out.append(i == 0 ? "" : ",").append(item);
  return out + "]";
}

std::string workload_of(const std::string& pod_sets) {
  return R"({"spec":{"podSets":)" + pod_sets + "}}";
}

std::string pod_set_of(const std::string& spec) {
  return R"({"template":{"spec":{)" + spec + "}}}";
}

TEST(Codec, the_entries_of_an_object_may_take_so_much_memory) {
  const std::string limit = " entries are too many: those of one object may take 32 MiB of memory";
  const std::string sets = "spec.podSets[0].template.spec.";
  EXPECT_EQ(error_of<Workload>(
                workload_of("[" + pod_set_of(R"("containers":)" + list_of(200'000, "{}")) + "]")),
            sets + "containers: 200000" + limit);
  EXPECT_EQ(error_of<Workload>(workload_of(
                "[" + pod_set_of(R"("schedulingGates":)" + list_of(1'100'000, "{}")) + "]")),
            sets + "schedulingGates: 1100000" + limit);
  EXPECT_EQ(error_of<Workload>(R"({"status":{"conditions":)" + list_of(300'000, "{}") + "}}"),
            "status.conditions: 300000" + limit);
  std::string labels = "{";
  for (int i = 0; i < 400'000; ++i) labels += (i ? ",\"" : "\"") + std::to_string(i) + "\":\"\"";
  EXPECT_EQ(error_of<Workload>(R"({"metadata":{"labels":)" + labels + "}}}"),
            "metadata.labels: 400000" + limit);
}

TEST(Codec, the_entries_of_all_parts_of_an_object_count_together) {
  const std::string set = pod_set_of(R"("initContainers":)" + list_of(50'000, "{}"));
  EXPECT_EQ(error_of<Workload>(workload_of(list_of(3, set))), "no error");
  EXPECT_EQ(error_of<Workload>(workload_of(list_of(4, set))),
            "spec.podSets[3].template.spec.initContainers: 50000 entries are too many: those of "
            "one object may take 32 MiB of memory");
}

TEST(Codec, the_largest_objects_that_kubernetes_stores_are_read) {
  constexpr std::size_t stored = 3u << 19;  // 1.5 MiB
  const auto filled = [&](const std::string& field, std::string_view item) {
    return "[" + pod_set_of('"' + field + "\":" + list_of(stored / (item.size() + 1), item)) + "]";
  };
  EXPECT_EQ(error_of<Workload>(workload_of(filled("tolerations", R"({"operator":"Exists"})"))),
            "no error");
  EXPECT_EQ(error_of<Workload>(workload_of(filled("containers", R"({"name":"abcd","image":"i"})"))),
            "no error");
  EXPECT_EQ(error_of<Workload>(workload_of(filled("schedulingGates", R"({"name":"abcd"})"))),
            "no error");
  const std::string terms =
      R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
      R"({"nodeSelectorTerms":)" +
      list_of(stored / 3, "{}") + "}}}";
  EXPECT_EQ(error_of<Workload>(workload_of("[" + pod_set_of(terms) + "]")), "no error");
  EXPECT_EQ(
      error_of<ClusterQueue>(R"({"spec":{"namespaceSelector":{"matchExpressions":[{"values":)" +
                             list_of(stored / 3, R"("")") + "}]}}}"),
      "no error");
}

TEST(Codec, templates_share_the_text_of_the_spec_they_came_in) {
  const Workload wl = decode<Workload>(workload_text).value();
  const RawJson& part = wl.spec.pod_sets[0].pod_template.raw();
  EXPECT_TRUE(part.shares_text_with(wl.raw_spec));
  EXPECT_NE(wl.raw_spec.text().find("\"template\":" + part.text()), std::string::npos);
}

std::string workload_of_pod_sets(std::size_t count) {
  Json sets = Json::array();
  for (std::size_t i = 0; i < count; ++i) {
    sets.push_back({{"name", "p" + std::to_string(i)}, {"template", Json::object()}});
  }
  return dump_json(Json{{"spec", {{"podSets", std::move(sets)}}}});
}

TEST(Codec, pod_sets_have_a_limit_beyond_what_the_api_allows) {
  EXPECT_EQ(decode<Workload>(workload_of_pod_sets(64))->spec.pod_sets.size(), 64u);
  EXPECT_EQ(error_of<Workload>(workload_of_pod_sets(65)),
            "spec.podSets: 65 entries, at most 64 are read");
}

TEST(Codec, templates_of_many_pod_sets_keep_their_texts) {
  Json workload = json_of(workload_text);
  Json& sets = workload["spec"]["podSets"];
  Json twin = sets[0], plain = sets[0];
  twin["name"] = "twin";
  plain["name"] = "plain";
  plain["template"] = Json::object();
  // The text of a template also occurs in a member that is not known.
  plain["futureTemplate"] = twin["template"];
  sets.push_back(plain);
  sets.push_back(twin);
  const Workload wl = from_json<Workload>(workload).value();
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const RawJson& part = wl.spec.pod_sets[i].pod_template.raw();
    EXPECT_TRUE(part.shares_text_with(wl.raw_spec)) << i;
    EXPECT_EQ(part.text(), dump_json(sets[i]["template"])) << i;
  }
}

/// To search the whole text anew for each of them takes minutes.
TEST(Codec, very_many_templates_are_found_in_one_pass) {
  const PodTemplate one = PodTemplate::from(Json::object()).value();
  std::vector<PodTemplate> templates(250'000, one);
  std::vector<PodTemplate*> in_order;
  std::string text;
  for (PodTemplate& part : templates) {
    in_order.push_back(&part);
    text += R"({"template":{}},)";
  }
  const RawJson whole(std::move(text));
  PodTemplate::place_within(whole, in_order);
  EXPECT_TRUE(templates.front().raw().shares_text_with(whole));
  EXPECT_TRUE(templates.back().raw().shares_text_with(whole));
  EXPECT_EQ(templates.back().raw().text(), "{}");
}

TEST(Codec, a_job_survives_losslessly_and_loses_what_is_cleared) {
  constexpr std::string_view text = R"({"apiVersion":"batch/v1","kind":"Job",
    "metadata":{"name":"j","namespace":"n"},
    "spec":{"suspend":true,"parallelism":3,"completions":5,"managedBy":"kueue.x-k8s.io/multikueue",
      "podFailurePolicy":{"rules":[]},"backoffLimit":0,"selector":{"matchLabels":{"a":"b"}},
      "template":{"spec":{"containers":[{"name":"c"}],"restartPolicy":"Never"}}},
    "status":{"active":1,"ready":0,"startTime":"2026-01-01T00:00:00Z",
      "uncountedTerminatedPods":{},"conditions":[{"type":"Suspended","status":"True",
        "lastProbeTime":"2026-01-01T00:00:00Z","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})";
  Job job = decode<Job>(text).value();
  EXPECT_EQ(to_json(job), json_of(text));
  job.spec.managed_by.reset();
  Json without = json_of(text);
  without["spec"].erase("managedBy");
  EXPECT_EQ(to_json(job), without);
}

TEST(Codec, errors_name_the_path) {
  const std::string cq = R"({"kind":"ClusterQueue","spec":{)";
  EXPECT_EQ(error_of<ClusterQueue>("[]"), "expected an object, got a list");
  EXPECT_EQ(error_of<ClusterQueue>(R"({"spec":1})"), "spec: expected an object, got a number");
  EXPECT_EQ(error_of<ClusterQueue>(cq + R"("resourceGroups":[{"flavors":[{},"x"]}]}})"),
            "spec.resourceGroups[0].flavors[1]: expected an object, got a string");
  EXPECT_EQ(
      error_of<ClusterQueue>(
          cq + R"("resourceGroups":[{"flavors":[{"resources":[{"nominalQuota":"4x"}]}]}]}})"),
      "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: quantities must match the "
      "regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  EXPECT_EQ(error_of<ClusterQueue>(cq + R"("stopPolicy":"x"}})"),
            "spec.stopPolicy: unsupported value \"x\", expected one of \"None\", \"Hold\", "
            "\"HoldAndDrain\"");
  EXPECT_EQ(error_of<Workload>(R"({"spec":{"podSets":[{"template":{"spec":{"containers":{}}}}]}})"),
            "spec.podSets[0].template.spec.containers: expected a list, got an object");
  EXPECT_EQ(error_of<Workload>(R"({"spec":{"priority":3000000000}})"),
            "spec.priority: out of range: 3000000000");
  EXPECT_EQ(error_of<Workload>(R"({"spec":{"priority":1.5}})"),
            "spec.priority: expected an integer, got a number");
  EXPECT_EQ(error_of<Workload>(R"({"metadata":{"labels":{"a":1}}})"),
            "metadata.labels.a: expected a string, got a number");
  EXPECT_EQ(error_of<Workload>(R"({"metadata":{"creationTimestamp":"now"}})"),
            "metadata.creationTimestamp: not an RFC 3339 time: \"now\"");
  EXPECT_EQ(error_of<Workload>(R"({"kind":"Job"})"), "kind: expected \"Workload\", got \"Job\"");
  EXPECT_EQ(error_of<Workload>(R"({"apiVersion":"kueue.x-k8s.io/v1alpha1"})"),
            "apiVersion: expected \"kueue.x-k8s.io/v1beta2\", got \"kueue.x-k8s.io/v1alpha1\"");
}

TEST(Codec, defaults_hold_where_fields_are_absent_or_null) {
  const ClusterQueue cq =
      decode<ClusterQueue>(R"({"spec":{"stopPolicy":null,"preemption":{}}})").value();
  EXPECT_EQ(cq.spec.queueing_strategy, QueueingStrategy::BestEffortFIFO);
  EXPECT_EQ(cq.spec.stop_policy, StopPolicy::None);
  EXPECT_FALSE(cq.spec.namespace_selector);
  EXPECT_TRUE(
      decode<ClusterQueue>(R"({"spec":{"namespaceSelector":{}}})")->spec.namespace_selector);
  EXPECT_TRUE(decode<Workload>("{}")->spec.active);
}

TEST(Codec, an_empty_selector_is_written_and_an_absent_one_is_not) {
  ClusterQueue cq;
  EXPECT_FALSE(to_json(cq)["spec"].contains("namespaceSelector"));
  cq.spec.namespace_selector.emplace();
  EXPECT_EQ(to_json(cq)["spec"]["namespaceSelector"], Json::object());
}

TEST(Codec, secrets_hold_bytes) {
  const Secret secret = decode<Secret>(R"({"data":{"kubeconfig":"AAEC/w==","empty":""}})").value();
  EXPECT_EQ(secret.data.at("kubeconfig"), std::string("\0\1\2\xff", 4));
  EXPECT_EQ(to_json(secret)["data"]["kubeconfig"], "AAEC/w==");
  EXPECT_EQ(error_of<Secret>(R"({"data":{"k":"*"}})"),
            "data.k: illegal base64 data at input byte 0");
}

TEST(Codec, clusters_of_open_cluster_management_are_read) {
  const auto cluster = decode<ManagedCluster>(R"({"metadata":{"name":"east"},"spec":{
      "hubAcceptsClient":true,"managedClusterClientConfigs":[{"url":"https://e","caBundle":"cGVt"}]},
      "status":{"clusterClaims":[{"name":"id.k8s.io","value":"u"}]}})");
  ASSERT_TRUE(cluster) << cluster.error().what();
  EXPECT_TRUE(cluster->hub_accepts_client);
  EXPECT_EQ(cluster->clients, (std::vector<ManagedClusterClient>{{"https://e", "pem"}}));
  EXPECT_EQ(cluster->claims, (std::vector<ManagedClusterClaim>{{"id.k8s.io", "u"}}));
  EXPECT_EQ(*from_json<ManagedCluster>(to_json(*cluster)), *cluster);
  EXPECT_FALSE(decode<ManagedCluster>(
      R"({"spec":{"managedClusterClientConfigs":[{"url":"x","caBundle":"?"}]}})"));

  const auto permission = decode<ClusterPermission>(R"({"spec":{"clusterRole":{"rules":[
      {"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]},
      "clusterRoleBinding":{"subject":{"kind":"ManagedServiceAccount","name":"m"}}}})");
  ASSERT_TRUE(permission) << permission.error().what();
  EXPECT_EQ(permission->rules, (std::vector<PolicyRule>{{{""}, {"pods"}, {"get"}}}));
  EXPECT_EQ(permission->subject_name, "m");
  EXPECT_TRUE(decode<ClusterPermission>(R"({"spec":{"roleBindings":[]}})"));
}

TEST(Codec, leases_and_events_write_microseconds) {
  Lease lease;
  lease.spec.renew_time = parse_rfc3339("2026-01-02T03:04:05.678Z").value();
  EXPECT_EQ(to_json(lease)["spec"]["renewTime"], "2026-01-02T03:04:05.678000Z");
  EXPECT_EQ(from_json<Lease>(to_json(lease)).value(), lease);
}

/// Replaces one random node of the document by something of another type.
void mutate(Json& value, Rng& rng) {
  Json* at = &value;
  while (at->is_structured() && !at->empty() && rng.chance(0.85)) {
    auto it = at->begin();
    std::advance(it, rng.between(0, static_cast<std::int64_t>(at->size()) - 1));
    at = &*it;
  }
  const Json replacements[] = {nullptr,
                               true,
                               -1,
                               1.5,
                               "",
                               "1e400",
                               Json::array({1}),
                               Json::array(),
                               UINT64_MAX,
                               Json{{"name", 3}},
                               "Unknown"};
  *at = replacements[rng.between(0, std::ssize(replacements) - 1)];
}

TEST(Codec, survives_any_mutation) {
  const std::uint64_t seed = 4711;
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  const Json original = json_of(workload_text);
  std::uint64_t read = 0;
  for (std::uint64_t i = 0; i < tries(5'000); ++i) {
    Json value = original;
    for (auto n = rng.between(1, 4); n > 0; --n) mutate(value, rng);
    if (value.is_object() && rng.chance(0.5)) value["apiVersion"] = "kueue.x-k8s.io/v1beta1";
    const Result<Workload> wl = from_json<Workload>(value);
    if (!wl) continue;
    ++read;
    const Json written = to_json(*wl);
    const Result<Workload> again = from_json<Workload>(written);
    ASSERT_TRUE(again) << again.error().what() << written.dump();
    ASSERT_EQ(to_json(*again), written);
  }
  EXPECT_GT(read, tries(500));
}

}  // namespace
}  // namespace regatta::api
