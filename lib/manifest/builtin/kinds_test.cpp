#include "lib/manifest/builtin/event_views.h"
#include "lib/manifest/builtin/scalars.h"
#include "lib/manifest/builtin/strategies.h"
#include "lib/manifest/builtin/testing.h"
#include "lib/manifest/schema/builtin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regatta::manifest::builtin {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ConfigMapKind, KeysAreCheckedAndFrozenOnesStay) {
  const StrategyPtr strategy = config_map_strategy();
  EXPECT_THAT(causes(strategy->validate_create(json(R"({"data":{"bad/key":"v"}})"))),
              ElementsAre("FieldValueInvalid data[bad/key]"));
  EXPECT_THAT(
      texts(strategy->validate_create(json(R"({"data":{"b":"x"},"binaryData":{"b":"AAE="}})"))),
      ElementsAre("data[b]: Invalid value: \"b\": duplicate of key present in binaryData"));
  const Json frozen = json(R"({"data":{"k":"v"},"immutable":true})");
  EXPECT_THAT(
      texts(strategy->validate_update(json(R"({"data":{"k":"w"},"immutable":true})"), frozen)),
      ElementsAre("data: Forbidden: field is immutable when `immutable` is set"));
  EXPECT_THAT(
      causes(strategy->validate_update(json(R"({"data":{"k":"v"},"immutable":false})"), frozen)),
      ElementsAre("FieldValueForbidden immutable"));
}

TEST(SecretKind, PlainTextBecomesDataAndTypesAskForTheirKeys) {
  const StrategyPtr strategy = secret_strategy();
  Json secret = json(R"({"data":{"a":"QQ==","b":"Qg=="},"stringData":{"b":"bee","c":"sea!"}})");
  strategy->set_defaults(secret);
  EXPECT_EQ(secret, json(R"({"data":{"a":"QQ==","b":"YmVl","c":"c2VhIQ=="},"type":"Opaque"})"));
  EXPECT_THAT(causes(strategy->validate_create(json(R"({"type":"kubernetes.io/tls"})"))),
              ElementsAre("FieldValueRequired data[tls.crt]", "FieldValueRequired data[tls.key]"));
  EXPECT_THAT(
      causes(strategy->validate_create(json(R"({"type":"kubernetes.io/service-account-token"})"))),
      ElementsAre("FieldValueRequired metadata.annotations[kubernetes.io/service-account.name]"));
  EXPECT_THAT(texts(strategy->validate_update(json(R"({"type":"other"})"), secret)),
              ElementsAre("type: Invalid value: \"other\": field is immutable"));
}

TEST(NamespaceKind, LabelAndFinalizerAreTheServers) {
  const StrategyPtr strategy = namespace_strategy();
  const Json ns = created(*strategy, json(R"({"metadata":{"name":"nsx"}})"));
  EXPECT_EQ(ns["metadata"]["labels"], json(R"({"kubernetes.io/metadata.name":"nsx"})"));
  EXPECT_EQ(ns["spec"], json(R"({"finalizers":["kubernetes"]})"));
  EXPECT_EQ(ns["status"], json(R"({"phase":"Active"})"));
  EXPECT_EQ(patched(*strategy, ns, R"({"metadata":{"labels":{
    "kubernetes.io/metadata.name":"other"}},"spec":{"finalizers":[]}})"),
            ns);
  EXPECT_EQ(strategy->name_rule(), NameRule::label);
}

TEST(NodeKind, RangesAndProviderStay) {
  const StrategyPtr strategy = node_strategy();
  const Json node = created(*strategy, json(R"({"metadata":{"name":"n"},
    "spec":{"podCIDR":"10.0.0.0/24","providerID":"x://1"}})"));
  EXPECT_EQ(node["spec"]["podCIDRs"], json(R"(["10.0.0.0/24"])"));
  const Json other = patched(*strategy, node, R"({"spec":{"podCIDR":"10.1.0.0/24",
    "podCIDRs":["10.1.0.0/24"],"providerID":"x://2"}})");
  EXPECT_THAT(
      causes(strategy->validate_update(other, node)),
      ElementsAre("FieldValueForbidden spec.podCIDRs", "FieldValueForbidden spec.providerID"));
}

