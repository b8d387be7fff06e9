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

TEST(AdmissionTimes, AreSmoothedOverTheCopiesOfAQueue) {
  AdmissionTimes times;
  EXPECT_FALSE(times.usual("east", main_queue));
  times.note("east", copy_of("a", 8s));
  EXPECT_EQ(times.usual("east", main_queue), 8s);
  times.note("east", copy_of("b", 0s));
  EXPECT_EQ(times.usual("east", main_queue), 7s);
  EXPECT_FALSE(times.usual("west", main_queue));
  EXPECT_FALSE(times.usual("east", {"team", "other"}));
}

TEST(AdmissionTimes, ACopyCountsOnceHoweverOftenItChanges) {
  AdmissionTimes times;
  times.note("east", copy_of("a", 8s));
  times.note("east", copy_of("b", 0s));
  times.note("east", copy_of("b", 0s));
  EXPECT_EQ(times.usual("east", main_queue), 7s);
  times.note("west", copy_of("b", 2s));
  EXPECT_EQ(times.usual("west", main_queue), 2s) << "of another worker it is another copy";
  times.forget({"team", "b"});
  times.note("east", copy_of("b", 15s));
  EXPECT_EQ(times.usual("east", main_queue), 8s) << "the next life of the name";
}

TEST(AdmissionTimes, WhatSaysNothingOfTheWayThereDoesNotCount) {
  AdmissionTimes times;
  api::Workload evicted = copy_of("a", 8s);
  api::set_condition(&evicted.status.conditions,
                     {"Evicted", api::ConditionStatus::False, 0, {}, "QuotaReserved", ""},
                     TimePoint(2h));
  times.note("east", evicted);
  api::Workload waiting = copy_of("b", 8s);
  waiting.status.conditions.front().status = api::ConditionStatus::False;
  times.note("east", waiting);
  api::Workload ageless = copy_of("c", 8s);
  ageless.metadata.creation_timestamp.reset();
  times.note("east", ageless);
  EXPECT_FALSE(times.usual("east", main_queue));
  times.note("east", copy_of("d", -3s));
  EXPECT_EQ(times.usual("east", main_queue), 0s);
}

}  // namespace
}  // namespace regatta::dispatch
