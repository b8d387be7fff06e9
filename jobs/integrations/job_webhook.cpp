#include "jobs/integrations/job_webhook.h"

#include "jobs/annotation_values.h"
#include "jobs/elastic.h"
#include "jobs/multikueue.h"
#include "jobs/plan_rules.h"
#include "jobs/serving_job.h"
#include "lib/api/names.h"
#include "lib/api/own_names.h"
#include "lib/api/validation.h"
#include "lib/base/joined.h"
#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::jobs {
namespace {

constexpr std::string_view immutable = "field is immutable";

std::string label_field(std::string_view key) {
  return api::at("metadata.labels", std::string(key));
}
std::string annotation_field(std::string_view key) {
  return api::at("metadata.annotations", std::string(key));
}

const std::string& queue_of(const GenericJob& job) {
  return job.metadata().label(std::string(api::labels::queue_name));
}

// --- defaults -----------------------------------------------------------------------------------

bool made_by_a_job(const Lookup& objects, const GenericJob& job) {
  const api::OwnerReference* owner = job.metadata().controller();
  return owner && objects.kinds().find(*owner);
}

bool takes_part(const Lookup& objects, const std::string& ns, const JobConfig& config) {
  const auto found = objects.namespace_named(ns);
  return found && config.namespaces.matches(found->metadata.labels);
}

bool has_default_queue(const Lookup& objects, const std::string& ns, const JobConfig& config) {
  const auto queue = objects.local_queue(api::ObjectKey(ns, std::string(api::default_local_queue)));
  return config.default_queue && queue && !queue->metadata.deleting() &&
         queue->spec.stop_policy == api::StopPolicy::None;
}

// --- rules --------------------------------------------------------------------------------------

void check_name_in_label(const GenericJob& job, std::string_view key, api::ErrorList* errors) {
  const auto found = job.metadata().labels.find(std::string(key));
  if (found == job.metadata().labels.end()) return;
  const auto complaints = api::check_dns1123_subdomain(found->second);
  if (complaints.empty()) return;
  errors->invalid(label_field(key), api::in_quotes(found->second), joined(complaints, ","));
}

void check_limit(const GenericJob& job, api::ErrorList* errors) {
  const auto key = api::labels::max_exec_time_seconds;
  const auto found = job.metadata().labels.find(std::string(key));
  if (found == job.metadata().labels.end()) return;
  std::string complaint;
  const auto seconds = whole_number(found->second, &complaint);
  if (!seconds) {
    errors->invalid(label_field(key), api::in_quotes(found->second), complaint);
  } else if (*seconds <= 0) {
    errors->invalid(label_field(key), std::to_string(*seconds), "should be greater than 0");
  }
}

void check_prebuilt_annotation(const GenericJob& job, api::ErrorList* errors) {
  const auto key = std::string(api::annotations::prebuilt_workload_name);
  const auto found = job.metadata().annotations.find(key);
  if (found == job.metadata().annotations.end()) return;
  const auto complaints = api::check_dns1123_subdomain(found->second);
  if (complaints.empty()) return;
  errors->invalid(annotation_field(key), api::in_quotes(found->second), joined(complaints, ","));
}

void check_elastic(const GenericJob& job, const JobConfig& config, api::ErrorList* errors) {
  if (!config.policy.elastic || job.kind().may_be_elastic() || !is_marked_elastic(job)) return;
  const api::ResourceInfo& kind = job.kind().resource();
  errors->forbidden(annotation_field(api::annotations::elastic_job),
                    "elastic job is not supported for \"" + kind.api_version() +
                        ", Kind=" + std::string(kind.kind) + "\"");
}

void check_prebuilt_kind(const GenericJob& job, api::ErrorList* errors) {
  if (job.kind().may_be_prebuilt() || prebuilt_workload(job.metadata()).empty()) return;
  const std::string key(api::annotations::prebuilt_workload_name);
  const bool annotated = !job.metadata().annotation(key).empty();
  const api::ResourceInfo& kind = job.kind().resource();
  errors->forbidden(
      annotated ? annotation_field(key) : label_field(key),
      "Is not supported for \"" + kind.api_version() + ", Kind=" + std::string(kind.kind) + "\"");
}

void check_wish_for_hub(const GenericJob& job, api::ErrorList* errors) {
  const std::string complaint = unreadable_wish(job.metadata().annotations);
  if (complaint.empty()) return;
  const auto key = api::annotations::run_on_hub;
  errors->invalid(annotation_field(key),
                  api::in_quotes(job.metadata().annotation(std::string(key))), complaint);
}

void check_common(const GenericJob& job, api::ErrorList* errors) {
  check_name_in_label(job, api::labels::queue_name, errors);
  check_wish_for_hub(job, errors);
  if (job.kind().common_checks() == CommonChecks::queue_and_class) return;
  check_name_in_label(job, api::labels::prebuilt_workload_name, errors);
  check_prebuilt_annotation(job, errors);
  check_prebuilt_kind(job, errors);
  check_limit(job, errors);
}

void check_priority_update(const GenericJob& before, const GenericJob& after,
                           api::ErrorList* errors) {
  const std::string key(api::labels::priority_class);
  const std::string& had = before.metadata().label(key);
  const std::string& has = after.metadata().label(key);
  if (!had.empty() && has.empty()) {
    errors->invalid(label_field(key), api::in_quotes(has),
                    "WorkloadPriorityClass cannot be removed from a workload");
  } else if (had.empty() && !has.empty() && !after.suspended()) {
    errors->invalid(label_field(key), api::in_quotes(has),
                    "WorkloadPriorityClass cannot be added to a non-suspended workload");
  }
}

void must_stay(const std::string& field, const std::string& before, const std::string& after,
               api::ErrorList* errors) {
  if (before != after) errors->invalid(field, api::in_quotes(after), immutable);
}

void check_common_update(const Lookup& objects, const GenericJob& before, const GenericJob& after,
                         const JobConfig& config, api::ErrorList* errors) {
  const std::string queue_field = label_field(api::labels::queue_name);
  if (!after.suspended()) {
    must_stay(queue_field, queue_of(before), queue_of(after), errors);
    const std::string wish(api::annotations::run_on_hub);
    must_stay(annotation_field(wish), before.metadata().annotation(wish),
              after.metadata().annotation(wish), errors);
  }
  if (queue_of(after).empty() && !queue_of(before).empty() &&
      has_default_queue(objects, before.metadata().ns, config)) {
    errors->invalid(queue_field, "\"\"",
                    "queue-name must not be empty in namespace with default queue");
  }
  if (after.kind().common_checks() == CommonChecks::queue_and_class) return;
  // The hub of an elastic job names its next slice while it runs.
  if (!after.suspended() && !(config.policy.elastic && is_marked_elastic(before))) {
    must_stay(label_field(api::labels::prebuilt_workload_name),
              prebuilt_workload(before.metadata()), prebuilt_workload(after.metadata()), errors);
  }
  if (!before.suspended() || !after.suspended()) {
    const std::string limit(api::labels::max_exec_time_seconds);
    must_stay(label_field(limit), before.metadata().label(limit), after.metadata().label(limit),
              errors);
  }
  if (config.policy.elastic && is_marked_elastic(before) != is_marked_elastic(after)) {
    errors->invalid(annotation_field(api::annotations::elastic_job),
                    is_marked_elastic(after) ? "true" : "false", immutable);
  }
}

}  // namespace

