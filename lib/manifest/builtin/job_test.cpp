#include "lib/manifest/builtin/strategies.h"
#include "lib/manifest/builtin/testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regatta::manifest::builtin {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class JobKind : public testing::Test {
 protected:
  Json make(const char* spec_patch = "{}") {
    Json job = json(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{
      "template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"img:1"}]}},
      "suspend":true,"managedBy":"kueue.x-k8s.io/multikueue"}})");
    job["spec"].merge_patch(json(spec_patch));
    return created(*strategy_, std::move(job));
  }
  FieldErrors update(const Json& old, const char* patch) {
    return strategy_->validate_update(patched(*strategy_, old, patch), old);
  }
  FieldErrors status(const Json& old, const char* patch) {
    return strategy_->validate_status_update(status_patched(*strategy_, old, patch), old);
  }
  Json with_status(const Json& old, const char* patch) {
    EXPECT_THAT(texts(status(old, patch)), IsEmpty()) << patch;
    return status_patched(*strategy_, old, patch);
  }

  StrategyPtr strategy_ = job_strategy();
};

TEST_F(JobKind, ANewOneGetsDefaultsAndASelectorMadeOfItsUid) {
  const Json job = make();
  EXPECT_THAT(texts(strategy_->validate_create(job)), IsEmpty());
  EXPECT_EQ(job["metadata"]["generation"], 1);
  EXPECT_EQ(job["metadata"]["labels"], json(R"({"batch.kubernetes.io/controller-uid":"u-1",
    "batch.kubernetes.io/job-name":"j","controller-uid":"u-1","job-name":"j"})"));
  EXPECT_EQ(job["spec"]["template"]["metadata"]["labels"], job["metadata"]["labels"]);
  EXPECT_EQ(job["status"], Json::object());
  Json spec = job["spec"];
  spec.erase("template");
  EXPECT_EQ(spec, json(R"({"parallelism":1,"completions":1,"backoffLimit":6,
    "selector":{"matchLabels":{"batch.kubernetes.io/controller-uid":"u-1"}},
    "manualSelector":false,"completionMode":"NonIndexed","suspend":true,
    "podReplacementPolicy":"TerminatingOrFailed","managedBy":"kueue.x-k8s.io/multikueue"})"));
  EXPECT_EQ(job["spec"]["template"]["spec"], json(R"({"containers":[{"name":"main",
    "image":"img:1","resources":{},"terminationMessagePath":"/dev/termination-log",
    "terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}],
    "restartPolicy":"Never","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst",
    "securityContext":{},"schedulerName":"default-scheduler"})"));
}

TEST_F(JobKind, PoliciesAreChecked) {
  const struct {
    const char* name;
    const char* spec;
    const char* cause;
  } cases[] = {
      {"limits per index without indexes", R"({"backoffLimitPerIndex":1})",
       "FieldValueInvalid spec.backoffLimitPerIndex"},
      {"more failed indexes than there are",
       R"({"completionMode":"Indexed","backoffLimitPerIndex":1,"maxFailedIndexes":2})",
       "FieldValueInvalid spec.maxFailedIndexes"},
      {"an unknown action", R"({"podFailurePolicy":{"rules":[{"action":"Retry",
        "onExitCodes":{"operator":"In","values":[1]}}]}})",
       "FieldValueNotSupported spec.podFailurePolicy.rules[0].action"},
      {"a rule about nothing", R"({"podFailurePolicy":{"rules":[{"action":"Ignore"}]}})",
       "FieldValueInvalid spec.podFailurePolicy.rules[0]"},
      {"success as a failure", R"({"podFailurePolicy":{"rules":[{"action":"Ignore",
        "onExitCodes":{"operator":"In","values":[0]}}]}})",
       "FieldValueInvalid spec.podFailurePolicy.rules[0].onExitCodes.values[0]"},
      {"a container that is not there", R"({"podFailurePolicy":{"rules":[{"action":"Ignore",
        "onExitCodes":{"operator":"In","values":[1],"containerName":"x"}}]}})",
       "FieldValueInvalid spec.podFailurePolicy.rules[0].onExitCodes.containerName"},
      {"success rules without indexes", R"({"successPolicy":{"rules":[{"succeededCount":1}]}})",
       "FieldValueInvalid spec.successPolicy"},
      {"an empty success rule", R"({"completionMode":"Indexed","successPolicy":{"rules":[{}]}})",
       "FieldValueRequired spec.successPolicy.rules[0]"},
      {"an index that is none",
       R"({"completionMode":"Indexed","successPolicy":{"rules":[{"succeededIndexes":"0-5"}]}})",
       "FieldValueInvalid spec.successPolicy.rules[0].succeededIndexes"},
      {"an unknown replacement policy", R"({"podReplacementPolicy":"Never"})",
       "FieldValueNotSupported spec.podReplacementPolicy"},
  };
  for (const auto& one : cases) {
    EXPECT_THAT(causes(strategy_->validate_create(make(one.spec))), ElementsAre(one.cause))
        << one.name;
  }
}

