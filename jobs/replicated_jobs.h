#pragma once

#include "jobs/templated_job.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

/// Kinds whose pods belong to the replicated jobs of a JobSet, which they are or which they make.
namespace regatta::jobs {

/// `replicas` Jobs, and the pods of each.
struct ReplicatedJob {
  std::string name;
  std::int32_t replicas = 1;
  std::int32_t pods = 1;

  /// Of all its Jobs; the largest number there is when it is more than that.
  std::int32_t count() const;
};

/// Base of the jobs of such kinds: reads and writes their status.
class ReplicatedJobs : public TemplatedJob {
 public:
  bool active() const final;
  std::optional<Finished> finished() const final;
  /// A replicated job is ready once all of its Jobs are ready or have succeeded.
  bool pods_ready() const final;
  std::vector<api::ReclaimablePod> reclaimable_pods() const final;
  Json release_patch() const final;
  Json final_patch(bool success, const std::string& message, TimePoint now) const final;

 protected:
  /// Where the status of the kind says what.
  struct StatusFields {
    const char* jobs;                      ///< the list with the Jobs of each replicated job
    const char* complete;                  ///< the condition of a job that succeeded
    const char* terminal_state = nullptr;  ///< repeats the condition in which a job ended
  };

  ReplicatedJobs(Json object, api::ObjectMeta metadata, const JobShape& shape,
                 std::vector<PodSlot> slots, std::vector<ReplicatedJob> replicated,
                 const StatusFields& fields);

  const std::vector<ReplicatedJob>& replicated() const { return replicated_; }

 private:
  const Json& jobs() const;
  const char* ended_type(bool success) const;
  /// The status in which no pod runs.
  Json released() const;

  std::vector<ReplicatedJob> replicated_;
  StatusFields fields_;
};

/// How the pods of a replicated job are numbered.
PodNumbering numbering_of(const ReplicatedJob& job);

}  // namespace regatta::jobs
