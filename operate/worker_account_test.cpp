#include "operate/worker_account.h"

#include "lib/api/yaml.h"
#include "lib/base/json_access.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <set>
#include <sstream>

namespace regatta::operate {
namespace {

/// "Role team-a/hub get jobs.batch"
using Rights = std::set<std::string>;

void add_rights(const Json& object, Rights* out) {
  for (const Json& rule : list_or_empty(object, "rules")) {
    for (const Json& verb : list_or_empty(rule, "verbs")) {
      for (const Json& resource : list_or_empty(rule, "resources")) {
        out->insert(text_at(object, {"kind"}) + " " + text_at(object, {"metadata", "namespace"}) +
                    " " + verb.get<std::string>() + " " + resource.get<std::string>() + "." +
                    rule["apiGroups"][0].get<std::string>());
      }
    }
  }
}

/// The rights in what the chart regatta-worker renders; charts/tests keeps these files current.
Rights of_chart(const std::string& golden) {
  std::ifstream file("charts/tests/golden/regatta-worker/" + golden + ".yaml");
  std::stringstream text;
  text << file.rdbuf();
  const auto documents = api::parse_yaml_documents(text.str());
  Rights out;
  if (!documents) return out;
  for (const Json& object : *documents) add_rights(object, &out);
  return out;
}

Rights of_command(const WorkerAccount& account) {
  Rights out;
  for (const Wanted& wanted : worker_objects(account)) add_rights(wanted.object, &out);
  return out;
}

TEST(WorkerAccount, has_the_rights_that_the_chart_gives) {
  EXPECT_GT(of_chart("defaults").size(), 10u);
  EXPECT_EQ(of_command({}), of_chart("defaults"));
  WorkerAccount limited;
  limited.namespaces = {"team-a", "team-b"};
  EXPECT_EQ(of_command(limited), of_chart("namespaces"));
  WorkerAccount kinds;
  kinds.frameworks = {"batch/job", "jobset.x-k8s.io/jobset", "ray.io/raycluster", "statefulset",
                      "processes.flows.example.com"};
  EXPECT_EQ(of_command(kinds), of_chart("frameworks"));
  WorkerAccount provided;
  provided.provide = true;
  EXPECT_EQ(of_command(provided), of_chart("provide"));
}

TEST(WorkerAccount, knows_the_resource_of_a_framework) {
  const auto sets = resource_of("jobset.x-k8s.io/jobset");
  ASSERT_TRUE(sets);
  EXPECT_EQ(sets->group + " " + sets->plural, "jobset.x-k8s.io jobsets");
  const auto pods = resource_of("pod");
  ASSERT_TRUE(pods);
  EXPECT_EQ(pods->group + " " + pods->plural, " pods");
  const auto sets_of_pods = resource_of("statefulset");
  ASSERT_TRUE(sets_of_pods);
  EXPECT_EQ(sets_of_pods->group + " " + sets_of_pods->plural, "apps statefulsets");
  const auto named = resource_of("policies.flows.example.com");
  ASSERT_TRUE(named);
  EXPECT_EQ(named->group + " " + named->plural, "flows.example.com policies");
  for (const char* wrong : {"job", "", "/job", "batch/", "a/b/c", "jobs.batch", ".a.b", "a.b."}) {
    EXPECT_FALSE(resource_of(wrong)) << wrong;
  }
}

TEST(WorkerAccount, is_asked_for_each_right_that_it_gets) {
  WorkerAccount limited;
  limited.namespaces = {"team-a", "team-b"};
  WorkerAccount kinds;
  kinds.frameworks = {"jobset.x-k8s.io/jobset"};
  WorkerAccount provided;
  provided.provide = true;
  for (const WorkerAccount& account : {WorkerAccount(), limited, kinds, provided}) {
    Rights asked;
    for (const Permission& one : permissions_of(account)) {
      const std::string kind = one.ns.empty() ? "ClusterRole" : "Role";
      const std::string sub = one.subresource.empty() ? "" : "/" + one.subresource;
      asked.insert(kind + " " + one.ns + " " + one.verb + " " + one.resource + sub + "." +
                   one.group);
    }
    EXPECT_EQ(asked, of_command(account));
  }
}

TEST(WorkerAccount, makes_objects_that_can_be_found_again) {
  WorkerAccount account;
  account.name = "hub-east";
  account.namespaces = {"team-a"};
  std::set<std::string> kinds;
  for (const api::ResourceInfo& resource : account_kinds())
    kinds.insert(std::string(resource.kind));
  for (const Wanted& wanted : worker_objects(account)) {
    EXPECT_TRUE(kinds.contains(std::string(wanted.resource.kind))) << wanted.str();
    EXPECT_TRUE(is_ours(wanted.object)) << wanted.str();
    EXPECT_EQ(text_at(wanted.object["metadata"]["labels"], "app.kubernetes.io/instance"),
              "hub-east");
  }
  EXPECT_EQ(selector_of(account),
            "app.kubernetes.io/managed-by=regatta-register-worker,"
            "app.kubernetes.io/instance=hub-east");
}

TEST(WorkerAccount, ties_a_token_to_a_secret_of_its_own) {
  WorkerAccount account;
  account.name = "hub-east";
  const Wanted tie = token_tie(account, "h100");
  EXPECT_EQ(text_at(tie.object["metadata"], "generateName"), "hub-east-token-");
  EXPECT_FALSE(tie.object["metadata"].contains("name"));
  EXPECT_FALSE(tie.object.contains("data"));
  EXPECT_EQ(text_at(tie.object["metadata"]["labels"], "app.kubernetes.io/component"), "h100");
  EXPECT_EQ(ties_of(account, "h100"), selector_of(account) + ",app.kubernetes.io/component=h100");
}

}  // namespace
}  // namespace regatta::operate