TEST_F(JobKind, LabelsOfItsOwnAreNotMixedWithThoseOfTheTemplate) {
  Json job = json(R"({"metadata":{"name":"j","labels":{"app":"x"}},"spec":{}})");
  job = created(*strategy_, std::move(job));
  EXPECT_EQ(job["metadata"]["labels"], json(R"({"app":"x"})"));
  EXPECT_EQ(job["spec"]["template"]["metadata"]["labels"].size(), 4U);
}

TEST_F(JobKind, CausesOfABadSpecComeInTheServersOrder) {
  EXPECT_THAT(causes(strategy_->validate_create(make(R"({"template":null})"))),
              ElementsAre("FieldValueRequired spec.template.spec.containers",
                          "FieldValueRequired spec.template.spec.restartPolicy"));
  EXPECT_THAT(
      texts(strategy_->validate_create(make(R"({"parallelism":-1,"template":{"spec":{
        "restartPolicy":"Always","containers":[{"name":"main","image":""}]}}})"))),
      ElementsAre("spec.parallelism: Invalid value: -1: must be greater than or equal to 0",
                  "spec.template.spec.containers[0].image: Required value",
                  "spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", "
                  "\"Never\""));
  EXPECT_THAT(
      texts(strategy_->validate_create(make(R"({"completionMode":"Sometimes","backoffLimit":-1,
        "activeDeadlineSeconds":-1,"ttlSecondsAfterFinished":-1})"))),
      ElementsAre(
          "spec.activeDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0",
          "spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0",
          "spec.ttlSecondsAfterFinished: Invalid value: -1: must be greater than or equal to 0",
          "spec.completionMode: Unsupported value: \"Sometimes\": supported values: "
          "\"NonIndexed\", \"Indexed\""));
  EXPECT_THAT(texts(strategy_->validate_create(make(R"({"managedBy":"nodomain"})"))),
              ElementsAre("spec.managedBy: Invalid value: \"nodomain\": must be a domain-prefixed "
                          "path (such as \"acme.io/foo\")"));
}

TEST_F(JobKind, SelectorsOfOnesOwnNeedManualSelector) {
  EXPECT_THAT(causes(strategy_->validate_create(make(R"({"selector":{"matchLabels":{"a":"b"}}})"))),
              ElementsAre("FieldValueInvalid spec.selector",
                          "FieldValueInvalid spec.template.metadata.labels"));
  EXPECT_THAT(texts(strategy_->validate_create(
                  make(R"({"manualSelector":true,"selector":{"matchLabels":{"a":"b"}}})"))),
              ElementsAre("spec.template.metadata.labels: Invalid value: null: `selector` does "
                          "not match template `labels`"));
  EXPECT_THAT(
      causes(strategy_->validate_create(make(
          R"({"template":{"metadata":{"labels":{"batch.kubernetes.io/controller-uid":"x"}}}})"))),
      ElementsAre(
          "FieldValueInvalid spec.template.metadata.labels[batch.kubernetes.io/controller-uid]",
          "FieldValueInvalid spec.template.metadata.labels"));
}

TEST_F(JobKind, WhatMayChangeBumpsTheGenerationAndWhatMayNotIsNamed) {
  const Json job = make();
  EXPECT_EQ(patched(*strategy_, job, R"({"spec":{"parallelism":2}})")["metadata"]["generation"], 2);
  EXPECT_EQ(patched(*strategy_, job, R"({"status":{"active":5}})"), job);
  EXPECT_THAT(causes(update(job, R"({"spec":{"selector":{"matchLabels":{"a":"b"}}}})")),
              ElementsAre("FieldValueInvalid spec.selector",
                          "FieldValueInvalid spec.template.metadata.labels",
                          "FieldValueInvalid spec.template.metadata.labels",
                          "FieldValueInvalid spec.selector"));
  EXPECT_THAT(texts(update(job, R"({"spec":{"managedBy":null}})")),
              ElementsAre("spec.managedBy: Invalid value: null: field is immutable"));
  EXPECT_THAT(texts(update(job, R"({"spec":{"completions":5}})")),
              ElementsAre("spec.completions: Invalid value: 5: field is immutable"));
}

TEST_F(JobKind, TheTemplateIsOpenWhileSuspendedAndNeverStarted) {
  const char* steer = R"({"spec":{"template":{"metadata":{"labels":{"q":"1"}},
    "spec":{"nodeSelector":{"zone":"a"},"schedulingGates":[{"name":"example.dev/g"}]}}}})";
  const char* resize = R"({"spec":{"template":{"spec":{"containers":[{"name":"main",
    "image":"img:1","resources":{"requests":{"cpu":"2"}}}]}}}})";
  const Json job = make();
  EXPECT_THAT(texts(update(job, steer)), IsEmpty());
  EXPECT_THAT(texts(update(job, resize)), IsEmpty());
  EXPECT_THAT(causes(update(job, R"({"spec":{"template":{"spec":{"priorityClassName":"x"}}}})")),
              ElementsAre("FieldValueInvalid spec.template.spec"));
  const Json started = with_status(job, R"({"status":{"startTime":"2026-01-01T00:00:00Z"}})");
  EXPECT_THAT(causes(update(started, steer)), ElementsAre("FieldValueInvalid spec.template"));
  const Json busy = with_status(job, R"({"status":{"active":1}})");
  EXPECT_THAT(causes(update(busy, steer)), ElementsAre("FieldValueInvalid spec.template"));
  const Json running = patched(*strategy_, job, R"({"spec":{"suspend":false}})");
  EXPECT_THAT(causes(update(running, steer)), ElementsAre("FieldValueInvalid spec.template"));
}

