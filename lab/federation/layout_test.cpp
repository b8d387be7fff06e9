#include "lab/federation/layout.h"

#include "lab/federation/examples.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::lab {
namespace {

SandboxState laid_out(LayoutOptions options) {
  options.folder = "/s";
  options.binary = "/bin/regatta-lab";
  options.manager = "/bin/regatta";
  std::uint16_t port = 1000;
  auto state = lay_out(options, [&] { return port++; });
  EXPECT_TRUE(state) << state.error().what();
  return *state;
}

std::string names(const SandboxState& state) {
  std::string out;
  for (const Component& component : state.components) out += component.name + " ";
  return out;
}

TEST(Layout, ManyWorkersAreMadeOfTheThreeExamples) {
  const std::vector<std::string> want = {"a100", "h100", "cpu", "a100-2", "h100-2"};
  EXPECT_EQ(worker_names(5), want);
  const SandboxState state = laid_out({.workers = 4});
  EXPECT_EQ(state.clusters[4].name, "a100-2");
  EXPECT_EQ(state.clusters[4].fleet, "a100");
  EXPECT_TRUE(state.hub().hub);
}

TEST(Layout, TheEmbeddedServerIsOneProcess) {
  EXPECT_EQ(names(laid_out({.workers = 1})),
            "hub-apiserver hub-manager a100-apiserver a100-manager ");
}

TEST(Layout, ARealServerNeedsEtcdAndTheControllersApart) {
  EXPECT_EQ(names(laid_out({.assets = "/k", .workers = 1})),
            "hub-etcd hub-apiserver hub-nodes hub-manager "
            "a100-etcd a100-apiserver a100-nodes a100-manager ");
}

TEST(Layout, RefusesWhatCannotBe) {
  const auto port = [] { return std::uint16_t(1); };
  EXPECT_FALSE(lay_out({.workers = 0}, port));
  EXPECT_FALSE(lay_out({.workers = 21}, port));
  EXPECT_FALSE(lay_out({.dispatcher = "nobody"}, port));
  EXPECT_FALSE(lay_out({.kinds = {"cronjob"}}, port));
}

TEST(Layout, NeedsAPortForEachServer) {
  int left = 0;
  const auto some = [&left]() -> std::uint16_t { return left-- > 0 ? 1000 : 0; };
  const auto errors_with = [&](int ports, const std::string& assets) {
    left = ports;
    const auto state = lay_out({.folder = "/s", .assets = assets, .workers = 1}, some);
    return state ? "" : state.error().what();
  };
  const std::string none = "no port of 127.0.0.1 is free";
  EXPECT_EQ(errors_with(6, ""), "");
  EXPECT_EQ(errors_with(5, ""), none);
  EXPECT_EQ(errors_with(10, "/assets"), "");
  EXPECT_EQ(errors_with(9, "/assets"), none);
}

TEST(Layout, TheStateFileKeepsEverything) {
  SandboxState state = laid_out({.assets = "/k", .workers = 3, .kinds = {"job", "jobset"}});
  state.components[2].process = {42, 4711};
  const auto again = state_from_json(to_json(state));
  ASSERT_TRUE(again) << again.error().what();
  EXPECT_EQ(dump_json(to_json(*again)), dump_json(to_json(state)));
  EXPECT_EQ(again->components[2].process, (ProcessId{42, 4711}));
  Json other = to_json(state);
  other["version"] = 99;
  EXPECT_FALSE(state_from_json(other));
  other.erase("version");
  EXPECT_FALSE(state_from_json(other));
}

Json find(const std::vector<Json>& objects, const std::string& kind) {
  for (const Json& object : objects) {
    if (object.at("kind") == kind) return object;
  }
  return nullptr;
}

TEST(Layout, TheHubsQuotaIsTheSumOfTheWorkers) {
  std::vector<std::vector<Json>> workers;
  for (const char* name : {"a100", "h100", "cpu", "a100"}) {
    auto objects =
        manifest::objects_below(lab::examples(), "examples/workers/" + std::string(name) + ".yaml");
    ASSERT_TRUE(objects);
    workers.push_back(*objects);
  }
  auto examples = manifest::objects_below(lab::examples(), "examples/hub/");
  ASSERT_TRUE(examples);
  const auto hub = hub_objects(*examples, worker_names(4), workers);
  ASSERT_TRUE(hub) << hub.error().what();
  const Json queue = find(*hub, "ClusterQueue");
  // cpu 96+80+64+96, memory 480+400+320+480, accelerators 8+4+0+8
  const Json& resources = queue["spec"]["resourceGroups"][0]["flavors"][0]["resources"];
  EXPECT_EQ(resources[0]["nominalQuota"], "336");
  EXPECT_EQ(resources[1]["nominalQuota"], "1680Gi");
  EXPECT_EQ(resources[2]["nominalQuota"], "20");
  EXPECT_EQ(find(*hub, "MultiKueueConfig")["spec"]["clusters"],
            Json({"a100", "h100", "cpu", "a100-2"}));
  const auto clusters = std::count_if(hub->begin(), hub->end(), [](const Json& object) {
    return object.at("kind") == "MultiKueueCluster";
  });
  EXPECT_EQ(clusters, 4);
}

TEST(Layout, ForThreeWorkersTheExamplesStayAsTheyAre) {
  std::vector<std::vector<Json>> workers;
  for (const std::string& name : worker_names(3)) {
    workers.push_back(
        *manifest::objects_below(lab::examples(), "examples/workers/" + name + ".yaml"));
  }
  const auto examples = manifest::objects_below(lab::examples(), "examples/hub/queues.yaml");
  const auto hub = hub_objects(*examples, worker_names(3), workers);
  const Json given = find(*examples, "ClusterQueue");
  const Json& resources = given["spec"]["resourceGroups"][0]["flavors"][0]["resources"];
  EXPECT_EQ(resources[0]["nominalQuota"], 240);
  EXPECT_EQ(resources[1]["nominalQuota"], "1200Gi");
  const Json made = find(*hub, "ClusterQueue");
  const Json& sums = made["spec"]["resourceGroups"][0]["flavors"][0]["resources"];
  EXPECT_EQ(sums[0]["nominalQuota"], "240");
  EXPECT_EQ(sums[1]["nominalQuota"], "1200Gi");
  EXPECT_EQ(sums[2]["nominalQuota"], "12");
}

}  // namespace
}  // namespace regatta::lab
