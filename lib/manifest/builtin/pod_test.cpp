#include "lib/manifest/builtin/admission.h"
#include "lib/manifest/builtin/strategies.h"
#include "lib/manifest/builtin/testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regatta::manifest::builtin {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PodKind : public testing::Test {
 protected:
  Json make(const char* spec_patch = "{}") {
    Json pod = json(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"pd"},
      "spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"img:1",
      "resources":{"requests":{"cpu":"100m"}}}]}})");
    pod["spec"].merge_patch(json(spec_patch));
    return created(*strategy_, std::move(pod));
  }
  FieldErrors update(const Json& old, const char* patch) {
    return strategy_->validate_update(patched(*strategy_, old, patch), old);
  }

  StrategyPtr strategy_ = pod_strategy();
};

TEST_F(PodKind, WhatASpecMayNotSay) {
  const struct {
    const char* name;
    const char* spec;
    const char* error;  ///< reason and field
  } cases[] = {
      {"a mount of no volume",
       R"({"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"v","mountPath":"/"}]}]})",
       "FieldValueNotFound spec.containers[0].volumeMounts[0].name"},
      {"a volume of two sorts",
       R"({"volumes":[{"name":"v","emptyDir":{},"hostPath":{"path":"/"}}]})",
       "FieldValueForbidden spec.volumes[0].hostPath"},
      {"a secret volume without a secret", R"({"volumes":[{"name":"v","secret":{}}]})",
       "FieldValueRequired spec.volumes[0].secret.secretName"},
      {"a probe of nothing", R"({"containers":[{"name":"c","image":"i","livenessProbe":{}}]})",
       "FieldValueRequired spec.containers[0].livenessProbe"},
      {"a variable from nowhere",
       R"({"containers":[{"name":"c","image":"i","env":[{"name":"a","valueFrom":{}}]}]})",
       "FieldValueInvalid spec.containers[0].env[0].valueFrom"},
      {"a port name with capitals",
       R"({"containers":[{"name":"c","image":"i","ports":[{"name":"Web","containerPort":1}]}]})",
       "FieldValueInvalid spec.containers[0].ports[0].name"},
      {"a bad label", R"({"nodeSelector":{"a b":"c"}})", "FieldValueInvalid spec.nodeSelector"},
      {"a gate without a good name", R"({"schedulingGates":[{"name":"a b"}]})",
       "FieldValueInvalid spec.schedulingGates[0]"},
      {"seconds for an effect without end",
       R"({"tolerations":[{"key":"k","operator":"Exists","tolerationSeconds":5}]})",
       "FieldValueInvalid spec.tolerations[0].effect"},
      {"no node at all",
       R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{}}}})",
       "FieldValueRequired spec.affinity.nodeAffinity."
       "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"},
      {"a spread over nothing",
       R"({"topologySpreadConstraints":[{"maxSkew":1,"whenUnsatisfiable":"DoNotSchedule"}]})",
       "FieldValueRequired spec.topologySpreadConstraints[0].topologyKey"},
  };
  for (const auto& one : cases) {
    EXPECT_THAT(causes(strategy_->validate_create(make(one.spec))), ElementsAre(one.error))
        << one.name;
  }
}

TEST_F(PodKind, DebuggingContainersAreAddedAndResourcesResizedApart) {
  const Json pod = make();
  const auto part = [&](const char* name, const Json& old, const char* patch) {
    Json object = old;
    object.merge_patch(json(patch));
    strategy_->prepare_for_part(name, object, old);
    return object;
  };
  const Json debugged = part("ephemeralcontainers", pod, R"({"spec":{"restartPolicy":"Always",
    "ephemeralContainers":[{"name":"dbg","image":"i","targetContainerName":"main"}]}})");
  EXPECT_EQ(debugged["spec"]["restartPolicy"], "Never");
  EXPECT_EQ(debugged["metadata"]["generation"], 2);
  EXPECT_THAT(texts(strategy_->validate_part("ephemeralcontainers", debugged, pod)), IsEmpty());
  EXPECT_THAT(texts(strategy_->validate_part("ephemeralcontainers", pod, debugged)),
              ElementsAre("spec.ephemeralContainers: Forbidden: existing ephemeral containers "
                          "\"dbg\" may not be removed"));
  const Json resized = part("resize", pod, R"({"spec":{"containers":[{"name":"main","image":"x",
    "resources":{"requests":{"cpu":"200m"}}}]}})");
  EXPECT_EQ(resized["spec"]["containers"][0]["image"], "img:1");
  EXPECT_EQ(resized["spec"]["containers"][0]["resources"], json(R"({"requests":{"cpu":"200m"}})"));
  EXPECT_THAT(texts(strategy_->validate_part("resize", resized, pod)), IsEmpty());
  const Json bare = part("resize", pod, R"({"spec":{"containers":[{"name":"main"}]}})");
  EXPECT_THAT(causes(strategy_->validate_part("resize", bare, pod)),
              ElementsAre("FieldValueInvalid spec"));
}

