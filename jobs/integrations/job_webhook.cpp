#include "jobs/integrations/job_webhook.h"

#include "jobs/integrations/integrations.h"
#include "lib/api/names.h"
#include "lib/api/validation.h"
#include "lib/base/joined.h"

#include <nlohmann/json.hpp>

#include <charconv>

namespace regatta::jobs {
namespace {

using api::annotations::job_completions_equal_parallelism;
using api::annotations::job_min_parallelism;

constexpr std::string_view immutable = "field is immutable";
/// The value of spec.managedBy that means the same as none.
constexpr std::string_view own_controller = "kubernetes.io/job-controller";

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

bool leads_to_workers(const Lookup& objects, const std::string& ns, const std::string& queue) {
  const auto local = objects.local_queue(api::ObjectKey(ns, queue));
  const auto shared = local ? objects.cluster_queue(local->spec.cluster_queue) : nullptr;
  if (!shared) return false;
  for (const api::AdmissionCheckRule& rule : shared->spec.admission_checks) {
    const auto check = objects.admission_check(rule.name);
    if (check && check->spec.controller_name == api::multikueue_controller_name) return true;
  }
  return false;
}

// --- rules --------------------------------------------------------------------------------------

/// A whole number as Go's strconv.Atoi reads it; otherwise its complaint.
std::optional<std::int64_t> whole_number(const std::string& text, std::string* complaint) {
  std::int64_t value = 0;
  const char* const begin = text.data() + (text.starts_with("+") ? 1 : 0);
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(begin, end, value);
  const bool signs = text.starts_with("+-");
  if (error == std::errc() && at == end && !signs) return value;
  const bool too_large = error == std::errc::result_out_of_range && at == end;
  *complaint = "strconv.Atoi: parsing " + api::in_quotes(text) + ": " +
               (too_large ? "value out of range" : "invalid syntax");
  return std::nullopt;
}

/// A truth value as Go's strconv.ParseBool reads it.
std::optional<bool> truth(const std::string& text) {
  for (const char* yes : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (text == yes) return true;
  }
  for (const char* no : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

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

const std::string* annotation_in(const api::Job& job, std::string_view key) {
  const auto found = job.metadata.annotations.find(std::string(key));
  return found == job.metadata.annotations.end() ? nullptr : &found->second;
}

void check_least_pods(const GenericJob& job, const api::Job& batch, api::ErrorList* errors) {
  const std::string* text = annotation_in(batch, job_min_parallelism);
  if (!text) return;
  std::string complaint;
  const auto least = whole_number(*text, &complaint);
  const std::int32_t pods = job.pod_counts().front();
  if (!least) {
    errors->invalid(annotation_field(job_min_parallelism), api::in_quotes(*text), complaint);
  } else if (*least <= 0 || *least >= pods) {
    errors->invalid(annotation_field(job_min_parallelism), std::to_string(*least),
                    "should be between 0 and " + std::to_string(pods - 1));
  }
}

bool completions_follow(const api::Job& job) {
  const std::string* text = annotation_in(job, job_completions_equal_parallelism);
  return text && truth(*text).value_or(false);
}

void check_completions(const api::Job& job, api::ErrorList* errors) {
  const std::string* text = annotation_in(job, job_completions_equal_parallelism);
  if (!text) return;
  const std::string field = annotation_field(job_completions_equal_parallelism);
  const auto enabled = truth(*text);
  if (!enabled) {
    errors->invalid(field, api::in_quotes(*text),
                    "strconv.ParseBool: parsing " + api::in_quotes(*text) + ": invalid syntax");
  }
  if (!enabled.value_or(false)) return;
  if (job.spec.completion_mode != "Indexed") {
    errors->invalid(field, api::in_quotes(*text), "should not be enabled for NonIndexed jobs");
  }
  if (job.spec.parallelism.value_or(1) != job.spec.completions.value_or(1)) {
    const auto given = job.spec.completions;
    errors->invalid("spec.completions", given ? std::to_string(*given) : "null",
                    "should be equal to parallelism when " +
                        std::string(job_completions_equal_parallelism) + " is annotation is true");
  }
}

api::FieldErrors check_places(const GenericJob& job, const api::Job& batch,
                              const JobWebhookConfig& config) {
  const api::StringMap& annotations = batch.spec.pod_template.view().annotations;
  return check_topology("spec.template.metadata", annotations, job.pod_counts().front(),
                        config.jobs.topology);
}

void check_common(const GenericJob& job, api::ErrorList* errors) {
  check_name_in_label(job, api::labels::queue_name, errors);
  check_name_in_label(job, api::labels::prebuilt_workload_name, errors);
  check_limit(job, errors);
}

void must_stay(const std::string& field, const std::string& before, const std::string& after,
               api::ErrorList* errors) {
  if (before != after) errors->invalid(field, api::in_quotes(after), immutable);
}

void check_common_update(const Lookup& objects, const GenericJob& before, const GenericJob& after,
                         const JobConfig& config, api::ErrorList* errors) {
  const std::string queue_field = label_field(api::labels::queue_name);
  if (!after.suspended()) must_stay(queue_field, queue_of(before), queue_of(after), errors);
  if (queue_of(after).empty() && !queue_of(before).empty() &&
      has_default_queue(objects, before.metadata().ns, config)) {
    errors->invalid(queue_field, "\"\"",
                    "queue-name must not be empty in namespace with default queue");
  }
  if (!after.suspended()) {
    must_stay(label_field(api::labels::prebuilt_workload_name),
              prebuilt_workload(before.metadata()), prebuilt_workload(after.metadata()), errors);
  }
  if (!before.suspended() || !after.suspended()) {
    const std::string limit(api::labels::max_exec_time_seconds);
    must_stay(label_field(limit), before.metadata().label(limit), after.metadata().label(limit),
              errors);
  }
}

void check_batch_update(const GenericJob& before, const GenericJob& after, const api::Job& old_job,
                        const api::Job& new_job, api::ErrorList* errors) {
  const bool resized = old_job.spec.parallelism.value_or(1) != new_job.spec.parallelism.value_or(1);
  if (annotation_in(old_job, job_min_parallelism) && resized &&
      !old_job.spec.suspend.value_or(false)) {
    errors->forbidden(
        "spec.parallelism",
        "cannot change when partial admission is enabled and the job is not suspended");
  }
  const bool runs = !before.suspended() && !after.suspended();
  if (runs && completions_follow(old_job) != completions_follow(new_job)) {
    errors->forbidden(annotation_field(job_completions_equal_parallelism),
                      std::string(immutable) + " while the job is not suspended");
  }
}

api::FieldErrors together(api::ErrorList errors, const api::FieldErrors& more) {
  api::FieldErrors out = errors.take();
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

}  // namespace

Json default_job(const Lookup& objects, const GenericJob& job, const JobWebhookConfig& config) {
  Json patch = Json::object();
  const std::string& ns = job.metadata().ns;
  if (made_by_a_job(objects, job) || !takes_part(objects, ns, config.jobs)) return patch;
  std::string queue = queue_of(job);
  if (queue.empty() && has_default_queue(objects, ns, config.jobs)) {  // rule 1
    queue = api::default_local_queue;
    patch["metadata"]["labels"][std::string(api::labels::queue_name)] = queue;
  }
  const api::Job* batch = batch_job_in(job);
  if (!batch) return patch;
  const bool managed = !queue.empty() || config.jobs.manage_without_queue_name;
  if (managed && !batch->spec.suspend.value_or(false)) patch["spec"]["suspend"] = true;  // rule 2
  const std::string by = batch->spec.managed_by.value_or("");
  const bool free = by.empty() || by == own_controller;
  if (config.multikueue && free && leads_to_workers(objects, ns, queue)) {  // rule 3
    patch["spec"]["managedBy"] = api::multikueue_controller_name;
  }
  return patch;
}

api::FieldErrors validate_job(const GenericJob& job, const JobWebhookConfig& config) {
  api::ErrorList errors;
  check_common(job, &errors);
  const api::Job* batch = batch_job_in(job);
  if (!batch) return errors.take();
  check_least_pods(job, *batch, &errors);
  check_completions(*batch, &errors);
  return together(std::move(errors), check_places(job, *batch, config));
}

api::FieldErrors validate_job_update(const Lookup& objects, const GenericJob& before,
                                     const GenericJob& after, const JobWebhookConfig& config) {
  api::ErrorList errors;
  check_common(after, &errors);
  const api::Job* old_job = batch_job_in(before);
  const api::Job* new_job = batch_job_in(after);
  const bool batch = old_job && new_job;
  if (batch) {
    const std::string least(job_min_parallelism);
    if (before.metadata().annotation(least) != after.metadata().annotation(least)) {
      check_least_pods(after, *new_job, &errors);
    }
    check_completions(*new_job, &errors);
  }
  check_common_update(objects, before, after, config.jobs, &errors);
  if (!batch) return errors.take();
  check_batch_update(before, after, *old_job, *new_job, &errors);
  return together(std::move(errors), check_places(after, *new_job, config));
}

}  // namespace regatta::jobs
