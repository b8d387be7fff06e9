#pragma once

#include "clusters/fleet.h"
#include "dispatch/group.h"

namespace regatta::controllers {

/// A worker's job for that Workload, or null.
jobs::JobPtr remote_job_of(const clusters::RemoteCluster& remote, const api::ObjectKey& workload);

/// The connections to the workers, as dispatch::read_group() reads them.
class LiveFleet final : public dispatch::FleetView {
 public:
  explicit LiveFleet(const clusters::Fleet& fleet) : fleet_(fleet) {}
  void for_each_worker(const api::ObjectKey& workload, const Visit& visit) const override;

 private:
  const clusters::Fleet& fleet_;
};

}  // namespace regatta::controllers