TEST_F(PodKind, AGatedOneWaitsAndSaysSo) {
  const Json pod = make(R"({"schedulingGates":[{"name":"example.dev/gate"}]})");
  EXPECT_THAT(texts(strategy_->validate_create(pod)), IsEmpty());
  EXPECT_EQ(pod["status"], json(R"({"phase":"Pending","conditions":[{"type":"PodScheduled",
    "status":"False","lastProbeTime":null,"lastTransitionTime":"2026-01-01T00:00:00Z",
    "reason":"SchedulingGated",
    "message":"Scheduling is blocked due to non-empty scheduling gates"}],
    "qosClass":"Burstable"})"));
  EXPECT_EQ(pod["spec"]["tolerations"].size(), 2U);
  EXPECT_EQ(pod["spec"]["priority"], 0);
  EXPECT_EQ(pod["spec"]["enableServiceLinks"], true);
  EXPECT_EQ(strategy_->cells(pod, test_now)[2], "SchedulingGated");
}

TEST_F(PodKind, AGatedOneMayBeSteeredFurtherButNotElsewhere) {
  const Json pod =
      make(R"({"schedulingGates":[{"name":"example.dev/gate"}],"nodeSelector":{"zone":"a"}})");
  EXPECT_THAT(texts(update(pod, R"({"spec":{"nodeSelector":{"disk":"ssd"}}})")), IsEmpty());
  EXPECT_THAT(
      texts(update(pod, R"({"spec":{"schedulingGates":null,"nodeSelector":{"disk":"ssd"}}})")),
      IsEmpty());
  EXPECT_THAT(texts(update(pod, R"({"spec":{"nodeSelector":{"zone":"b"}}})")),
              ElementsAre("spec.nodeSelector: Invalid value: {\"zone\":\"b\"}: only additions to "
                          "spec.nodeSelector are allowed (no mutations or deletions)"));
  EXPECT_THAT(texts(update(pod, R"({"spec":{"schedulingGates":[{"name":"example.dev/gate2"}]}})")),
              ElementsAre("spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but "
                          "found new scheduling gate 'example.dev/gate2'"));
}

TEST_F(PodKind, OnlyAFewFieldsMayChangeOnceItRuns) {
  const Json pod = make();
  EXPECT_THAT(causes(update(pod, R"({"spec":{"nodeSelector":{"rack":"1"}}})")),
              ElementsAre("FieldValueForbidden spec"));
  EXPECT_THAT(texts(update(pod, R"({"spec":{"activeDeadlineSeconds":100}})")), IsEmpty());
  EXPECT_THAT(texts(update(pod, R"({"spec":{"tolerations":[{"key":"k","operator":"Exists"}]}})")),
              IsEmpty());
  const Json changed = patched(*strategy_, pod, R"({"spec":{"activeDeadlineSeconds":100}})");
  EXPECT_EQ(changed["metadata"]["generation"], 2);
  const Json labelled = patched(*strategy_, pod, R"({"metadata":{"labels":{"a":"b"}}})");
  EXPECT_EQ(labelled["metadata"]["generation"], 1);
}

TEST_F(PodKind, ResourcesMustMakeSense) {
  EXPECT_THAT(causes(strategy_->validate_create(make(R"({"containers":null})"))),
              ElementsAre("FieldValueRequired spec.containers"));
  EXPECT_THAT(
      texts(strategy_->validate_create(make(R"({"containers":[{"name":"main","image":"i",
        "resources":{"requests":{"cpu":"2"},"limits":{"cpu":"1"}}}]})"))),
      ElementsAre("spec.containers[0].resources.requests: Invalid value: \"2\": must be less than "
                  "or equal to cpu limit of 1"));
  EXPECT_THAT(causes(strategy_->validate_create(make(R"({"containers":[{"name":"main",
        "image":"i","resources":{"requests":{"nvidia.com/gpu":"2"}}}]})"))),
              ElementsAre("FieldValueRequired spec.containers[0].resources.limits"));
}

TEST_F(PodKind, StatusWritesKeepSpecAndFillWhatGoWrites) {
  const Json pod = make();
  const Json running = status_patched(*strategy_, pod, R"({"spec":{"activeDeadlineSeconds":1},
    "metadata":{"annotations":{"viaStatus":"1"}},"status":{"phase":"Running",
    "conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"main",
    "ready":true,"image":"i","imageID":"x","state":{"running":{}}}]}})");
  EXPECT_EQ(running["spec"], pod["spec"]);
  EXPECT_EQ(running["metadata"]["annotations"]["viaStatus"], "1");
  EXPECT_EQ(running["metadata"]["generation"], 1);
  EXPECT_TRUE(running["status"]["conditions"][0]["lastProbeTime"].is_null());
  EXPECT_EQ(running["status"]["containerStatuses"][0]["restartCount"], 0);
  EXPECT_EQ(Json(strategy_->cells(running, test_now)),
            json(R"(["p","1/1","Running","0","0s","<none>","<none>","<none>","<none>"])"));
}

