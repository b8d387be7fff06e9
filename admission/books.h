#pragma once

/// What State consists of. Every book has its own part of the truth, and knows those above it here:
///
///   ObjectBook    what the cluster offers besides queues
///   QueueBook     queues, Cohorts, the quota tree
///   HistoryBook   what LocalQueues used in the past
///   UsageBook     who holds what
///   PendingBook   who waits
///   PlacesBook    who has quota and needs places
///
/// State feeds them, StatusReader reads them, CycleAccess is what a cycle may do with them.

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
  IdSet asked;  ///< workloads that the running cycle asked to go; empty between cycles
};

}  // namespace regatta::admission
