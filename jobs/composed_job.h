#pragma once

#include "jobs/generic_job.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::jobs {

/// How the members of a job stand to its Workload, or to the one that is to be made.
struct Roster {
  std::vector<JobPtr> kept;      ///< the Workload is theirs
  std::vector<JobPtr> excess;    ///< there is no place for them: they are deleted
  std::vector<JobPtr> replaced;  ///< they ended, and others have, or get, their places: let go
  std::int32_t absent = 0;       ///< places without a member
};

/// Why no Workload can be made of the members.
struct Obstacle {
  std::string message;
  /// Kueue tells it by an event of the job; it only logs the others.
  bool told = false;
  /// Kueue tries again and again.
  bool retried = false;
};

/// A job that is no object: it is what several objects, its members, say of themselves, such as a
/// group of Pods. Its Workload has its name, is owned by the members, and has no controller. All
/// requests go to members.
class ComposedJob {
 public:
  virtual ~ComposedJob() = default;

  /// All of them, by name; never empty.
  virtual const std::vector<JobPtr>& members() const = 0;
  virtual std::optional<Obstacle> obstacle() const = 0;
  /// `workload` may be null.
  virtual Roster roster(const api::Workload* workload) const = 0;
  /// What starts a member that waits; an empty object when no pod set is for it. `invalid` on a
  /// conflict that no retry can mend.
  virtual Result<Json> member_start_patch(const GenericJob& member,
                                          const std::vector<PodSetInfo>& infos) const = 0;
  /// What is told when a Workload of another job has the name.
  virtual std::string name_conflict() const = 0;
};

/// The objects that requests for the job go to: its members, or the job itself.
std::vector<JobPtr> objects_of(const JobPtr& job);

/// The reason in the status of what is deleted with its Workload.
inline constexpr std::string_view workload_deleted = "WorkloadDeleted";

/// Whether the Workload is one of a composed job, or was made to become one.
bool may_be_composed(const api::Workload& workload);

}  // namespace regatta::jobs
