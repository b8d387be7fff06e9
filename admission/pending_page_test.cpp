#include "admission/pending_page.h"

#include "admission/cycle_access.h"
#include "admission/testing/objects.h"

#include <gtest/gtest.h>

namespace regatta::admission {
namespace {

using testing::Loaded;
using testing::local_queue_yaml;
using testing::queue_yaml;
using testing::start;
using testing::workload_yaml;

/// "name place/place in LocalQueue".
std::vector<std::string> seen(State& state, const std::vector<PendingPlace>& page) {
  std::vector<std::string> out;
  for (const PendingPlace& place : page) {
    out.push_back(state.reader().workloads()[place.id].key.name + " " +
                  std::to_string(place.in_cluster_queue) + "/" +
                  std::to_string(place.in_local_queue));
  }
  return out;
}

std::vector<std::string> page(State& state, PageRequest request,
                              std::size_t* comparisons = nullptr) {
  const StatusReader reader = state.reader();
  return seen(state, page_of(reader, *reader.find_queue("main"), request, comparisons));
}

std::vector<std::string> local_page(State& state, const std::string& name, PageRequest request,
                                    std::size_t* comparisons = nullptr) {
  const StatusReader reader = state.reader();
  const LocalQueueId local = reader.local_queue_id({"dev", name});
  return seen(state, page_of(reader, *reader.find_queue("main"), local, request, comparisons));
}

/// a to f; even ones in `left`; c is the most important.
struct SixWaiting {
  SixWaiting()
      : loaded(queue_yaml("main", 4) + local_queue_yaml("main", "left") +
               local_queue_yaml("main", "right")) {
    const std::string names = "abcdef";
    for (std::size_t i = 0; i < names.size(); ++i) {
      loaded.load(workload_yaml(std::string(1, names[i]), i % 2 == 0 ? "left" : "right", 1,
                                names[i] == 'c' ? 10 : 0));
    }
  }
  Loaded loaded;
};

TEST(PendingPage, WorkloadsStandInTheOrderOfAdmissionAndCountInTheirOwnLocalQueue) {
  SixWaiting six;
  EXPECT_EQ(page(six.loaded.state, {0, 10}),
            (std::vector<std::string>{"c 0/0", "a 1/1", "b 2/0", "d 3/1", "e 4/2", "f 5/2"}));
}

TEST(PendingPage, APageBeginsAtItsOffsetAndKeepsThePlacesOfTheWholeQueue) {
  SixWaiting six;
  EXPECT_EQ(page(six.loaded.state, {2, 3}), (std::vector<std::string>{"b 2/0", "d 3/1", "e 4/2"}));
  EXPECT_EQ(page(six.loaded.state, {5, 1000}), (std::vector<std::string>{"f 5/2"}));
  EXPECT_TRUE(page(six.loaded.state, {6, 1000}).empty());
  EXPECT_TRUE(page(six.loaded.state, {0, 0}).empty());
}

TEST(PendingPage, APageOfALocalQueueCountsThePlacesOfAllInTheClusterQueue) {
  SixWaiting six;
  EXPECT_EQ(local_page(six.loaded.state, "right", {0, 10}),
            (std::vector<std::string>{"b 2/0", "d 3/1", "f 5/2"}));
  EXPECT_EQ(local_page(six.loaded.state, "right", {1, 1}), (std::vector<std::string>{"d 3/1"}));
  EXPECT_TRUE(local_page(six.loaded.state, "right", {3, 1}).empty());
}

TEST(PendingPage, AWorkloadInACycleAndParkedOnesKeepTheirPlaces) {
  SixWaiting six;
  CycleAccess access(six.loaded.state);
  const std::vector<WorkloadId> heads = access.pop_heads();
  ASSERT_EQ(heads.size(), 1u);
  EXPECT_EQ(page(six.loaded.state, {0, 2}), (std::vector<std::string>{"c 0/0", "a 1/1"}));
  access.requeue(heads[0], false, true, start, "does not fit");
  EXPECT_EQ(page(six.loaded.state, {0, 2}), (std::vector<std::string>{"c 0/0", "a 1/1"}));
}

TEST(PendingPage, OnlyThePageIsSorted) {
  Loaded loaded(queue_yaml("main", 4) + local_queue_yaml("main", "left") +
                local_queue_yaml("main", "right"));
  constexpr std::size_t count = 20000;
  api::Workload workload;
  loaded.load(workload_yaml("first", "left", 1));
  workload = loaded.workload("first");
  for (std::size_t i = 1; i < count; ++i) {
    const std::string number = std::to_string(i * 7919 % count);
    workload.metadata.name = "w" + number;
    workload.metadata.uid = "u" + number;
    workload.spec.queue_name = i % 2 == 0 ? "left" : "right";
    loaded.state.upsert(workload, start);
  }
  std::size_t all = 0, some = 0, local = 0;
  EXPECT_EQ(page(loaded.state, {0, count}, &all).size(), count);
  EXPECT_EQ(page(loaded.state, {10000, 100}, &some).size(), 100u);
  EXPECT_EQ(local_page(loaded.state, "left", {100, 100}, &local).size(), 100u);
  EXPECT_LT(some, 16 * count);
  EXPECT_LT(some, all * 3 / 4);
  EXPECT_LT(local, 16 * count);
}

}  // namespace
}  // namespace regatta::admission