TEST(NodeKind, NewOnesAreTaintedAndTheTableShowsCordons) {
  const StrategyPtr strategy = node_strategy();
  Json node = created(*strategy, json(R"({"metadata":{"name":"n1"},"spec":{"taints":[
    {"key":"t","value":"v","effect":"NoSchedule"}]}})"));
  EXPECT_EQ(node["spec"]["taints"][1],
            json(R"({"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"})"));
  EXPECT_EQ(node["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"], 0);
  node["status"]["conditions"] = json(R"([{"type":"Ready","status":"True"}])");
  node["spec"]["unschedulable"] = true;
  EXPECT_EQ(Json(strategy->cells(node, test_now)),
            json(R"(["n1","Ready,SchedulingDisabled","<none>","0s","","<none>","<none>",
              "<unknown>","<unknown>","<unknown>"])"));
}

TEST(EventKind, BothViewsAreOneObject) {
  const Json theirs = json(R"({"apiVersion":"events.k8s.io/v1","eventTime":"t","note":"hello",
    "reportingController":"c","reportingInstance":"i","regarding":{"name":"a"},
    "deprecatedSource":{},"deprecatedFirstTimestamp":null,"deprecatedLastTimestamp":null})");
  const Json core = json(R"({"apiVersion":"v1","eventTime":"t","message":"hello",
    "reportingComponent":"c","reportingInstance":"i","involvedObject":{"name":"a"},
    "source":{},"firstTimestamp":null,"lastTimestamp":null})");
  EXPECT_EQ(event_to_core(theirs), core);
  EXPECT_EQ(event_from_core(core), theirs);
}

TEST(EventKind, TheNewGroupAsksForMore) {
  const StrategyPtr strategy = events_event_strategy();
  EXPECT_THAT(
      texts(strategy->validate_create(json(R"({"metadata":{"namespace":"ev"}})"))),
      ElementsAre("involvedObject.namespace: Invalid value: \"\": does not match "
                  "event.namespace",
                  "eventTime: Required value", "type: Invalid value: \"\": has invalid value: "));
  const Json event = json(R"({"metadata":{"namespace":"ev"},"type":"Normal","reason":"R",
    "eventTime":"2026-01-01T00:00:00.000000Z","reportingController":"a/b",
    "reportingInstance":"i","action":"A","regarding":{"namespace":"other","name":"a"}})");
  EXPECT_THAT(texts(strategy->validate_create(event)), IsEmpty());
  Json changed = event;
  changed["reason"] = "Other";
  EXPECT_THAT(causes(strategy->validate_update(changed, event)),
              ElementsAre("FieldValueInvalid reason", "FieldValueInvalid reason"));
  EXPECT_THAT(causes(core_event_strategy()->validate_create(
                  json(R"({"metadata":{"namespace":"ev"},"involvedObject":{"namespace":"zz"}})"))),
              ElementsAre("FieldValueInvalid involvedObject.namespace"));
}

TEST(SmallKinds, LeaseAndPriorityClass) {
  EXPECT_THAT(causes(lease_strategy()->validate_create(
                  json(R"({"spec":{"leaseDurationSeconds":0,"leaseTransitions":-1}})"))),
              ElementsAre("FieldValueInvalid spec.leaseDurationSeconds",
                          "FieldValueInvalid spec.leaseTransitions"));
  EXPECT_TRUE(lease_strategy()->allow_create_on_update());
  EXPECT_FALSE(lease_strategy()->allow_unconditional_update());
  const StrategyPtr strategy = priority_class_strategy();
  const Json high = json(
      R"({"metadata":{"name":"a"},"value":1000000001,"preemptionPolicy":"PreemptLowerPriority"})");
  EXPECT_THAT(texts(strategy->validate_create(high)),
              ElementsAre("value: Forbidden: maximum allowed value of a user defined priority is "
                          "1000000000"));
  Json never = high;
  never["preemptionPolicy"] = "Never";
  EXPECT_THAT(texts(strategy->validate_update(never, high)),
              ElementsAre("preemptionPolicy: Invalid value: \"Never\": field is immutable"));
}

