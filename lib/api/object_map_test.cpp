#include "lib/api/object_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace regatta::api {
namespace {

TEST(ObjectMap, FindsWhatItHoldsByNamespaceAndName) {
  ObjectMap<int> map;
  map[ObjectKey("team-a", "job")] = 1;
  map[ObjectKey("team-b", "job")] = 2;
  map[ObjectKey("job")] = 3;

  ASSERT_NE(map.find(ObjectKey("team-b", "job")), nullptr);
  EXPECT_EQ(*map.find(ObjectKey("team-b", "job")), 2);
  EXPECT_EQ(*map.find(ObjectKey("job")), 3);
  EXPECT_EQ(map.find(ObjectKey("team-c", "job")), nullptr);
  EXPECT_EQ(map.find(ObjectKey("job", "team-a")), nullptr);
}

TEST(ObjectMap, TheSameKeyIsTheSameValue) {
  ObjectMap<int> map;
  int* const first = &(map[ObjectKey("ns", "job")] = 1);
  EXPECT_EQ(&map[ObjectKey("ns", "job")], first);
  EXPECT_EQ(map.size(), 1u);
}

TEST(ObjectMap, IsInKeyOrderAndKeepsPointersWhileItGrows) {
  ObjectMap<int> map;
  int* const kept = &(map[ObjectKey("ns", "job-500")] = 500);
  for (int i = 999; i >= 0; --i) map[ObjectKey("ns", "job-" + std::to_string(i))] = i;

  EXPECT_EQ(map.find(ObjectKey("ns", "job-500")), kept);
  std::vector<ObjectKey> keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  EXPECT_EQ(keys.size(), 1000u);
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
}

TEST(ObjectMap, WhatIsErasedIsNotFoundAndTheRestIs) {
  ObjectMap<int> map;
  for (int i = 0; i < 100; ++i) map[ObjectKey("ns", std::to_string(i))] = i;
  for (int i = 0; i < 100; i += 2) map.erase(ObjectKey("ns", std::to_string(i)));
  map.erase(ObjectKey("ns", "never there"));

  EXPECT_EQ(map.size(), 50u);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(map.contains(ObjectKey("ns", std::to_string(i))), i % 2 == 1) << i;
  }
}

TEST(ObjectMap, AMapThatIsMovedFindsWhatItHolds) {
  ObjectMap<int> map;
  map[ObjectKey("ns", "job")] = 7;
  ObjectMap<int> moved = std::move(map);
  ASSERT_NE(moved.find(ObjectKey("ns", "job")), nullptr);
  EXPECT_EQ(*moved.find(ObjectKey("ns", "job")), 7);
}

}  // namespace
}  // namespace regatta::api
