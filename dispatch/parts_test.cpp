#include "dispatch/parts.h"

#include "jobs/integrations/integrations.h"
#include "jobs/pod/kind.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::dispatch {
namespace {

using jobs::JobPtr;
using Names = std::vector<std::string>;

constexpr const char* waits = "{}";
constexpr const char* runs =
    R"({"spec": {"schedulingGates": null}, "status": {"phase": "Running"}})";
constexpr const char* ended = R"({"status": {"phase": "Succeeded"}})";
constexpr const char* going = R"({"metadata": {"deletionTimestamp": "2026-01-01T10:00:00Z"}})";
constexpr const char* made_for_another =
    R"({"metadata": {"annotations": {"made-for": "another"}}})";

constexpr const char* ended_for_another =
    R"({"metadata": {"annotations": {"made-for": "another"}}, "status": {"phase": "Failed"}})";
constexpr const char* going_for_another =
    R"({"metadata": {"annotations": {"made-for": "another"},
                     "deletionTimestamp": "2026-01-01T10:00:00Z"}})";

/// A pod of the group "g" of three, with the uid of its name.
JobPtr pod(const std::string& name, const char* more) {
  Json json = Json::parse(R"({"metadata": {"namespace": "team", "generation": 2,
      "annotations": {"kueue.x-k8s.io/pod-group-total-count": "3", "kueue.x-k8s.io/role-hash": "r"},
      "labels": {"kueue.x-k8s.io/managed": "true", "kueue.x-k8s.io/pod-group-name": "g"}},
    "spec": {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}],
             "containers": [{"name": "c", "image": "i"}]}})");
  json["metadata"]["name"] = name;
  json["metadata"]["uid"] = name;
  json.merge_patch(Json::parse(more));
  return jobs::pod_kind()->decode(json, nullptr).value();
}

struct Described {
  const char* name;
  const char* state = waits;
};

JobPtr group(const std::vector<Described>& pods) {
  if (pods.empty()) return nullptr;
  std::vector<JobPtr> members;
  for (const Described& one : pods) members.push_back(pod(one.name, one.state));
  return jobs::pod_group_kind()->compose(api::ObjectKey("team", "g"), members);
}

api::Workload workload_of(std::int32_t places) {
  api::Workload workload;
  workload.spec.pod_sets.emplace_back();
  workload.spec.pod_sets[0].name = "r";
  workload.spec.pod_sets[0].count = places;
  return workload;
}

Names names(const std::vector<JobPtr>& jobs) {
  Names out;
  for (const JobPtr& one : jobs) out.push_back(one->metadata().name);
  return out;
}

Names to_create(const JobPtr& local, const JobPtr& remote, std::int32_t places = 3) {
  return names(parts_to_create(local, remote, workload_of(places)));
}

bool is_of_another(const jobs::GenericJob& theirs, const jobs::GenericJob&) {
  return theirs.metadata().annotation("made-for") == "another";
}

Names to_remove(const JobPtr& local, const JobPtr& remote) {
  return names(parts_to_remove(local, remote, is_of_another));
}

TEST(Parts, AreTheMembersOfBothByName) {
  Names found;
  for (const JobPart& part : parts_of(group({{"a"}, {"c"}}), group({{"b"}, {"c"}}))) {
    found.push_back((part.local ? part.local->metadata().name : "-") + "/" +
                    (part.remote ? part.remote->metadata().name : "-"));
  }
  EXPECT_EQ(found, (Names{"a/-", "c/c", "-/b"}));
  EXPECT_EQ(parts_of(nullptr, nullptr).size(), 0U);
  EXPECT_EQ(parts_of(nullptr, group({{"b"}})).size(), 1U);
}

