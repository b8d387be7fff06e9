#include "admission/cycle.h"
#include "admission/pod_defaults.h"
#include "lib/api/codec.h"
#include "lib/api/yaml.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::admission {
namespace {

template <class T>
T read(const std::string& yaml) {
  const Result<T> object = api::from_json<T>(*api::parse_yaml(yaml));
  EXPECT_TRUE(object) << object.error().what();
  return object ? *object : T();
}

/// A workload of two pods with this spec.
api::Workload workload(const std::string& pod_spec, const std::string& name = "w") {
  return read<api::Workload>("{metadata: {name: " + name + ", namespace: dev, uid: u-" + name +
                             "}, spec: {queueName: q, podSets: [{name: main, count: 2, template: "
                             "{spec: " +
                             pod_spec + "}}]}}");
}

class Requests : public ::testing::Test {
 protected:
  /// The requests of all pods: "cpu=2 memory=4Gi".
  std::string of(const api::Workload& object) {
    State state(config_);
    for (const std::string& range : limit_ranges_) state.upsert(read<api::LimitRange>(range));
    for (const std::string& yaml : classes_) state.upsert(read<api::RuntimeClass>(yaml));
    state.upsert(object, TimePoint{});
    std::string text;
    const auto requests = state.reader().resource_requests(object.metadata.key());
    for (const auto& [name, quantity] : requests.front().resources) {
      text += (text.empty() ? "" : " ") + name + "=" + quantity.str();
    }
    return text;
  }
  std::string of(const std::string& pod_spec) { return of(workload(pod_spec)); }
  void rule(const std::string& input, bool retain, std::map<std::string, std::string> outputs,
            const std::string& multiply_by = "") {
    ResourceTransformation& rule = config_.transformations[input];
    rule.retain = retain;
    rule.multiply_by = multiply_by;
    for (const auto& [name, factor] : outputs) rule.outputs[name] = *api::Quantity::parse(factor);
  }
  void limit_range(const std::string& name, const std::string& limits,
                   const std::string& ns = "dev") {
    limit_ranges_.push_back("{metadata: {name: " + name + ", namespace: " + ns +
                            "}, spec: {limits: [" + limits + "]}}");
  }

