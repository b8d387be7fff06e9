#pragma once

#include "jobs/generic_job.h"

#include <functional>
#include <vector>

/// A job that is made of several objects (jobs/composed_job.h) on the hub and on one worker, object
/// by object. A job that is one object is its own only part.
namespace regatta::dispatch {

/// Objects of the same kind and name; one of them may be null.
struct JobPart {
  jobs::JobPtr local;
  jobs::JobPtr remote;
};
/// Of the hub's job, by name, then those that only the worker's has. Either job may be null.
std::vector<JobPart> parts_of(const jobs::JobPtr& local, const jobs::JobPtr& remote);

/// The hub's objects that the worker is to have and lacks. Those that ended, that are being deleted
/// or that have no place in the Workload are not sent.
std::vector<jobs::JobPtr> parts_to_create(const jobs::JobPtr& local, const jobs::JobPtr& remote,
                                          const api::Workload& workload);

/// Whether the worker's object was made for another one of the hub than this one.
using OtherLife =
    std::function<bool(const jobs::GenericJob& remote, const jobs::GenericJob& local)>;

/// The worker's objects that were made for earlier ones of the hub's names, of a job of several
/// objects. What they tell is not how the hub's are.
std::vector<jobs::JobPtr> namesakes_in(const jobs::JobPtr& local, const jobs::JobPtr& remote,
                                       const OtherLife& other_life);

/// The worker's objects that go on although the hub's are gone, or are being deleted, and those
/// that keep the hub's from being sent. A job that is one object has none: it goes with its
/// Workload.
std::vector<jobs::JobPtr> parts_to_remove(const jobs::JobPtr& local, const jobs::JobPtr& remote,
                                          const OtherLife& other_life);

/// What the status of an object of the hub's job takes over from the worker's. A job that has ended
/// on the hub takes nothing over from one that has not, since its worker's server may have lost the
/// end, and no other end.
Json news_of(const jobs::GenericJob& local, const jobs::GenericJob& remote);
/// Whether the status of an object of the hub's job may take something over from the worker's.
bool has_news(const jobs::JobPtr& local, const jobs::JobPtr& remote,
              const std::vector<jobs::JobPtr>& namesakes = {});

/// The job ended, or all of the objects that are left of it.
bool has_ended(const jobs::GenericJob& job);
/// All of its objects are being deleted.
bool is_deleting(const jobs::GenericJob& job);
/// It was started, and then told to stop.
bool told_to_stop(const jobs::GenericJob& job);
/// No pod of the job runs and none will before the job is started (again): it was stopped, or is
/// shown as it was created. A group of which members are being deleted has yet to tell how these
/// ended, and what serves never rests.
bool rests(const jobs::GenericJob& job);

}  // namespace regatta::dispatch
