#include "lib/api/selected_clusters.h"

#include "lib/api/own_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regatta::api {
namespace {

using testing::ElementsAre;

ObjectMeta cluster(const std::string& name, const std::string& tier) {
  ObjectMeta metadata;
  metadata.name = name;
  metadata.labels = {{"tier", tier}};
  return metadata;
}

MultiKueueConfig selecting(const std::string& selector) {
  MultiKueueConfig config;
  config.spec.clusters = {"west", "b"};
  if (!selector.empty()) {
    config.metadata.annotations = {{std::string(annotations::select_clusters), selector}};
  }
  return config;
}

TEST(SelectedClusters, ComeAfterThoseThatAreNamedOnceEach) {
  const ObjectMeta a = cluster("a", "batch"), b = cluster("b", "batch"), c = cluster("c", "web");
  ObjectMeta leaving = cluster("leaving", "batch");
  leaving.deletion_timestamp = TimePoint();
  const std::vector<const ObjectMeta*> all{&a, &b, &c, &leaving};
  const auto listed = listed_clusters(selecting("tier=batch"), all);
  ASSERT_TRUE(listed) << listed.error().what();
  EXPECT_THAT(*listed, ElementsAre("west", "b", "a"));
  EXPECT_THAT(*listed_clusters(selecting(""), all), ElementsAre("west", "b"));
  EXPECT_FALSE(selects_clusters(selecting("")));
}

TEST(SelectedClusters, ASelectorThatCannotBeReadIsAnError) {
  const ObjectMeta a = cluster("a", "batch");
  const MultiKueueConfig config = selecting("tier in (batch");
  EXPECT_TRUE(selects_clusters(config));
  EXPECT_FALSE(listed_clusters(config, {&a}));
}

}  // namespace
}  // namespace regatta::api