  Config config_;
  std::vector<std::string> limit_ranges_;
  std::vector<std::string> classes_;
};

constexpr const char* one_cpu = "{containers: [{name: c, resources: {requests: {cpu: 1}}}]}";

TEST_F(Requests, LimitsCountWhereNoRequestIsGiven) {
  EXPECT_EQ(of("{containers: [{name: c, resources: {requests: {cpu: 1}, "
               "limits: {cpu: 2, memory: 1Gi}}}]}"),
            "cpu=2 memory=2Gi");
  EXPECT_EQ(of("{resources: {limits: {cpu: 3}}, containers: [{name: c}]}"), "cpu=6");
}

TEST_F(Requests, InitContainersAndSidecarsCountAsTheyRun) {
  EXPECT_EQ(of("{initContainers: [{name: s, restartPolicy: Always, resources: {requests: {cpu: 1}}}"
               ", {name: i, resources: {requests: {cpu: 5}}}],"
               "containers: [{name: c, resources: {requests: {cpu: 2}}}]}"),
            "cpu=12");
}

TEST_F(Requests, PodLevelRequestsWinAndOverheadComesOnTop) {
  EXPECT_EQ(of("{resources: {requests: {cpu: 5}}, overhead: {cpu: 250m},"
               "containers: [{name: c, resources: {requests: {cpu: 1, memory: 1}}}]}"),
            "cpu=10500m memory=2");
}

TEST_F(Requests, NegativeOnesCountAsNothing) {
  EXPECT_EQ(of("{containers: [{name: c, resources: {requests: {cpu: -1, memory: 1}}}]}"),
            "cpu=0 memory=2");
}

TEST_F(Requests, ExcludedPrefixesAreLeftOut) {
  config_.exclude_resource_prefixes = {"example.com/", "mem"};
  EXPECT_EQ(of("{containers: [{name: c, resources: {requests: "
               "{cpu: 1, memory: 1, example.com/nic: 1, other.com/x: 1}}}]}"),
            "cpu=2 other.com/x=2");
}

TEST_F(Requests, ARuntimeClassAddsItsOverheadUnlessThePodStatesOne) {
  classes_ = {"{metadata: {name: vm}, handler: vm, overhead: {podFixed: {cpu: 500m}}}"};
  const std::string containers = "containers: [{name: c, resources: {requests: {cpu: 1}}}]}";
  EXPECT_EQ(of("{runtimeClassName: vm, " + containers), "cpu=3");
  EXPECT_EQ(of("{runtimeClassName: vm, overhead: {cpu: 1}, " + containers), "cpu=4");
  EXPECT_EQ(of("{runtimeClassName: unknown, " + containers), "cpu=2");
}

TEST_F(Requests, LimitRangesOfItsNamespaceGiveDefaultsTheFirstByNameWins) {
  limit_range("b", "{type: Container, defaultRequest: {cpu: 9}, default: {memory: 1Gi}}");
  limit_range("a", "{type: Container, defaultRequest: {cpu: 3}}");
  limit_range("c", "{type: Container, defaultRequest: {gpu: 3}}", "elsewhere");
  EXPECT_EQ(of("{containers: [{name: c}]}"), "cpu=6 memory=2Gi");
  EXPECT_EQ(of(one_cpu), "cpu=2 memory=2Gi");
}

TEST_F(Requests, DefaultsForPodsCountForPodLevelResourcesOnly) {
  limit_range("a", "{type: Pod, defaultRequest: {cpu: 3}}");
  EXPECT_EQ(of("{resources: {requests: {memory: 1}}, containers: [{name: c}]}"), "cpu=6 memory=2");
  EXPECT_EQ(of("{containers: [{name: c}]}"), "");
}

TEST_F(Requests, ARetainedInputCountsBesidesItsOutputs) {
  rule("example.com/mig-1g", true, {{"example.com/memory", "5Gi"}, {"example.com/credits", "10"}});
  EXPECT_EQ(of("{containers: [{name: c, resources: {requests: {cpu: 1, example.com/mig-1g: 2}}}]}"),
            "cpu=2 example.com/credits=40 example.com/memory=21474836480 example.com/mig-1g=4");
}

TEST_F(Requests, AReplacedInputCountsAsItsOutputsOnTopOfWhatIsRequested) {
  rule("example.com/a", false, {{"example.com/gpu", "500m"}});
  rule("example.com/b", false, {{"example.com/gpu", "2"}});
  EXPECT_EQ(of("{containers: [{name: c, resources: {requests: "
               "{example.com/a: 3, example.com/b: 1, example.com/gpu: 1}}}]}"),
            "example.com/gpu=10")
      << "4.5 rounds up, for each pod";
}

TEST_F(Requests, AMultiplierScalesOutputsNotTheInput) {
  rule("example.com/gpu", true, {{"example.com/total", "1"}}, "example.com/share");
  EXPECT_EQ(of("{containers: [{name: c, resources: {requests: "
               "{example.com/gpu: 3, example.com/share: 4}}}]}"),
            "example.com/gpu=6 example.com/share=8 example.com/total=24");
  EXPECT_EQ(of("{containers: [{name: c, resources: {requests: {example.com/gpu: 3}}}]}"),
            "example.com/gpu=6 example.com/total=6");
}

TEST_F(Requests, AnAllowanceReducesWhatIsGeneratedNeverWhatIsRequested) {
  rule("cpu", true, {{"credits", "10"}});
  rule("memory", true, {{"credits", "-3"}});
  rule("spot", false, {{"cpu", "-1"}});
  EXPECT_EQ(of("{containers: [{name: c, resources: {requests: {cpu: 1, memory: 2, spot: 5}}}]}"),
            "cpu=2 credits=8 memory=4");
}

TEST_F(Requests, AnExcludedInputHasNoOutputs) {
  config_.exclude_resource_prefixes = {"example.com/"};
  rule("example.com/gpu", false, {{"credits", "1"}});
  EXPECT_EQ(of("{containers: [{name: c, resources: {requests: {example.com/gpu: 3}}}]}"), "");
}

class Admissible : public Requests {
 protected:
  std::string problem(const std::string& pod_spec) {
    PodDefaults defaults;
    for (const std::string& range : limit_ranges_) defaults.upsert(read<api::LimitRange>(range));
    ShapeRegistry shapes;
    Names names;
    return shapes.intern(workload(pod_spec), config_, defaults, &names)->invalid;
  }
};

TEST_F(Admissible, RequestsStayWithinTheirLimits) {
  EXPECT_EQ(problem(one_cpu), "");
  EXPECT_EQ(problem("{containers: [{name: c, resources: {requests: {cpu: 2, memory: 2, a/b: 1}, "
                    "limits: {cpu: 1, memory: 1}}}]}"),
            "resources validation failed: spec.podSets[0].template.spec.containers[0]: Invalid "
            "value: [\"cpu\",\"memory\"]: requests must not exceed its limits");
  EXPECT_EQ(problem("{initContainers: [{name: i, resources: {requests: {cpu: 2}, limits: {cpu: 1}}}"
                    "], resources: {requests: {cpu: 2}, limits: {cpu: 1}}}"),
            "resources validation failed: "
            "[spec.podSets[0].template.spec.initContainers[0]: Invalid value: [\"cpu\"]: requests "
            "must not exceed its limits, "
            "spec.podSets[0].template.spec.resources: Invalid value: [\"cpu\"]: requests must not "
            "exceed its limits]");
}

TEST_F(Admissible, DevicesThatAreNotCountedAreRefusedUnlessConfigured) {
  const std::string claiming =
      "{containers: [{name: c, resources: {requests: {cpu: 1}, claims: [{name: gpu}]}}], "
      "resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gpu}]}";
  EXPECT_EQ(problem(claiming),
            "Workload uses DRA resources, and devices of resource claims cannot be counted; with "
            "the feature gate KueueDRARejectWorkloadsWhenDRADisabled off it is admitted all the "
            "same");
  config_.reject_resource_claims = false;
  EXPECT_EQ(problem(claiming), "");
}

TEST_F(Admissible, ADefaultRequestMayBreakAnOwnLimit) {
  limit_range("a", "{type: Container, defaultRequest: {cpu: 3}}");
  EXPECT_EQ(problem("{containers: [{name: c, resources: {limits: {cpu: 1}}}]}"),
            "resources validation failed: spec.podSets[0].template.spec.containers[0]: Invalid "
            "value: [\"cpu\"]: requests must not exceed its limits");
}

TEST_F(Admissible, ContainersAreWithinTheTightestBounds) {
  limit_range("a", "{type: Container, max: {cpu: 4}, min: {cpu: 100m}}");
  limit_range("b", "{type: Container, max: {cpu: 2}, min: {cpu: 500m}}");
  const auto with = [](const char* requests) {
    return "{containers: [{name: c, resources: {requests: {cpu: " + std::string(requests) + "}}}]}";
  };
  EXPECT_EQ(problem(with("2")), "");
  EXPECT_EQ(problem(with("500m")), "");
  EXPECT_EQ(problem(with("3")),
            "resources didn't satisfy LimitRange constraints: "
            "spec.podSets[0].template.spec.containers[0]: Invalid value: [\"cpu\"]: requests must "
            "not be above the limitRange max");
  EXPECT_EQ(problem(with("200m")),
            "resources didn't satisfy LimitRange constraints: "
            "spec.podSets[0].template.spec.containers[0]: Invalid value: [\"cpu\"]: requests must "
            "not be below the limitRange min");
  EXPECT_EQ(problem("{containers: [{name: c}]}"), "") << "nothing is compared with nothing";
}

TEST_F(Admissible, PodsAreWithinTheirBoundsAsAWhole) {
  limit_range("a", "{type: Pod, max: {cpu: 3}}");
  EXPECT_EQ(problem("{containers: [{name: c, resources: {requests: {cpu: 2}}}, "
                    "{name: d, resources: {requests: {cpu: 2}}}]}"),
            "resources didn't satisfy LimitRange constraints: spec.podSets[0].template.spec: "
            "Invalid value: [\"cpu\"]: requests must not be above the limitRange max");
}

TEST(Shapes, AreSharedByAllThatAskForTheSame) {
  ShapeRegistry shapes;
  Names names;
  const Config config;
  PodDefaults defaults;
  const auto intern = [&](const std::string& spec) {
    return shapes.intern(workload(spec), config, defaults, &names);
  };
  const ShapePtr first = intern(one_cpu);
  EXPECT_EQ(intern(one_cpu), first);
  EXPECT_EQ(intern("{containers: [{name: c, resources: {limits: {cpu: 1}}}]}"), first);
  EXPECT_EQ(shapes.size(), 1U);
  defaults.upsert(
      read<api::LimitRange>("{metadata: {name: a, namespace: dev}, spec: {limits: "
                            "[{type: Container, defaultRequest: {memory: 1}}]}}"));
  EXPECT_NE(intern(one_cpu), first);
  defaults.erase_limit_range({"dev", "a"});
  EXPECT_EQ(intern(one_cpu), first);
}

TEST(Shapes, LiveAsLongAsTheirHolders) {
  ShapeRegistry shapes;
  Names names;
  const Config config;
  const PodDefaults defaults;
  const auto intern = [&](int limit) {
    return shapes.intern(workload("{containers: [{name: c, resources: {requests: {cpu: 1}, limits: "
                                  "{cpu: " +
                                  std::to_string(limit) + "}}}]}"),
                         config, defaults, &names);
  };
  ShapePtr held = intern(1);
  const std::uint64_t id = held->id;
  for (int limit = 2; limit < 50; ++limit) EXPECT_EQ(intern(limit), held);
  held.reset();
  EXPECT_EQ(shapes.size(), 0U);
  EXPECT_GT(intern(1)->id, id);
}

/// LocalQueue q of namespace dev leads to 4 CPUs.
class Waiting : public ::testing::Test {
 protected:
  Waiting() {
    state_.upsert(read<api::Namespace>("{metadata: {name: dev}}"));
    state_.upsert(read<api::ResourceFlavor>("{metadata: {name: f}}"));
    state_.upsert(read<api::ClusterQueue>(
                      "{metadata: {name: main}, spec: {namespaceSelector: {}, resourceGroups: "
                      "[{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, "
                      "nominalQuota: 4}]}]}]}}"),
                  now_);
    state_.upsert(
        read<api::LocalQueue>("{metadata: {name: q, namespace: dev}, spec: {clusterQueue: main}}"),
        now_);
  }
  CycleResult cycle() { return run_cycle(state_, now_); }