TEST_F(PodKind, WarnsOfWhatIsOutdated) {
  const Json pod = json(R"({"metadata":{"annotations":{
      "seccomp.security.alpha.kubernetes.io/pod":"runtime/default"}},
    "spec":{"nodeSelector":{"beta.kubernetes.io/os":"linux"},"containers":[{"name":"c",
      "env":[{"name":"A"},{"name":"A"}]}]}})");
  EXPECT_THAT(
      strategy_->warnings(pod),
      ElementsAre("spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "
                  "\"kubernetes.io/os\" instead",
                  "metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: "
                  "non-functional in v1.27+; use the \"seccompProfile\" field instead",
                  "spec.containers[0].env[1]: hides previous definition of \"A\", which may be "
                  "dropped when using apply"));
}

class Objects final : public AdmissionView {
 public:
  std::map<std::string, Json> by_resource;

  const Json* find(std::string_view resource, std::string_view,
                   std::string_view name) const override {
    const auto found = by_resource.find(std::string(resource));
    return found != by_resource.end() && found->second["metadata"]["name"] == std::string(name)
               ? &found->second
               : nullptr;
  }
  void each(std::string_view resource, std::string_view,
            const std::function<void(const Json&)>& visit) const override {
    const auto found = by_resource.find(std::string(resource));
    if (found != by_resource.end()) visit(found->second);
  }
};

TEST_F(PodKind, AdmissionSetsPriorityAndLimits) {
  Objects objects;
  objects.by_resource["priorityclasses.scheduling.k8s.io"] =
      json(R"({"metadata":{"name":"hi"},"value":1000,"preemptionPolicy":"PreemptLowerPriority"})");
  Json pod = json(R"({"metadata":{"namespace":"n"},"spec":{"priorityClassName":"hi",
    "containers":[{"name":"main"}]}})");
  EXPECT_EQ(admit_create("pods", pod, objects), std::nullopt);
  EXPECT_EQ(pod["spec"]["priority"], 1000);
  Json unknown = json(R"({"metadata":{"namespace":"n"},"spec":{"priorityClassName":"no"}})");
  EXPECT_EQ(admit_create("pods", unknown, objects), "no PriorityClass with name no was found");

  objects.by_resource["limitranges"] = json(R"({"spec":{"limits":[{"type":"Container",
    "default":{"cpu":"1"},"defaultRequest":{"cpu":"500m"},"max":{"cpu":"2"}}]}})");
  Json plain = json(R"({"metadata":{"namespace":"n"},"spec":{"containers":[{"name":"main"}]}})");
  EXPECT_EQ(admit_create("pods", plain, objects), std::nullopt);
  EXPECT_EQ(plain["metadata"]["annotations"]["kubernetes.io/limit-ranger"],
            "LimitRanger plugin set: cpu request for container main; cpu limit for container main");
  Json large = json(R"({"metadata":{"namespace":"n"},"spec":{"containers":[{"name":"main",
    "resources":{"limits":{"cpu":"3"},"requests":{"cpu":"3"}}}]}})");
  EXPECT_EQ(admit_create("pods", large, objects),
            "maximum cpu usage per Container is 2, but limit is 3");

  objects.by_resource["resourcequotas"] = json(R"({"metadata":{"name":"q"},"status":{
    "hard":{"count/configmaps":"1"},"used":{"count/configmaps":"1"}}})");
  Json map = json(R"({"metadata":{"namespace":"n"}})");
  EXPECT_EQ(admit_create("configmaps", map, objects),
            "exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=1, limited: "
            "count/configmaps=1");
}

TEST_F(PodKind, AdmissionAddsWhatTheRuntimeClassSays) {
  Objects objects;
  objects.by_resource["runtimeclasses.node.k8s.io"] = json(R"({"metadata":{"name":"vm"},
    "handler":"vm","overhead":{"podFixed":{"cpu":"250m"}},
    "scheduling":{"nodeSelector":{"vm":"yes"},"tolerations":[{"key":"vm"}]}})");
  const auto pod = [](const std::string& spec) {
    return json((R"({"metadata":{"namespace":"n"},"spec":)" + spec + "}").c_str());
  };
  Json plain = pod(R"({"runtimeClassName":"vm","nodeSelector":{"disk":"ssd"}})");
  EXPECT_EQ(admit_create("pods", plain, objects), std::nullopt);
  EXPECT_EQ(plain["spec"]["overhead"]["cpu"], "250m");
  EXPECT_EQ(plain["spec"]["nodeSelector"], json(R"({"disk":"ssd","vm":"yes"})"));
  EXPECT_EQ(plain["spec"]["tolerations"], json(R"([{"key":"vm"}])"));
  Json other = pod(R"({"runtimeClassName":"vm","overhead":{"cpu":"1"}})");
  EXPECT_EQ(admit_create("pods", other, objects),
            "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
  Json unknown = pod(R"({"runtimeClassName":"no"})");
  EXPECT_EQ(admit_create("pods", unknown, objects), "pod rejected: RuntimeClass \"no\" not found");
  Json without = pod(R"({"overhead":{"cpu":"1"}})");
  EXPECT_EQ(admit_create("pods", without, objects),
            "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
}

}  // namespace
}  // namespace regatta::manifest::builtin
