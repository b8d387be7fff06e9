#include "visibility/api.h"

#include "admission/testing/objects.h"
#include "lib/base/json.h"
#include "lib/base/json_access.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::visibility {
namespace {

using admission::testing::Loaded;
using admission::testing::local_queue_yaml;
using admission::testing::queue_yaml;
using admission::testing::workload_yaml;

constexpr const char* root = "/apis/visibility.kueue.x-k8s.io/v1beta2/";
constexpr const char* of_main = "clusterqueues/main/pendingworkloads";

class VisibilityApi : public testing::Test {
 protected:
  Answer ask(const std::string& target, const std::string& method = "GET",
             const std::string& accept = "") {
    const admission::StatusReader reader = loaded_.state.reader();
    const Source source{reader, [&](const api::ObjectKey& key) -> std::optional<WorkloadSeen> {
                          const auto found = loaded_.workloads.find(key);
                          if (found == loaded_.workloads.end()) return std::nullopt;
                          return WorkloadSeen{{std::shared_ptr<void>(), &found->second.metadata},
                                              found->second.spec.priority.value_or(0)};
                        }};
    return answer({method, target, accept}, source);
  }
  Answer ask_main(const std::string& query) { return ask(root + (of_main + query)); }

  /// "name position/positionInLocalQueue priority".
  static std::vector<std::string> items(const Answer& answer) {
    std::vector<std::string> out;
    const auto body = parse_json(answer.body);
    if (!body) return {answer.body};
    for (const Json& item : list_or_empty(*body, "items")) {
      out.push_back(text_at(item, {"metadata", "name"}) + " " +
                    std::to_string(*integer_at(item, "positionInClusterQueue")) + "/" +
                    std::to_string(*integer_at(item, "positionInLocalQueue")) + " " +
                    std::to_string(*integer_at(item, "priority")));
    }
    return out;
  }
  static std::string message(const Answer& answer) {
    const auto body = parse_json(answer.body);
    return body ? text_at(*body, "message") : answer.body;
  }

