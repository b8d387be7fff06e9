#include "lib/manifest/builtin/strategies.h"
#include "lib/manifest/builtin/testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regatta::manifest::builtin {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

Json pod_template() {
  return json(R"({"metadata":{"labels":{"a":"b"}},
    "spec":{"containers":[{"name":"main","image":"img:1"}]}})");
}

Json keeper() {
  Json object = json(R"({"metadata":{"name":"x"},"spec":{"selector":{"matchLabels":{"a":"b"}}}})");
  object["spec"]["template"] = pod_template();
  return object;
}

TEST(WorkloadKinds, GoodOnesAreCompletedAndAccepted) {
  const struct {
    StrategyPtr strategy;
    const char* defaults;  ///< that the spec gets
  } cases[] = {
      {replica_set_strategy(), R"({"replicas":1})"},
      {stateful_set_strategy(), R"({"replicas":1,"podManagementPolicy":"OrderedReady",
        "updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":0}}})"},
      {deployment_strategy(), R"({"replicas":1,"progressDeadlineSeconds":600})"},
  };
  for (const auto& one : cases) {
    const Json object = created(*one.strategy, keeper());
    const Json defaults = json(one.defaults);
    for (const auto& [name, value] : defaults.items()) {
      EXPECT_EQ(object["spec"][name], value) << name;
    }
    EXPECT_THAT(texts(one.strategy->validate_create(object)), IsEmpty());
    EXPECT_EQ(one.strategy->columns().size(), one.strategy->cells(object, test_now).size());
  }
}

TEST(WorkloadKinds, SelectorsAndTemplatesHaveToFit) {
  const StrategyPtr strategy = replica_set_strategy();
  Json object = created(*strategy, keeper());
  object["spec"]["selector"]["matchLabels"]["a"] = "c";
  object["spec"]["template"]["spec"]["restartPolicy"] = "Never";
  EXPECT_THAT(causes(strategy->validate_create(object)),
              ElementsAre("FieldValueInvalid spec.template.metadata.labels",
                          "FieldValueNotSupported spec.template.spec.restartPolicy"));
  const Json old = created(*strategy, keeper());
  EXPECT_THAT(causes(strategy->validate_update(object, old)),
              Contains("FieldValueInvalid spec.selector"));
}

TEST(WorkloadKinds, AStatefulSetChangesInFewWays) {
  const StrategyPtr strategy = stateful_set_strategy();
  const Json old = created(*strategy, keeper());
  EXPECT_THAT(
      texts(strategy->validate_update(patched(*strategy, old, R"({"spec":{"replicas":3}})"), old)),
      IsEmpty());
  EXPECT_THAT(causes(strategy->validate_update(
                  patched(*strategy, old, R"({"spec":{"serviceName":"s"}})"), old)),
              ElementsAre("FieldValueForbidden spec"));
}

TEST(ServiceKind, GetsAnAddressAndKeepsIt) {
  const StrategyPtr strategy = service_strategy();
  const Json service = created(*strategy, json(R"({"metadata":{"name":"s"},"spec":{
    "type":"NodePort","selector":{"a":"b"},"ports":[{"port":80}]}})"));
  const Json& spec = service["spec"];
  EXPECT_EQ(spec["clusterIPs"], Json::array({spec["clusterIP"]}));
  EXPECT_EQ(spec["ports"][0]["targetPort"], 80);
  EXPECT_EQ(spec["ports"][0]["protocol"], "TCP");
  EXPECT_GE(spec["ports"][0]["nodePort"], 30000);
  EXPECT_THAT(texts(strategy->validate_create(service)), IsEmpty());
  const Json moved = patched(*strategy, service, R"({"spec":{"clusterIP":"10.0.0.1"}})");
  EXPECT_THAT(causes(strategy->validate_update(moved, service)),
              ElementsAre("FieldValueInvalid spec.clusterIPs[0]"));
}

TEST(ServiceKind, PortsAreChecked) {
  const StrategyPtr strategy = service_strategy();
  const auto errors_of = [&](const char* spec) {
    return causes(strategy->validate_create(
        created(*strategy, Json{{"metadata", {{"name", "s"}}}, {"spec", json(spec)}})));
  };
  EXPECT_THAT(errors_of(R"({})"), ElementsAre("FieldValueRequired spec.ports"));
  EXPECT_THAT(errors_of(R"({"clusterIP":"None"})"), IsEmpty());
  EXPECT_THAT(errors_of(R"({"type":"ExternalName"})"),
              ElementsAre("FieldValueRequired spec.externalName"));
  EXPECT_THAT(
      errors_of(R"({"ports":[{"port":0},{"port":70000,"name":"a"}]})"),
      ElementsAre("FieldValueRequired spec.ports[0].name", "FieldValueInvalid spec.ports[0].port",
                  "FieldValueInvalid spec.ports[1].port"));
}

TEST(RoleBindingKind, TheRoleStaysAndSubjectsAreComplete) {
  const StrategyPtr strategy = role_binding_strategy(true);
  const Json binding = created(*strategy, json(R"({"metadata":{"name":"b"},
    "roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"User","name":"u"}]})"));
  EXPECT_EQ(binding["subjects"][0]["apiGroup"], "rbac.authorization.k8s.io");
  EXPECT_THAT(texts(strategy->validate_create(binding)), IsEmpty());
  const Json other = patched(*strategy, binding, R"({"roleRef":{"name":"q"}})");
  EXPECT_THAT(causes(strategy->validate_update(other, binding)),
              ElementsAre("FieldValueInvalid roleRef"));
  EXPECT_THAT(
      causes(role_strategy(true)->validate_create(json(R"({"rules":[{},
                {"verbs":["get"],"nonResourceURLs":["/x"]}]})"))),
      ElementsAre("FieldValueRequired rules[0].verbs", "FieldValueRequired rules[0].apiGroups",
                  "FieldValueRequired rules[0].resources",
                  "FieldValueInvalid rules[1].nonResourceURLs"));
}

TEST(ShownKinds, BudgetsAndQuotasAreChecked) {
  EXPECT_THAT(
      causes(shown_strategy("poddisruptionbudgets")
                 ->validate_create(json(R"({"spec":{"minAvailable":1,"maxUnavailable":-1}})"))),
      ElementsAre("FieldValueInvalid spec", "FieldValueInvalid spec.maxUnavailable"));
  EXPECT_THAT(causes(shown_strategy("resourcequotas")
                         ->validate_create(json(R"({"spec":{"hard":{"pods":"-1"}}})"))),
              ElementsAre("FieldValueInvalid spec.hard[pods]"));
}

TEST(ShownKinds, HaveACellForEveryColumn) {
  for (const char* plural :
       {"cronjobs", "daemonsets", "horizontalpodautoscalers", "poddisruptionbudgets",
        "replicationcontrollers", "resourcequotas", "validatingwebhookconfigurations"}) {
    const StrategyPtr strategy = shown_strategy(plural);
    const Json object = created(*strategy, json(R"({"metadata":{"name":"x"}})"));
    EXPECT_EQ(strategy->columns().size(), strategy->cells(object, test_now).size()) << plural;
  }
}

}  // namespace
}  // namespace regatta::manifest::builtin
