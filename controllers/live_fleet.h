#pragma once

#include "clusters/fleet.h"
#include "clusters/local_cluster.h"
#include "controllers/hub_identity.h"
#include "dispatch/group.h"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regatta::controllers {

/// A worker's job for that Workload, or null: it names the Workload, or another slice if it is
/// elastic, and has the name of the hub's job if that is known.
jobs::JobPtr remote_job_of(const clusters::RemoteCluster& remote, const api::ObjectKey& workload,
                           const clusters::LocalCluster& hub);

/// Whether that job of a worker runs there for another Workload of the hub, too, or may.
bool is_shared(const clusters::RemoteCluster& remote, const jobs::GenericJob& job,
               const api::ObjectKey& workload, const clusters::LocalCluster& hub);

/// dispatch::namesakes_in() the worker's job; `owner` is the hub's.
std::vector<jobs::JobPtr> namesakes_on(const clusters::RemoteCluster& remote,
                                       const clusters::LocalCluster& hub, const jobs::JobPtr& job,
                                       const jobs::JobPtr& owner);

/// dispatch::parts_to_remove() of them, as far as the caches know. Those whose removal was answered
/// are left out.
std::vector<jobs::JobPtr> strays_on(const clusters::RemoteCluster& remote,
                                    const clusters::LocalCluster& hub, const jobs::JobPtr& job,
                                    const jobs::JobPtr& owner);

/// The workers that may have something of that Workload, as clusters::Holders says; `job` is the
/// one on the hub, or null.
std::set<std::string> may_hold(const clusters::Fleet& fleet, const api::ObjectKey& workload,
                               const jobs::JobPtr& job);

/// What is known for certain about a Workload of the hub.
dispatch::Certainty certainty_on_hub(const clusters::LocalCluster& hub,
                                     const api::ObjectKey& workload);

/// The connections to the workers, as dispatch::read_group() reads them.
class LiveFleet final : public dispatch::FleetView {
 public:
  LiveFleet(const clusters::Fleet& fleet, const clusters::LocalCluster& hub)
      : fleet_(fleet), hub_(hub) {}
  /// MultiKueueClusters that are not yet in the fleet, or that cannot be decoded, are visited as
  /// workers that are not connected.
  void for_each_worker(const api::ObjectKey& workload, const std::vector<std::string>& listed,
                       const Visit& visit) const override;
  /// Kept until a worker comes, goes or serves other kinds.
  std::shared_ptr<const dispatch::Roster> roster(
      const std::shared_ptr<const api::MultiKueueConfig>& config,
      const jobs::JobKind* kind) const override;

 private:
  struct Kept {
    std::shared_ptr<const api::MultiKueueConfig> config;
    std::shared_ptr<const dispatch::Roster> roster;
  };

  const clusters::Fleet& fleet_;
  const clusters::LocalCluster& hub_;
  mutable std::map<std::pair<const api::MultiKueueConfig*, const jobs::JobKind*>, Kept> rosters_;
  mutable std::uint64_t rosters_of_ = 0;  ///< the fleet's changes() then
};

}  // namespace regatta::controllers