TEST(Parts, WhatTheWorkerLacksIsCreated) {
  EXPECT_EQ(to_create(group({{"a"}, {"b"}, {"c"}}), nullptr), (Names{"a", "b", "c"}));
  EXPECT_EQ(to_create(group({{"a"}, {"b"}, {"c"}}), group({{"b"}})), (Names{"a", "c"}));
  EXPECT_EQ(to_create(group({{"a"}, {"b", ended}, {"c", going}}), nullptr), (Names{"a"}));
  EXPECT_EQ(to_create(group({{"a"}, {"b"}, {"c"}}), nullptr, 2).size(), 2U)
      << "no place for the third";
  EXPECT_EQ(to_create(group({{"a"}}), group({{"a", made_for_another}})), Names{})
      << "its name is taken until that one has gone";
  EXPECT_EQ(to_create(pod("p", waits), nullptr, 1), (Names{"p"}));
  EXPECT_EQ(to_create(pod("p", waits), pod("p", runs), 1), Names{});
}

TEST(Parts, WhatTheHubNoLongerHasIsRemoved) {
  EXPECT_EQ(to_remove(group({{"a"}}), group({{"a"}, {"b"}})), (Names{"b"}));
  EXPECT_EQ(to_remove(group({{"a"}, {"b", going}}), group({{"a"}, {"b", runs}})), (Names{"b"}));
  EXPECT_EQ(to_remove(group({{"a"}}), group({{"a"}, {"b", ended}, {"c", going}})), Names{});
  EXPECT_EQ(to_remove(group({{"a"}}), group({{"a", made_for_another}})), (Names{"a"}));
  EXPECT_EQ(to_remove(group({{"a"}}), group({{"a", ended_for_another}})), (Names{"a"}))
      << "the name is needed";
  EXPECT_EQ(to_remove(group({{"a", going}}), group({{"a", ended_for_another}})), Names{});
  EXPECT_EQ(to_remove(group({{"a"}}), group({{"a", going_for_another}})), Names{});
  EXPECT_EQ(to_remove(nullptr, group({{"a"}})), Names{}) << "the hub's job is not known";
  EXPECT_EQ(to_remove(pod("p", going), pod("p", runs)), Names{}) << "it goes with its Workload";
}

TEST(Parts, WhatANamesakeTellsIsNoNews) {
  const JobPtr local = group({{"a"}, {"b", runs}});
  const JobPtr remote = group({{"a", ended_for_another}, {"b", runs}});
  const std::vector<JobPtr> namesakes = namesakes_in(local, remote, is_of_another);
  EXPECT_EQ(names(namesakes), (Names{"a"}));
  EXPECT_TRUE(has_news(local, remote));
  EXPECT_FALSE(has_news(local, remote, namesakes));
  EXPECT_TRUE(has_news(group({{"a"}, {"b"}}), remote, namesakes));
  EXPECT_EQ(namesakes_in(group({{"b"}}), remote, is_of_another).size(), 0U);
  EXPECT_EQ(namesakes_in(pod("p", waits), pod("p", ended_for_another), is_of_another).size(), 0U)
      << "it goes with its Workload";
}

TEST(Parts, NewsOfOneAreNewsOfAll) {
  EXPECT_FALSE(has_news(group({{"a"}, {"b"}}), group({{"a"}, {"b"}})));
  EXPECT_TRUE(has_news(group({{"a"}, {"b"}}), group({{"a"}, {"b", runs}})));
  EXPECT_FALSE(has_news(group({{"a"}, {"b", runs}}), group({{"a"}, {"b", runs}})));
  EXPECT_FALSE(has_news(group({{"a"}}), group({{"a"}, {"b", runs}}))) << "nothing to tell it to";
  EXPECT_FALSE(has_news(group({{"a", ended}, {"b"}}), group({{"a", runs}, {"b"}})))
      << "an end that is told stays";
  EXPECT_FALSE(has_news(nullptr, group({{"a", runs}})));
  EXPECT_TRUE(has_news(pod("p", waits), pod("p", runs)));
}