Result<Json> default_job(const Lookup& objects, const GenericJob& job,
                         const JobWebhookConfig& config) {
  Json patch = Json::object();
  const std::string& ns = job.metadata().ns;
  const bool manages_all =
      config.jobs.manage_without_queue_name && takes_part(objects, ns, config.jobs);
  const bool made = made_by_a_job(objects, job);
  std::string queue = queue_of(job);
  if (queue.empty() && !made && takes_part(objects, ns, config.jobs) &&
      has_default_queue(objects, ns, config.jobs)) {  // rule 1
    queue = api::default_local_queue;
    patch["metadata"]["labels"][std::string(api::labels::queue_name)] = queue;
  }
  const auto maker = managed_maker(objects, job, config.jobs);
  if (!maker) return maker.error();
  const bool managed = !*maker && (!queue.empty() || manages_all);
  const std::string priority_class(api::labels::priority_class);  // rule 2
  if (config.jobs.default_priority_class && !made && job.metadata().label(priority_class).empty() &&
      (managed || !job.kind().classes_managed_only()) &&
      objects.workload_priority_class(std::string(default_priority_class))) {
    patch["metadata"]["labels"][priority_class] = default_priority_class;
  }
  patch.merge_patch(job.webhook_patch());
  if (managed || job.held_by_parent()) {  // rule 3
    patch.merge_patch(job.gated_patch(config.jobs.topology));
  }
  if (managed) {
    api::StringMap labels = job.metadata().labels;
    for (const auto& [key, value] : object_or_empty(patch, {"metadata", "labels"}).items()) {
      labels[key] = value.get<std::string>();
    }
    patch.merge_patch(job.pods_patch(labels));
  }
  const auto by = job.managed_by();
  const bool to_workers = config.multikueue && by && by->replaceable &&
                          !asks_for_hub(job.metadata().annotations) &&
                          leads_to_workers(objects, api::ObjectKey(ns, queue));
  if (managed && !to_workers && is_elastic(job, config.jobs.policy) &&
      prebuilt_workload(job.metadata()).empty()) {
    patch.merge_patch(job.elastic_patch());
  }
  if (to_workers) {  // rule 4
    patch.merge_patch(job.managed_by_patch(api::multikueue_controller_name));
  }
  return patch;
}

