#include "dispatch/order.h"

#include <gtest/gtest.h>

namespace regatta::dispatch {
namespace {

const std::set<std::string> on_west = {"west"};

LocalView hosted(const std::string& cluster) {
  LocalView local;
  local.cluster_name = cluster;
  return local;
}

TEST(Order, OnlyWhatEndsAJobOnAWorkerIsWaitedFor) {
  EXPECT_EQ(*stops_job_on(RemoveRemote{"west", true}), "west");
  EXPECT_EQ(*stops_job_on(DeactivateRemote{"west", "evicted"}), "west");
  EXPECT_EQ(stops_job_on(RemoveRemote{"west", false}), nullptr) << "it never ran there";
  EXPECT_EQ(stops_job_on(CreateCopy{"west"}), nullptr);
  EXPECT_FALSE(waits_for(CreateJob{"east"}, {}, hosted("east"))) << "nothing is being stopped";
}

TEST(Order, WhatTheRecordedClusterTellsDoesNotWaitForAnother) {
  EXPECT_FALSE(waits_for(CopyJobStatus{"east", true}, on_west, hosted("east")));
  EXPECT_FALSE(waits_for(FinishLocal{"Succeeded", ""}, on_west, hosted("east")));
  EXPECT_FALSE(waits_for(SetCheck{CheckState::retry, "lost"}, on_west, hosted("east")));
  EXPECT_FALSE(waits_for(TellState{"Dispatched", ""}, on_west, hosted("east")));
  EXPECT_FALSE(waits_for(RecordWinner{"east", "the rest of that write"}, on_west, hosted("east")));
}

TEST(Order, NorDoesWhatTheClusterTellsThatAnEvictionRemembers) {
  LocalView evicted;
  evicted.evicted_from = "east";
  EXPECT_FALSE(waits_for(FinishLocal{"Succeeded", ""}, on_west, evicted));
  EXPECT_TRUE(waits_for(FinishLocal{"Succeeded", ""}, {"east"}, evicted));
}

TEST(Order, AReleaseWaitsForTheClusterThatAnEvictionRemembers) {
  LocalView evicted;
  EXPECT_TRUE(waits_for(ReleaseJob{}, on_west, evicted)) << "it may have run there";
  evicted.evicted_from = "east";
  EXPECT_FALSE(waits_for(ReleaseJob{}, on_west, evicted)) << "west may never delete what it keeps";
  EXPECT_TRUE(waits_for(ReleaseJob{}, {"east"}, evicted));
  evicted.evicted_from.reset();
  evicted.never_ran = true;
  EXPECT_FALSE(waits_for(ReleaseJob{}, on_west, evicted));
}

TEST(Order, WhatAWorkerTellsWaitsForWhatIsUnderWayThere) {
  EXPECT_TRUE(waits_for(CopyJobStatus{"west", true}, on_west, hosted("west")));
  EXPECT_TRUE(waits_for(FinishLocal{"Succeeded", ""}, on_west, hosted("west")));
  EXPECT_TRUE(waits_for(SetCheck{CheckState::retry, "gone"}, on_west, hosted("west")));
  EXPECT_TRUE(waits_for(RecordWinner{"west", "admitted"}, on_west, hosted("west")));
}

TEST(Order, WhatStartsOrReleasesAJobWaitsForAllThatAreBeingStopped) {
  EXPECT_TRUE(waits_for(CreateJob{"east"}, on_west, hosted("east"))) << "it would run twice";
  EXPECT_TRUE(waits_for(RecordWinner{"east", "admitted"}, on_west, hosted("")));
  EXPECT_TRUE(waits_for(RunOnHub{}, on_west, hosted("")));
  EXPECT_TRUE(waits_for(ReleaseJob{}, on_west, hosted("east"))) << "it may run on west";
  EXPECT_FALSE(waits_for(EndJob{}, on_west, hosted("east"))) << "it ran on east";
  EXPECT_TRUE(waits_for(FinishLocal{"Succeeded", ""}, on_west, hosted("")))
      << "of an evicted workload whose host is not remembered";
  EXPECT_TRUE(waits_for(SetNominated{{"east"}}, on_west, hosted("")));
}

TEST(Order, RequestsToWorkersAreSentTogether) {
  EXPECT_FALSE(waits_for(RemoveRemote{"east", true}, on_west, hosted("")));
  EXPECT_FALSE(waits_for(CreateCopy{"east"}, on_west, hosted("")));
  EXPECT_FALSE(waits_for(DeactivateRemote{"east", "evicted"}, on_west, hosted("")));
  EXPECT_FALSE(waits_for(Confirm{"east"}, on_west, hosted("")));
}

}  // namespace
}  // namespace regatta::dispatch
