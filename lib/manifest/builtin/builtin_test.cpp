#include "lib/manifest/builtin/builtin.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::manifest {
namespace {

TEST(BuiltinResources, EveryOneHasAStrategyAndAnUnambiguousName) {
  Registry registry;
  const std::vector<ResourceType> all = builtin_resources();
  for (const ResourceType& type : all) {
    EXPECT_NE(type.strategy, nullptr) << type.plural;
    EXPECT_EQ(type.strategy->columns().size(),
              type.strategy->cells(Json::object(), TimePoint{}).size())
        << type.plural;
    registry.add(type);
  }
  EXPECT_EQ(registry.all().size(), all.size());
  EXPECT_FALSE(registry.find("", "v1", "namespaces")->has_verb("deletecollection"));
  EXPECT_TRUE(registry.find("batch", "v1", "jobs")->has_status());
}

}  // namespace
}  // namespace regatta::manifest