namespace {

/// Whether the webhook of its kind looks at the job at all.
bool is_checked(const GenericJob& job, const JobWebhookConfig& config) {
  return !job.kind().checks_managed_only() || config.jobs.manage_without_queue_name ||
         job.metadata().labels.contains(std::string(api::labels::queue_name));
}

/// Whether a group of a serving job has a Workload that is not on hold.
bool has_working_group(const Lookup& objects, const GenericJob& job, const JobConfig& config) {
  const ServingNames names{config.policy.brief_names, config.policy.names_in_labels};
  const auto groups = job.serving()->groups(names);
  return groups && std::any_of(groups->begin(), groups->end(), [&](const ServingGroup& group) {
           const auto workload = objects.workload(api::ObjectKey(job.metadata().ns, group.name));
           return workload && !is_on_hold(*workload);
         });
}

CheckOptions check_options(const Lookup& objects, const GenericJob& job,
                           const JobWebhookConfig& config) {
  CheckOptions options;
  options.topology = config.jobs.topology;
  options.elastic = config.jobs.policy.elastic;
  options.managed = !queue_of(job).empty() || config.jobs.manage_without_queue_name;
  options.workload_left = job.serving() && has_working_group(objects, job, config.jobs);
  options.fixed_group_size = config.fixed_group_size;
  return options;
}

}  // namespace

api::FieldErrors validate_job(const Lookup& objects, const JobPtr& given,
                              const JobWebhookConfig& config) {
  api::ErrorList errors;
  if (!is_checked(*given, config)) return {};
  const auto whole = with_runtime(objects, given);
  if (!whole) {
    errors.whole(whole.error().what());
    return errors.take();
  }
  const GenericJob& job = **whole;
  check_common(job, &errors);
  check_elastic(job, config.jobs, &errors);
  job.check(check_options(objects, job, config), &errors);
  return errors.take();
}

api::FieldErrors validate_job_update(const Lookup& objects, const GenericJob& before,
                                     const JobPtr& given, const JobWebhookConfig& config) {
  api::ErrorList errors;
  const bool leaves = config.check_leaving && is_checked(before, config);
  if (!is_checked(*given, config) && !leaves) return {};
  // A job may be changed while its runtime is not there, but not while it can have none, unless
  // it is being deleted.
  const auto whole = with_runtime(objects, given);
  const bool never = !whole && whole.error().code() == Errc::invalid;
  if (never && !given->kind().runtimes().empty() && !given->metadata().deleting()) {
    errors.whole(whole.error().what());
    return errors.take();
  }
  const GenericJob& after = whole ? **whole : *given;
  const UpdateChecks checks = after.kind().update_checks();
  if (checks == UpdateChecks::whole_first) check_common(after, &errors);
  check_common_update(objects, before, after, config.jobs, &errors);
  check_priority_update(before, after, &errors);
  if (checks == UpdateChecks::change_only) return errors.take();
  if (checks == UpdateChecks::change_first) check_common(after, &errors);
  check_elastic(after, config.jobs, &errors);
  after.check_update(before, check_options(objects, after, config), &errors);
  return errors.take();
}

std::vector<std::string> job_warnings(const Lookup& objects, const GenericJob& job) {
  const std::string key(api::labels::managed);
  const bool marked = !job.kind().selector().empty() && job.metadata().label(key) == "true";
  if (!marked || job.held_by_parent() || !made_by_a_job(objects, job)) return {};
  return {"pod owner is managed by kueue, label '" + key +
          "=true' might lead to unexpected behaviour"};
}

}  // namespace regatta::jobs