  State state_;
  TimePoint now_{};
};

TEST_F(Waiting, ADeletedLimitRangeLetsWorkloadsInThatItForbade) {
  const auto range = read<api::LimitRange>(
      "{metadata: {name: a, namespace: dev}, spec: {limits: [{type: Container, max: {cpu: 1}}]}}");
  EXPECT_TRUE(state_.upsert(range).empty());
  const auto large = workload("{containers: [{name: c, resources: {requests: {cpu: 2}}}]}");
  state_.upsert(large, now_);
  const CycleResult refused = cycle();
  ASSERT_EQ(refused.pending.size(), 1U);
  EXPECT_EQ(refused.pending[0].reason, "Misconfigured");
  EXPECT_FALSE(state_.has_heads());
  EXPECT_TRUE(state_.upsert(range).empty()) << "nothing changed";
  const State::Affected affected = state_.erase_limit_range({"dev", "a"});
  EXPECT_EQ(affected, State::Affected({{"dev", "w"}}));
  state_.upsert(large, now_);
  EXPECT_EQ(cycle().admitted.size(), 1U);
}

TEST_F(Waiting, AChangedRuntimeClassConcernsItsWaitingWorkloadsOnly) {
  const std::string spec = "containers: [{name: c, resources: {requests: {cpu: 1}}}]}";
  state_.upsert(workload("{runtimeClassName: vm, " + spec, "a"), now_);
  ASSERT_EQ(cycle().admitted.size(), 1U);
  state_.upsert(workload("{runtimeClassName: vm, " + spec, "b"), now_);
  state_.upsert(workload("{runtimeClassName: other, " + spec, "c"), now_);
  const auto vm = read<api::RuntimeClass>(
      "{metadata: {name: vm}, handler: vm, overhead: {podFixed: {cpu: 1}}}");
  EXPECT_EQ(state_.upsert(vm), State::Affected({{"dev", "b"}}));
  state_.upsert(workload("{runtimeClassName: vm, " + spec, "b"), now_);
  EXPECT_TRUE(cycle().admitted.empty()) << "4 CPUs beside the 2 that are used";
  EXPECT_EQ(state_.erase_runtime_class("vm"), State::Affected({{"dev", "b"}}));
}

/// The workload as it is read back after a cycle's decision was written.
api::Workload with_decision(api::Workload object, const AdmittedWorkload& decision) {
  object.status.admission = decision.admission;
  for (const char* type : {"QuotaReserved", "Admitted"}) {
    api::set_condition(&object.status.conditions,
                       {type, api::ConditionStatus::True, 0, {}, type, ""}, TimePoint{});
  }
  return object;
}

/// An elastic workload of `pods` pods with one CPU each.
api::Workload slice(const std::string& name, int pods, const std::string& replaces = "") {
  api::Workload object = workload(one_cpu, name);
  object.spec.pod_sets.front().count = pods;
  object.metadata.annotations["kueue.x-k8s.io/elastic-job"] = "true";
  if (!replaces.empty()) {
    object.metadata.annotations["kueue.x-k8s.io/workload-slice-replacement-for"] = replaces;
  }
  return object;
}

/// A slice of four pods that runs.
class RunningSlice : public Waiting {
 protected:
  RunningSlice() {
    state_.upsert(object_, now_);
    object_ = with_decision(object_, cycle().admitted.at(0));
  }
  /// It is read with so many pods, of which these are reclaimable.
  void read_with(int pods, int reclaimable) {
    object_.spec.pod_sets.front().count = pods;
    object_.status.reclaimable_pods.clear();
    if (reclaimable > 0) object_.status.reclaimable_pods = {{"main", reclaimable}};
    state_.upsert(object_, now_);
  }
  std::string used() {
    return state_.reader().status("main").flavors_usage[0].resources[0].total.str();
  }

