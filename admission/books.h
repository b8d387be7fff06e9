#pragma once

/// The parts of State. Each book owns one part of the truth, and uses only books above it in this
/// list:
///
///   ObjectBook    what the cluster offers besides queues
///   QueueBook     queues, Cohorts, the quota tree
///   HistoryBook   what LocalQueues used in the past
///   UsageBook     which workload holds which quota and places
///   PendingBook   workloads that wait for quota
///   PlacesBook    workloads that have quota and need places
///
/// State feeds the books, StatusReader reads them, and CycleAccess limits what a cycle may do with
/// them.

#include "admission/history_book.h"
#include "admission/objects.h"
#include "admission/pending_book.h"
#include "admission/places_book.h"
#include "admission/queue_book.h"
#include "admission/usage_book.h"

namespace regatta::admission {

struct Books {
  explicit Books(Config with) : config(std::move(with)) {}
  Books(const Books&) = delete;
  Books& operator=(const Books&) = delete;

  const Config config;
  Names names;
  WorkloadTable workloads;
  ObjectBook objects{config, names};
  QueueBook queues{config, names, workloads, objects};
  HistoryBook history{config, names, workloads, queues};
  UsageBook usage{workloads, objects.topologies(), queues, history};
  PendingBook pending{config, objects, workloads, queues};
  PlacesBook places{objects, workloads, queues};
  IdSet asked;  ///< workloads that the running cycle preempts; empty between cycles
};

}  // namespace regatta::admission
