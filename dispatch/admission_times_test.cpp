#include "dispatch/admission_times.h"

#include <gtest/gtest.h>

namespace regatta::dispatch {
namespace {

using namespace std::chrono_literals;

const api::ObjectKey main_queue{"team", "main"};

api::Workload copy_of(const std::string& name, Duration waited) {
  api::Workload copy;
  copy.metadata.ns = "team";
  copy.metadata.name = name;
  copy.metadata.creation_timestamp = TimePoint(1h);
  copy.spec.queue_name = "main";
  api::set_condition(&copy.status.conditions,
                     {"Admitted", api::ConditionStatus::True, 0, {}, "Admitted", ""},
                     TimePoint(1h) + waited);
  return copy;
}

void note(AdmissionTimes* times, const std::string& cluster, const api::Workload& copy) {
  api::Workload original;
  original.spec.queue_name = "main";
  times->note(cluster, copy, &original);
}

TEST(AdmissionTimes, AreSmoothedOverTheCopiesOfAQueue) {
  AdmissionTimes times;
  EXPECT_FALSE(times.usual("east", main_queue));
  note(&times, "east", copy_of("a", 8s));
  EXPECT_EQ(times.usual("east", main_queue), 8s);
  note(&times, "east", copy_of("b", 0s));
  EXPECT_EQ(times.usual("east", main_queue), 7s);
  EXPECT_FALSE(times.usual("west", main_queue));
  EXPECT_FALSE(times.usual("east", {"team", "other"}));
}

TEST(AdmissionTimes, ACopyCountsOnceHoweverOftenItChanges) {
  AdmissionTimes times;
  note(&times, "east", copy_of("a", 8s));
  note(&times, "east", copy_of("b", 0s));
  note(&times, "east", copy_of("b", 0s));
  EXPECT_EQ(times.usual("east", main_queue), 7s);
  note(&times, "west", copy_of("b", 2s));
  EXPECT_EQ(times.usual("west", main_queue), 2s) << "of another worker it is another copy";
  times.forget({"team", "b"});
  note(&times, "east", copy_of("b", 15s));
  EXPECT_EQ(times.usual("east", main_queue), 8s) << "the next life of the name";
}

TEST(AdmissionTimes, WhatSaysNothingOfTheWayThereDoesNotCount) {
  AdmissionTimes times;
  api::Workload evicted = copy_of("a", 8s);
  api::set_condition(&evicted.status.conditions,
                     {"Evicted", api::ConditionStatus::False, 0, {}, "QuotaReserved", ""},
                     TimePoint(2h));
  note(&times, "east", evicted);
  api::Workload waiting = copy_of("b", 8s);
  waiting.status.conditions.front().status = api::ConditionStatus::False;
  note(&times, "east", waiting);
  api::Workload ageless = copy_of("c", 8s);
  ageless.metadata.creation_timestamp.reset();
  note(&times, "east", ageless);
  EXPECT_FALSE(times.usual("east", main_queue));
  note(&times, "east", copy_of("d", -3s));
  EXPECT_EQ(times.usual("east", main_queue), 0s);
}

TEST(AdmissionTimes, WhatTheHubHasNotSentThereDoesNotCount) {
  AdmissionTimes times;
  times.note("east", copy_of("a", 8s), nullptr);
  EXPECT_FALSE(times.usual("east", main_queue));
  api::Workload elsewhere = copy_of("a", 8s);
  elsewhere.spec.queue_name = "a queue that the worker made up";
  note(&times, "east", elsewhere);
  EXPECT_FALSE(times.usual("east", {"team", elsewhere.spec.queue_name}));
  note(&times, "east", copy_of("a", 4s));
  EXPECT_EQ(times.usual("east", main_queue), 4s) << "nothing of it was remembered";
}

}  // namespace
}  // namespace regatta::dispatch