  Loaded loaded_{queue_yaml("main", 4) + local_queue_yaml("main", "users") +
                 workload_yaml("a", "users", 1) + workload_yaml("b", "users", 1, 7) +
                 workload_yaml("c", "users", 1)};
};

TEST_F(VisibilityApi, PendingWorkloadsOfAClusterQueueComeInOrder) {
  const Answer answer = ask_main("");
  EXPECT_EQ(answer.status, 200u);
  EXPECT_EQ(items(answer), (std::vector<std::string>{"b 0/0 7", "a 1/1 0", "c 2/2 0"}));
  const auto body = parse_json(answer.body);
  ASSERT_TRUE(body);
  EXPECT_EQ(text_at(*body, "apiVersion"), "visibility.kueue.x-k8s.io/v1beta2");
  EXPECT_EQ(text_at((*body)["items"][0], "localQueueName"), "users");
}

TEST_F(VisibilityApi, LimitAndOffsetCutAPage) {
  EXPECT_EQ(items(ask_main("?limit=1&offset=1")), (std::vector<std::string>{"a 1/1 0"}));
  EXPECT_EQ(items(ask_main("?limit=0")).size(), 3u);
  EXPECT_EQ(items(ask_main("?limit=-1")).size(), 0u);
  EXPECT_EQ(items(ask_main("?offset=-5&limit=%2B2")).size(), 2u);
  EXPECT_EQ(items(ask_main("?offset=9223372036854775807")).size(), 0u);
}

TEST_F(VisibilityApi, ANumberThatCannotBeReadIsABadRequest) {
  for (const char* query : {"?limit=abc", "?offset=1.5", "?limit=", "?offset=9223372036854775808",
                            "?limit=1_000", "?limit=%2B-1"}) {
    EXPECT_EQ(ask_main(query).status, 400u) << query;
  }
  EXPECT_EQ(message(ask_main("?limit=abc")), "strconv.ParseInt: parsing \"abc\": invalid syntax");
}

TEST_F(VisibilityApi, AQueueThatIsNotThereIsNotFound) {
  const Answer answer = ask(std::string(root) + "clusterqueues/nope/pendingworkloads");
  EXPECT_EQ(answer.status, 404u);
  EXPECT_EQ(message(answer), "clusterqueue.visibility.kueue.x-k8s.io \"nope\" not found");
  EXPECT_EQ(message(ask(std::string(root) + "namespaces/x/localqueues/users/pendingworkloads")),
            "localqueue.visibility.kueue.x-k8s.io \"users\" not found");
}

TEST_F(VisibilityApi, AStoppedLocalQueueIsNotFound) {
  const std::string path = std::string(root) + "namespaces/dev/localqueues/users/pendingworkloads";
  EXPECT_EQ(ask(path).status, 200u);
  loaded_.load(
      "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {namespace: dev, "
      "name: "
      "users}, spec: {clusterQueue: main, stopPolicy: Hold}}\n");
  EXPECT_EQ(ask(path).status, 404u);
}

TEST_F(VisibilityApi, OtherMethodsAndPathsAreRefusedAsKubernetesDoes) {
  EXPECT_EQ(ask(root + std::string(of_main), "POST").status, 405u);
  EXPECT_EQ(ask(root + std::string("clusterqueues")).status, 404u);
  EXPECT_EQ(ask("/apis/visibility.kueue.x-k8s.io/v1alpha1").status, 404u);
  EXPECT_EQ(ask("/apis/apps/v1").status, 404u);
  EXPECT_EQ(ask("/").status, 404u);
}

TEST_F(VisibilityApi, DiscoveryNamesTheSubresourcesOfBothVersions) {
  for (const char* version : {"v1beta1", "v1beta2"}) {
    const Answer answer = ask(std::string("/apis/visibility.kueue.x-k8s.io/") + version);
    EXPECT_NE(answer.body.find("clusterqueues/pendingworkloads"), std::string::npos);
    EXPECT_NE(answer.body.find("localqueues/pendingworkloads"), std::string::npos);
  }
  EXPECT_EQ(text_at(*parse_json(ask("/apis/visibility.kueue.x-k8s.io").body), "kind"), "APIGroup");
  EXPECT_EQ(text_at(*parse_json(ask("/apis").body), "kind"), "APIGroupList");
}

TEST_F(VisibilityApi, AcceptDecidesTheMediaType) {
  const std::string both =
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
  EXPECT_EQ(text_at(*parse_json(ask("/apis", "GET", both).body), "kind"), "APIGroupDiscoveryList");
  // Only /apis has that form.
  EXPECT_EQ(ask(root + std::string(of_main), "GET", both).content_type, "application/json");
  const Answer yaml = ask(root + std::string(of_main), "GET", "application/yaml");
  EXPECT_EQ(yaml.content_type, "application/yaml");
  EXPECT_TRUE(yaml.body.starts_with("apiVersion: visibility.kueue.x-k8s.io/v1beta2\nitems:\n- "));
  EXPECT_EQ(ask(root + std::string(of_main), "GET", "text/html").status, 406u);
  EXPECT_EQ(ask(root + std::string(of_main), "GET", "text/html, */*;q=0.8").status, 200u);
}

TEST_F(VisibilityApi, NamesWithSpecialCharactersStayJson) {
  api::Workload workload = loaded_.workload("a");
  workload.metadata.owner_references = {{"batch/v1", "Job", "quote\" and \\", "uid-1", true, true}};
  loaded_.workloads[workload.metadata.key()] = workload;
  const auto body = parse_json(ask_main("?limit=1&offset=1").body);
  ASSERT_TRUE(body);
  const Json wanted{
      {"apiVersion", "batch/v1"}, {"kind", "Job"}, {"name", "quote\" and \\"}, {"uid", "uid-1"}};
  EXPECT_EQ((*body)["items"][0]["metadata"]["ownerReferences"], Json::array({wanted}));
}

}  // namespace
}  // namespace regatta::visibility