TEST(Parts, AJobThatEndedOnTheHubStaysEnded) {
  const auto ray = [](const char* status) {
    const Json object = {{"apiVersion", "ray.io/v1"},
                         {"kind", "RayJob"},
                         {"metadata", {{"name", "j"}, {"namespace", "ns"}, {"uid", "u"}}},
                         {"spec", {{"suspend", false}, {"rayClusterSpec", Json::object()}}},
                         {"status", Json::parse(status)}};
    return jobs::all_kinds().find("ray.io", "RayJob")->decode(object, nullptr).value();
  };
  const char* ended = R"({"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED"})";
  const char* suspended = R"({"jobDeploymentStatus": "Suspended"})";
  EXPECT_FALSE(has_news(ray(ended), ray(suspended)));
  EXPECT_TRUE(has_news(ray(suspended), ray(ended)));
}

TEST(Parts, AGroupHasEndedWhenNothingOfItGoesOn) {
  EXPECT_FALSE(has_ended(*group({{"a", ended}, {"b"}})));
  EXPECT_TRUE(has_ended(*group({{"a", ended}, {"b", ended}}))) << "the third was collected";
  EXPECT_TRUE(has_ended(*pod("p", ended)));
  EXPECT_FALSE(has_ended(*pod("p", runs)));
}

TEST(Parts, AGroupStopsWhenSomeOfItGoAndIsGoneWhenAllDo) {
  EXPECT_FALSE(told_to_stop(*group({{"a", runs}, {"b", ended}})));
  EXPECT_TRUE(told_to_stop(*group({{"a", runs}, {"b", going}})));
  EXPECT_FALSE(is_deleting(*group({{"a", runs}, {"b", going}})));
  EXPECT_TRUE(is_deleting(*group({{"a", going}, {"b", going}})));
  EXPECT_TRUE(told_to_stop(*pod("p", waits))) << "an object that was started before";
}

TEST(Parts, AJobRestsWhenNoneOfItsPodsRunsOrIsGoing) {
  EXPECT_TRUE(rests(*pod("p", waits)));
  EXPECT_FALSE(rests(*pod("p", runs)));
  EXPECT_TRUE(rests(*group({{"a", waits}, {"b", ended}})));
  EXPECT_FALSE(rests(*group({{"a", waits}, {"b", runs}})));
  EXPECT_FALSE(rests(*group({{"a", waits}, {"b", going}}))) << "how it ended is not known yet";
  const auto job = [](bool suspend, int generation) {
    return jobs::all_kinds()
        .find("batch", "Job")
        ->decode({{"metadata", {{"name", "j"}, {"generation", generation}}},
                  {"spec", {{"suspend", suspend}}}},
                 nullptr)
        .value();
  };
  EXPECT_TRUE(rests(*job(true, 1))) << "as it was created";
  EXPECT_TRUE(rests(*job(true, 3))) << "stopped";
  EXPECT_FALSE(rests(*job(false, 2)));
}

TEST(Parts, WhatServesIsNeverToldToStop) {
  const jobs::JobKinds kinds = jobs::all_kinds();
  const Json changed = Json::parse(R"({"metadata": {"name": "s", "generation": 3}})");
  for (const char* group : {"apps", "leaderworkerset.x-k8s.io"}) {
    const char* kind = group == std::string("apps") ? "StatefulSet" : "LeaderWorkerSet";
    const jobs::JobPtr serving = kinds.find(group, kind)->decode(changed, nullptr).value();
    EXPECT_FALSE(told_to_stop(*serving)) << kind;
    EXPECT_FALSE(rests(*serving)) << kind;
  }
}

TEST(NewsOf, AJobThatHasEndedOnTheHubHasNoOtherEnd) {
  constexpr const char* failed = R"({"status": {"phase": "Failed"}})";
  const auto has_news_of = [](const char* local, const char* remote) {
    return !news_of(*pod("a", local), *pod("a", remote)).empty();
  };
  EXPECT_TRUE(has_news_of(waits, runs));
  EXPECT_TRUE(has_news_of(runs, ended));
  EXPECT_TRUE(has_news_of(runs, failed));
  EXPECT_FALSE(has_news_of(ended, runs)) << "the worker's server may have lost the end";
  EXPECT_FALSE(has_news_of(ended, failed)) << "a worker says so that cannot be trusted";
  EXPECT_FALSE(has_news_of(failed, ended));
}

}  // namespace
}  // namespace regatta::dispatch