  api::Workload object_ = slice("a", 4);
};

TEST_F(Waiting, ASliceThatReplacesAnotherIsChargedForTheDifference) {
  const auto first = slice("a", 3);
  state_.upsert(first, now_);
  const auto admitted = cycle().admitted;
  ASSERT_EQ(admitted.size(), 1U);
  state_.upsert(with_decision(first, admitted[0]), now_);
  state_.upsert(slice("b", 4, "dev/a"), now_);
  const auto grown = cycle().admitted;
  ASSERT_EQ(grown.size(), 1U) << "one more of 4 CPUs";
  EXPECT_EQ(grown[0].replaces, api::ObjectKey("dev", "a"));
  EXPECT_EQ(grown[0].admission.pod_set_assignments[0].resource_usage.at("cpu").str(), "4");
  state_.upsert(with_decision(slice("b", 4, "dev/a"), grown[0]), now_);
  state_.erase_workload({"dev", "a"}, now_);
  EXPECT_EQ(state_.reader().status("main").flavors_usage[0].resources[0].total.str(), "4");
  state_.upsert(slice("c", 5, "dev/b"), now_);
  const auto refused = cycle();
  ASSERT_EQ(refused.pending.size(), 1U);
  EXPECT_EQ(refused.pending[0].message,
            "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor "
            "f, 1 more needed");
}

TEST_F(RunningSlice, ThatHasShrunkHoldsWhatItsJobNeeds) {
  read_with(4, 3);
  EXPECT_EQ(used(), "1");
  read_with(2, 3);
  EXPECT_EQ(used(), "1") << "three of the former four";
  read_with(2, 3);
  EXPECT_EQ(used(), "1");
  read_with(2, 1);
  EXPECT_EQ(used(), "1");
  read_with(2, 0);
  EXPECT_EQ(used(), "2");
}

TEST_F(RunningSlice, ThatHasShrunkKeepsTheQuotaOfItsPodsUntilTheyAreCountedAnew) {
  read_with(4, 1);
  read_with(2, 1);
  EXPECT_EQ(used(), "2");
}

// A manager that has just started does not know of which size the reclaimable pods are.
TEST_F(RunningSlice, ThatHadShrunkBeforeItWasSeenKeepsTheQuotaThatItsPodsMayNeed) {
  state_.erase_workload({"dev", "a"}, now_);
  read_with(3, 2);
  EXPECT_EQ(used(), "2") << "two of the former four";
  state_.upsert(slice("b", 3), now_);
  EXPECT_EQ(cycle().pending.size(), 1U);
  state_.note_recount(object_, now_);
  EXPECT_EQ(used(), "1") << "two of three";
  state_.flush(now_ + std::chrono::minutes(1));
  EXPECT_EQ(cycle().admitted.size(), 1U) << "the other one has its turn";
  state_.upsert(object_, now_);
  EXPECT_EQ(used(), "4");
}

TEST_F(RunningSlice, ThatShrinksWhileItsPodsEndKeepsTheQuotaThatTheOthersMayNeed) {
  read_with(4, 1);
  read_with(3, 2);
  EXPECT_EQ(used(), "2");
}

TEST_F(Waiting, ASliceKeepsTheFlavorsOfTheOneItReplaces) {
  state_.upsert(read<api::ResourceFlavor>("{metadata: {name: g}}"));
  state_.upsert(read<api::ClusterQueue>(
                    "{metadata: {name: main}, spec: {namespaceSelector: {}, resourceGroups: "
                    "[{coveredResources: [cpu], flavors: ["
                    "{name: f, resources: [{name: cpu, nominalQuota: 2}]},"
                    "{name: g, resources: [{name: cpu, nominalQuota: 8}]}]}]}}"),
                now_);
  const auto first = slice("a", 2);
  state_.upsert(first, now_);
  state_.upsert(with_decision(first, cycle().admitted.at(0)), now_);
  state_.upsert(slice("b", 3, "dev/a"), now_);
  const auto refused = cycle();
  ASSERT_EQ(refused.pending.size(), 1U);
  EXPECT_EQ(
      refused.pending[0].message,
      "couldn't assign flavors to pod set main: could not assign g flavor since the original "
      "workload is assigned: f, insufficient unused quota for cpu in flavor f, 1 more needed");
}

TEST_F(Waiting, ASliceDoesNotPreemptTheOneItReplaces) {
  state_.upsert(read<api::ClusterQueue>(
                    "{metadata: {name: main}, spec: {namespaceSelector: {}, preemption: "
                    "{withinClusterQueue: LowerPriority}, resourceGroups: [{coveredResources: "
                    "[cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 6}]}]}]}}"),
                now_);
  const auto take = [&](api::Workload object, std::int32_t priority) {
    object.spec.priority = priority;
    state_.upsert(object, now_);
    state_.upsert(with_decision(object, cycle().admitted.at(0)), now_);
  };
  take(slice("a", 2), 0);
  take(slice("other", 3), 100);
  api::Workload grown = slice("b", 4, "dev/a");
  grown.spec.priority = 50;
  state_.upsert(grown, now_);
  const auto refused = cycle();
  EXPECT_TRUE(refused.preempted.empty()) << "one CPU is free, and two more are needed";
  EXPECT_EQ(refused.pending.size(), 1U);
  grown.spec.priority = 200;
  state_.upsert(grown, now_);
  const auto preempting = cycle();
  ASSERT_EQ(preempting.preempted.size(), 1U);
  EXPECT_EQ(preempting.preempted[0].key.name, "other");
}

TEST_F(Waiting, ASliceWhosePredecessorIsGoneIsChargedInFull) {
  state_.upsert(slice("b", 5, "dev/a"), now_);
  EXPECT_TRUE(cycle().admitted.empty());
  state_.upsert(slice("c", 4, "elsewhere/a"), now_);
  const auto admitted = cycle().admitted;
  ASSERT_EQ(admitted.size(), 1U);
  EXPECT_TRUE(admitted[0].replaces.name.empty());
}

TEST(ResourceProblems, OfVeryManyContainersAreTold) {
  // To compare each problem with all before it would take minutes.
  api::Container one;
  one.resources.requests["cpu"] = api::Quantity(2);
  one.resources.limits["cpu"] = api::Quantity(1);
  api::PodSpec spec;
  spec.containers.resize(100'000, one);
  ResourceProblems problems;
  problems.check(0, spec, nullptr);
  EXPECT_TRUE(problems.str().ends_with(
      "containers[99999]: Invalid value: [\"cpu\"]: requests must not exceed its limits]"));
}

}  // namespace
}  // namespace regatta::admission
