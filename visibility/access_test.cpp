#include "visibility/access.h"

#include "lib/base/json_access.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::visibility {
namespace {

using namespace std::chrono_literals;

const User ann{"ann", {"dev", "system:authenticated"}, {{"scopes", {"read"}}}};
constexpr const char* page =
    "/apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/team-a/localqueues/users/pendingworkloads"
    "?limit=1";

TEST(Access, APageOfALocalQueueIsAboutItsSubresource) {
  const Json review = review_of(ann, attributes_of("GET", page));
  const Json wanted{{"verb", "get"},
                    {"group", "visibility.kueue.x-k8s.io"},
                    {"version", "v1beta2"},
                    {"namespace", "team-a"},
                    {"resource", "localqueues"},
                    {"subresource", "pendingworkloads"},
                    {"name", "users"}};
  EXPECT_EQ(review["spec"]["resourceAttributes"], wanted);
  EXPECT_EQ(text_at(review, {"spec", "user"}), "ann");
  EXPECT_EQ(review["spec"]["groups"], Json::array({"dev", "system:authenticated"}));
  EXPECT_EQ(review["spec"]["extra"]["scopes"], Json::array({"read"}));
}

TEST(Access, DiscoveryIsAboutItsPath) {
  const Attributes what = attributes_of("GET", "/apis/visibility.kueue.x-k8s.io/v1beta2?x=1");
  EXPECT_EQ(review_of(ann, what)["spec"]["nonResourceAttributes"],
            (Json{{"verb", "get"}, {"path", "/apis/visibility.kueue.x-k8s.io/v1beta2"}}));
}

TEST(Access, MethodsAreVerbs) {
  EXPECT_EQ(attributes_of("POST", page).verb, "create");
  EXPECT_EQ(attributes_of("DELETE", page).verb, "delete");
  EXPECT_EQ(attributes_of("GET", "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues").verb,
            "list");
}

TEST(Access, ARefusalSaysWhatTheUserMayNotDo) {
  EXPECT_EQ(refusal_of(ann, attributes_of("GET", page), ""),
            "localqueues.visibility.kueue.x-k8s.io \"users\" is forbidden: User \"ann\" cannot get "
            "resource \"localqueues/pendingworkloads\" in API group "
            "\"visibility.kueue.x-k8s.io\" in the namespace \"team-a\"");
  EXPECT_EQ(refusal_of(ann, attributes_of("GET", "/apis"), "no"),
            "forbidden: User \"ann\" cannot get path \"/apis\": no");
}

TEST(Access, OnlyMastersAreNotAskedAbout) {
  EXPECT_FALSE(always_allowed(ann));
  EXPECT_TRUE(always_allowed({"root", {"system:masters"}, {}}));
}

}  // namespace
}  // namespace regatta::visibility