TEST_F(JobKind, IndexedCompletionsMoveWithParallelism) {
  const Json job = make(R"({"completionMode":"Indexed","completions":3,"parallelism":3})");
  EXPECT_THAT(texts(update(job, R"({"spec":{"completions":5,"parallelism":5}})")), IsEmpty());
  EXPECT_THAT(texts(update(job, R"({"spec":{"completions":4}})")),
              ElementsAre("spec.completions: Invalid value: 4: can only be modified in tandem "
                          "with spec.parallelism"));
  EXPECT_THAT(texts(status(job, R"({"status":{"completedIndexes":"2-1"}})")),
              ElementsAre("status.completedIndexes: Invalid value: \"2-1\": error parsing "
                          "completedIndexes: non-increasing order, previous: 2, current: 1"));
}

TEST_F(JobKind, StatusGoesFromStartToCompleteInOrder) {
  Json job = patched(*strategy_, make(), R"({"spec":{"suspend":false}})");
  job = with_status(job, R"({"status":{"startTime":"2026-01-01T00:00:00Z","active":1}})");
  EXPECT_THAT(texts(status(job, R"({"status":{"startTime":"2026-01-01T00:00:09Z"}})")),
              ElementsAre("status.startTime: Invalid value: \"2026-01-01T00:00:09Z\": field is "
                          "immutable for unsuspended job once set"));
  EXPECT_THAT(
      causes(status(job, R"({"status":{"conditions":[
      {"type":"Complete","status":"True"}]}})")),
      ElementsAre("FieldValueRequired status.completionTime", "FieldValueInvalid status.conditions",
                  "FieldValueInvalid status.active"));
  job = with_status(job, R"({"status":{"failed":2}})");
  EXPECT_THAT(texts(status(job, R"({"status":{"failed":1}})")),
              ElementsAre("status.failed: Invalid value: 1: cannot decrease the failed counter"));
  EXPECT_THAT(causes(status(job, R"({"status":{"completionTime":"2025-01-01T00:00:00Z",
      "active":0,"conditions":[{"type":"SuccessCriteriaMet","status":"True"},
      {"type":"Complete","status":"True"}]}})")),
              ElementsAre("FieldValueInvalid status.completionTime"));
  job = with_status(job, R"({"status":{"completionTime":"2026-01-01T00:02:00Z","active":0,
      "succeeded":1,"conditions":[{"type":"SuccessCriteriaMet","status":"True"},
      {"type":"Complete","status":"True"}]}})");
  EXPECT_FALSE(job["status"].contains("active"));
  EXPECT_THAT(texts(status(job, R"({"status":{"conditions":[]}})")),
              ElementsAre("status.completionTime: Invalid value: \"2026-01-01T00:02:00Z\": cannot "
                          "set completionTime when there is no Complete=True condition",
                          "status.conditions: Invalid value: cannot disable the terminal "
                          "Complete=True condition",
                          "status.conditions: Invalid value: cannot disable the "
                          "SuccessCriteriaMet=True condition"));
}

TEST_F(JobKind, FailedNeedsFailureTarget) {
  const char* bare = R"({"status":{"startTime":"2026-01-01T00:00:00Z","failed":1,"conditions":[
    {"type":"Failed","status":"True"}]}})";
  const char* full = R"({"status":{"startTime":"2026-01-01T00:00:00Z","failed":1,"conditions":[
    {"type":"FailureTarget","status":"True"},{"type":"Failed","status":"True"}]}})";
  EXPECT_THAT(texts(status(make(), bare)),
              ElementsAre("status.conditions: Invalid value: cannot set Failed=True condition "
                          "without the FailureTarget=true condition"));
  EXPECT_THAT(texts(status(make(), full)), IsEmpty());
}

TEST_F(JobKind, TheTableShowsWhatKubectlShows) {
  Json job = with_status(make(), R"({"status":{"startTime":"2025-12-31T23:59:00Z"}})");
  EXPECT_EQ(Json(strategy_->cells(job, test_now)),
            json(R"(["j","Running","0/1","60s","0s","main","img:1",
              "batch.kubernetes.io/controller-uid=u-1"])"));
  EXPECT_EQ(strategy_->selectable_fields(job).front(),
            std::make_pair(std::string("status.successful"), std::string("0")));
}

}  // namespace
}  // namespace regatta::manifest::builtin
