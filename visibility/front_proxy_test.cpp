#include "visibility/front_proxy.h"

#include <gtest/gtest.h>

namespace regatta::visibility {
namespace {

api::ConfigMap map_of(std::string allowed = R"(["front-proxy-client"])") {
  api::ConfigMap map;
  map.data = {{"requestheader-client-ca-file", "PEM"},
              {"requestheader-allowed-names", std::move(allowed)},
              {"requestheader-username-headers", R"(["X-Remote-User"])"},
              {"requestheader-group-headers", R"(["X-Remote-Group"])"},
              {"requestheader-extra-headers-prefix", R"(["X-Remote-Extra-"])"}};
  return map;
}

const HeaderFields ann = {{"X-Remote-User", "ann"},
                          {"x-remote-group", "dev"},
                          {"X-Remote-Group", "ops"},
                          {"X-Remote-Extra-Scopes%2Fkueue", "read"},
                          {"X-Remote-Extra-Scopes%2Fkueue", "list"}};

TEST(FrontProxy, HeadersNameTheUserWhenTheApiServerProvesItself) {
  const auto user = user_of(*read_front_proxy(map_of()), "front-proxy-client", ann);
  ASSERT_TRUE(user);
  EXPECT_EQ(user->name, "ann");
  EXPECT_EQ(user->groups, (std::vector<std::string>{"dev", "ops", "system:authenticated"}));
  EXPECT_EQ(user->extra.at("scopes/kueue"), (std::vector<std::string>{"read", "list"}));
}

TEST(FrontProxy, HeadersOfAnyOtherClientCountForNothing) {
  const FrontProxy proxy = *read_front_proxy(map_of());
  EXPECT_FALSE(user_of(proxy, "", ann));
  EXPECT_FALSE(user_of(proxy, "some-client", ann));
}

TEST(FrontProxy, WithoutAllowedNamesEveryCertificateOfTheAuthorityCounts) {
  const FrontProxy proxy = *read_front_proxy(map_of("[]"));
  EXPECT_TRUE(user_of(proxy, "some-client", ann));
  // A client without a certificate is never the API server.
  EXPECT_FALSE(user_of(proxy, "", ann));
}

TEST(FrontProxy, ARequestWithoutAUserIsNotAuthenticated) {
  EXPECT_FALSE(user_of(*read_front_proxy(map_of()), "front-proxy-client",
                       {{"X-Remote-Group", "system:masters"}, {"X-Remote-User", ""}}));
}

TEST(FrontProxy, AnAnonymousUserDoesNotBecomeAuthenticated) {
  const auto user = user_of(
      *read_front_proxy(map_of()), "front-proxy-client",
      {{"X-Remote-User", "system:anonymous"}, {"X-Remote-Group", "system:unauthenticated"}});
  ASSERT_TRUE(user);
  EXPECT_EQ(user->groups, (std::vector<std::string>{"system:unauthenticated"}));
}

TEST(FrontProxy, AConfigMapWithoutAnAuthorityOrWithBrokenListsIsRefused) {
  EXPECT_FALSE(read_front_proxy(api::ConfigMap()));
  EXPECT_FALSE(read_front_proxy(map_of("front-proxy-client")));
  EXPECT_FALSE(read_front_proxy(map_of("[1]")));
  api::ConfigMap map = map_of();
  map.data.erase("requestheader-username-headers");
  EXPECT_FALSE(read_front_proxy(map));
}

}  // namespace
}  // namespace regatta::visibility
