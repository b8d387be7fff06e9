#pragma once

#include "bench/cluster.h"
#include "bench/report/requests.h"
#include "lab/kinds/raced_kind.h"

namespace regatta::bench {

struct FederationOptions {
  int workers = 3;
  int slots = 128;         ///< Jobs that one worker admits at a time
  int hub_slots = 384;     ///< that the hub dispatches at a time to one group
  std::string dispatcher;  ///< Regatta's or Kueue's name of it; empty: the default
  const lab::RacedKind* kind = &lab::plain_jobs();
};

/// A hub and its workers, connected and idle.
class Federation {
 public:
  static Task<Result<std::unique_ptr<Federation>>> start(Ground ground, FederationOptions options);

  Cluster& hub() { return *clusters_.front(); }
  const std::vector<std::unique_ptr<Cluster>>& clusters() const { return clusters_; }

  Task<Status> forget_requests();
  Task<Result<std::vector<Requests>>> requests();

 private:
  Task<Status> wait_ready(Ground ground, int groups);
  Task<bool> is_ready(std::size_t groups);
  Task<Status> set_up(FederationOptions options);
  Task<Status> set_up_worker(Cluster& worker, int group, int slots);
  Task<Status> define(const lab::RacedKind& kind);

  std::vector<std::unique_ptr<Cluster>> clusters_;  ///< the hub first
};

}  // namespace regatta::bench
