#pragma once

#include "clusters/local_cluster.h"
#include "clusters/remote_cluster.h"
#include "jobs/generic_job.h"

#include <string>
#include <vector>

namespace regatta::controllers {

/// By what the objects that a worker shows are to be treated.
enum class Ownership {
  ours,        ///< this hub's, or an older version or another program made it and does not say
  other_hub,   ///< of another hub that uses the same origin
  other_name,  ///< this hub's, and of another MultiKueueCluster that leads to the same worker
};

struct Owner {
  Ownership whose = Ownership::ours;
  std::string name;  ///< the mark of the other hub, or the other MultiKueueCluster; else empty
};

/// Tells what this hub has made through a worker from the rest. A worker that is registered under
/// two names shows everything under both: what belongs to the one name would be removed as the
/// leftovers of the other one. So each object belongs to one name:
/// - to the one that is recorded for its Workload, or that the hub made it through, as the object
///   says, if that is connected and shows it, too;
/// - to the recorded one, if that cannot be asked and the object says that it was made through it,
///   or was seen there. Once the Workload is evicted from there, the object is a leftover.
/// What the other name has and cannot be read counts as shown. A name that is connected and is
/// known not to have the object leads to another cluster now.
class HubIdentity {
 public:
  /// Either may change meanwhile; both outlive this object.
  HubIdentity(const clusters::LocalCluster& hub, const clusters::RemoteCluster& worker);
  Owner owner_of(const api::Workload& copy) const;
  Owner owner_of(const jobs::GenericJob& job) const;
  bool may_own(const api::Workload& copy) const { return owner_of(copy).whose == Ownership::ours; }
  bool may_own(const jobs::GenericJob& job) const { return owner_of(job).whose == Ownership::ours; }
  /// It was made through another name that there still is. If that does not show the object yet,
  /// it will own it; so a copy must not be the one that wins here.
  bool may_be_of_another_name(const api::ObjectMeta& metadata) const;
  /// Whether an object that this hub marked was made for an object with another uid.
  bool of_another_life(const api::ObjectMeta& metadata, const std::string& uid) const;

 private:
  bool of_another_hub(const api::ObjectMeta& metadata) const;
  template <class Shows>
  Owner owner_of(const api::ObjectMeta& metadata, const std::vector<std::string>& workloads,
                 const Shows& shown_by) const;
  template <class Shows>
  std::string other_name(const api::ObjectMeta& metadata, const std::vector<std::string>& workloads,
                         const Shows& shown_by) const;

  const clusters::LocalCluster& hub_;
  const clusters::RemoteCluster& worker_;
  std::string uid_, adopted_;
};

/// The mark of the hub that made an object on a worker; empty without one.
const std::string& hub_mark(const api::ObjectMeta& metadata);

/// The MultiKueueCluster that an object on a worker was made through; empty: it does not say.
const std::string& made_through(const api::ObjectMeta& metadata);

}  // namespace regatta::controllers
