#include "jobs/integrations/integrations.h"
#include "jobs/multikueue.h"
#include "jobs/plan.h"
#include "lib/api/codec.h"
#include "lib/api/names.h"
#include "whatif/engine/cluster.h"

#include <nlohmann/json.hpp>

namespace regatta::whatif {
namespace {

/// The most looks at a job in one moment; each carries out one plan.
constexpr int looks_max = 8;

}  // namespace

/// Does what the webhooks of a cluster do to a Job that a user submits. The Job is suspended, and
/// on a hub it is managed by MultiKueue when its queue leads to workers, unless it asks to run on
/// the hub.
api::Job Cluster::as_submitted(api::Job job) const {
  job.spec.suspend = true;
  const std::string& queue = job.metadata.label(std::string(api::labels::queue_name));
  const std::string name = queue.empty() ? std::string(api::default_local_queue) : queue;
  const bool dispatched = settings_.dispatches &&
                          jobs::leads_to_workers(*this, api::ObjectKey(job.metadata.ns, name)) &&
                          !jobs::asks_for_hub(job.metadata.annotations);
  if (dispatched && !job.spec.managed_by) {
    job.spec.managed_by = std::string(api::multikueue_controller_name);
  }
  return job;
}

void Cluster::store(api::Job job) {
  const jobs::JobId id = job_named(job.metadata.key());
  jobs_[id] = jobs::job_of(std::move(job));
}

void Cluster::leave_out(const jobs::JobId& id, const std::string& why) {
  records_->warn(id.str() + why);
}

/// The snapshot has the Workload of this job already. The job adds its name and its behaviour.
void Cluster::claim(Course* course, const api::Job& job) {
  if (course->phase == CoursePhase::over) return;
  course->job = job_named(job.metadata.key());
  course->work = work_of(job, settings_.behaviour);
  by_job_[course->job] = course->id;
  store(job);
  if (course->record != SIZE_MAX) {
    records_->workloads[course->record].job = job.metadata.name;
  }
}

void Cluster::put(const api::Job& given, TimePoint now) {
  if (const auto found = unclaimed_.find(given.metadata.uid); found != unclaimed_.end()) {
    Course* course = &courses_[found->second];
    unclaimed_.erase(found);
    return claim(course, given);
  }
  const jobs::JobId id = job_named(given.metadata.key());
  const auto made = by_job_.find(id);
  Course* known = made == by_job_.end() ? nullptr : &courses_[made->second];
  // A job that runs continues as it began.
  if (known && known->phase != CoursePhase::waiting) return;
  api::Job job = as_submitted(given);
  if (const auto before = jobs_.find(id); before != jobs_.end()) {
    job.metadata.uid = before->second->metadata().uid;
  }
  store(std::move(job));
  follow_job(id, now);
  if (known) known->work = work_of(given, settings_.behaviour);
}

void Cluster::follow_job(const jobs::JobId& id, TimePoint now) {
  for (int look = 0; look < looks_max; ++look) {
    const jobs::JobView view = jobs::read_job(*this, job(id), settings_.jobs, now);
    if (!view.managed && view.default_queue.empty()) {
      const bool queued = !view.queue_name.empty() || view.prebuilt;
      return leave_out(id, queued ? " is in a namespace that managedJobsNamespaceSelector leaves "
                                    "out: it plays no part"
                                  : " has no queue: it is left out");
    }
    bool again = false;
    for (const jobs::JobAction& action : jobs::plan_job(view)) {
      again = carry_out(id, action, now) || again;
    }
    if (!again) return;
  }
}

/// Does what JobReconciler would write, as far as the simulation has it. Whether it changed
/// something that the next look at the job reads.
bool Cluster::carry_out(const jobs::JobId& id, const jobs::JobAction& action, TimePoint now) {
  if (const auto* create = std::get_if<jobs::CreateWorkload>(&action)) {
    create_workload(id, create->workload, now);
    return false;  // a Workload that was made just now is what the job asks for
  }
  if (const auto* update = std::get_if<jobs::UpdateWorkload>(&action)) {
    Course* course = find(update->workload->metadata.key());
    course->workload.spec = update->spec;
    touch(course, now);
    return true;
  }
  if (const auto* queue = std::get_if<jobs::QueueJob>(&action)) {
    Json object = api::to_json(*jobs::batch_job_in(*jobs_.at(id)));
    object.merge_patch(queue->patch);
    Result<api::Job> queued = api::from_json<api::Job>(object);
    if (queued) store(std::move(*queued));
    return queued.has_value();
  }
  if (const auto* complaint = std::get_if<jobs::Complain>(&action)) {
    leave_out(id, ": " + complaint->message);
  }
  return false;
}

void Cluster::create_workload(const jobs::JobId& id, api::Workload workload, TimePoint now) {
  const api::Job& job = *jobs::batch_job_in(*jobs_.at(id));
  workload.metadata.uid = next_uid();
  workload.metadata.creation_timestamp = job.metadata.creation_timestamp;
  Course& course = add_course(std::move(workload), work_of(job, settings_.behaviour), now);
  course.job = id;
  by_job_[id] = course.id;
  record_new(&course);
}

/// The status of a job says whether its pods run, on the hub too.
void Cluster::show_running(const jobs::JobId& id, bool runs) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  const std::int32_t active = runs ? 1 : 0;
  const api::Job& before = *jobs::batch_job_in(*found->second);
  if (before.spec.suspend == !runs && before.status.active == active) return;
  api::Job job = before;
  job.spec.suspend = !runs;
  job.status.active = active;
  store(std::move(job));
}

jobs::JobPtr Cluster::job_of_copy(const Course& copy) const {
  if (!copy.has_job) return nullptr;
  api::Job job;
  job.metadata.ns = copy.workload.metadata.ns;
  job.metadata.name = copy.workload.metadata.name;
  job.spec.suspend = !copy.started;
  job.status.active = copy.started ? 1 : 0;
  if (const api::Condition* end =
          api::find_condition(copy.workload.status.conditions, api::conditions::finished)) {
    const bool success = end->reason == api::reasons::succeeded;
    api::StatusCondition ended;
    ended.type = std::string(success ? api::conditions::job_complete : api::conditions::job_failed);
    ended.status = api::ConditionStatus::True;
    job.status.conditions.push_back(std::move(ended));
    job.status.active = 0;
  }
  return jobs::job_of(std::move(job));
}

}  // namespace regatta::whatif
