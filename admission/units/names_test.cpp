#include "admission/units/names.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace regatta::admission {
namespace {

TEST(Names, ResourcesAreTakenInKueuesOrder) {
  Names names;
  std::vector<ResourceId> ids;
  for (const char* name : {"cpu", "example.com/gpu", "ephemeral-storage", "pods", "amd.com/gpu",
                           "nvidia.com/gpu", "memory"}) {
    ids.push_back(names.resources.intern(name));
  }
  std::sort(ids.begin(), ids.end(), [&](ResourceId a, ResourceId b) { return names.before(a, b); });
  std::vector<std::string> order;
  for (const ResourceId id : ids) order.push_back(names.resources.name(id));
  EXPECT_THAT(order, ::testing::ElementsAre("ephemeral-storage", "amd.com/gpu", "memory",
                                            "nvidia.com/gpu", "pods", "example.com/gpu", "cpu"));
}

}  // namespace
}  // namespace regatta::admission