TEST(Scalars, AreKeptInOneForm) {
  const Schema* pod = builtin_schema("", "v1", "Pod");
  ASSERT_NE(pod, nullptr);
  Json object = json(R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"1000m",
    "memory":"1024Mi","nvidia.com/gpu":2}}}]}})");
  EXPECT_EQ(normalize_scalars(object, *pod), std::nullopt);
  EXPECT_EQ(object["spec"]["containers"][0]["resources"]["requests"],
            json(R"({"cpu":"1","memory":"1Gi","nvidia.com/gpu":"2"})"));
  object["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "two";
  EXPECT_THAT(normalize_scalars(object, *pod).value_or(""),
              testing::HasSubstr("quantities must match the regular expression"));

  const Schema* lease = builtin_schema("coordination.k8s.io", "v1", "Lease");
  ASSERT_NE(lease, nullptr);
  Json held = json(R"({"spec":{"renewTime":"2026-01-01T02:00:05.500000+02:00"}})");
  EXPECT_EQ(normalize_scalars(held, *lease), std::nullopt);
  EXPECT_EQ(held["spec"]["renewTime"], "2026-01-01T00:00:05.500000Z");
  held["spec"]["renewTime"] = "2026-01-01T00:00:05Z";
  EXPECT_EQ(normalize_scalars(held, *lease),
            "parsing time \"2026-01-01T00:00:05Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot "
            "parse \"Z\" as \".000000\"");
  held["spec"]["renewTime"] = "2026-01-01T00:00:05.123456789Z";
  EXPECT_NE(normalize_scalars(held, *lease), std::nullopt);

  Json secret = json(R"({"data":{"k":"%%%"}})");
  EXPECT_EQ(normalize_scalars(secret, *builtin_schema("", "v1", "Secret")),
            "illegal base64 data at input byte 0");
}

TEST(LimitRangeKind, WhatIsNotSaidFollowsFromWhatIs) {
  const StrategyPtr strategy = limit_range_strategy();
  Json range = json(R"({"spec":{"limits":[
    {"type":"Container","max":{"cpu":"2"},"min":{"memory":"1Mi"},"default":{"gpu":"1"}},
    {"type":"Pod","max":{"cpu":"4"}}]}})");
  strategy->set_defaults(range);
  EXPECT_EQ(range["spec"]["limits"][0], json(R"({"type":"Container","max":{"cpu":"2"},
    "min":{"memory":"1Mi"},"default":{"cpu":"2","gpu":"1"},
    "defaultRequest":{"cpu":"2","gpu":"1","memory":"1Mi"}})"));
  EXPECT_EQ(range["spec"]["limits"][1], json(R"({"type":"Pod","max":{"cpu":"4"}})"));
}

TEST(LimitRangeKind, BoundsAreInOrderAndTypesOccurOnce) {
  const StrategyPtr strategy = limit_range_strategy();
  EXPECT_THAT(texts(strategy->validate_create(json(R"({"spec":{"limits":[
                {"type":"Container","min":{"cpu":"2"},"max":{"cpu":"1"}}]}})"))),
              ElementsAre("spec.limits[0].min[cpu]: Invalid value: \"2\": min value 2 is greater "
                          "than max value 1"));
  EXPECT_THAT(causes(strategy->validate_create(json(R"({"spec":{"limits":[
                {"type":"Pod","default":{"cpu":"1"}},{"type":"Pod"}]}})"))),
              ElementsAre("FieldValueForbidden spec.limits[0].default",
                          "FieldValueDuplicate spec.limits[1].type"));
}

TEST(RuntimeClassKind, TheHandlerIsALabelAndStays) {
  const StrategyPtr strategy = runtime_class_strategy();
  EXPECT_THAT(strategy->validate_create(json(R"({"handler":"vm"})")), IsEmpty());
  EXPECT_THAT(causes(strategy->validate_create(json(R"({"handler":"V_M"})"))),
              ElementsAre("FieldValueInvalid handler"));
  EXPECT_THAT(
      texts(strategy->validate_update(json(R"({"handler":"b"})"), json(R"({"handler":"a"})"))),
      ElementsAre("handler: Invalid value: \"b\": field is immutable"));
}

}  // namespace
}  // namespace regatta::manifest::builtin
