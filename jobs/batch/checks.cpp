#include "jobs/annotation_values.h"
#include "jobs/batch/batch_job.h"
#include "lib/api/names.h"

namespace regatta::jobs::batch_job {
namespace {

using api::annotations::job_completions_equal_parallelism;
using api::annotations::job_min_parallelism;

std::string annotation_field(std::string_view key) {
  return api::at("metadata.annotations", std::string(key));
}

const std::string* annotation_in(const api::Job& job, std::string_view key) {
  const auto found = job.metadata.annotations.find(std::string(key));
  return found == job.metadata.annotations.end() ? nullptr : &found->second;
}

void check_least_pods(const api::Job& job, api::ErrorList* errors) {
  const std::string* text = annotation_in(job, job_min_parallelism);
  if (!text) return;
  std::string complaint;
  const auto least = whole_number(*text, &complaint);
  const std::int32_t pods = pod_count(job);
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
                        std::string(job_completions_equal_parallelism) + " annotation is true");
  }
}

api::FieldErrors check_places(const api::Job& job, const CheckOptions& options) {
  const api::StringMap& annotations = job.spec.pod_template.view().annotations;
  return check_topology("spec.template.metadata", annotations, pod_count(job), options.topology);
}

/// An elastic job has no fixed number of pods to place or to begin with.
void check_elastic(const api::Job& job, const CheckOptions& options, api::ErrorList* errors) {
  const std::string* elastic = annotation_in(job, api::annotations::elastic_job);
  if (!options.elastic || !elastic || *elastic != "true") return;
  if (annotation_in(job, job_min_parallelism)) {
    errors->invalid(annotation_field(job_min_parallelism),
                    api::in_quotes(*annotation_in(job, job_min_parallelism)),
                    "partial admission and elastic job cannot be used together");
  }
  const api::StringMap& asked = job.spec.pod_template.view().annotations;
  for (const auto& [name, word] :
       {std::pair(api::annotations::podset_required_topology, "required"),
        std::pair(api::annotations::podset_preferred_topology, "preferred")}) {
    if (!asked.contains(std::string(name))) continue;
    errors->forbidden("spec.template.metadata.annotations." + std::string(name),
                      std::string(word) + " topology is not supported with elastic jobs");
  }
}

}  // namespace

void check(const api::Job& job, const CheckOptions& options, api::ErrorList* errors) {
  check_least_pods(job, errors);
  check_completions(job, errors);
  check_elastic(job, options, errors);
  errors->append(check_places(job, options));
}

void check_update(const api::Job& before, const api::Job& after, const CheckOptions& options,
                  api::ErrorList* errors) {
  const std::string least(job_min_parallelism);
  if (before.metadata.annotation(least) != after.metadata.annotation(least)) {
    check_least_pods(after, errors);
  }
  check_completions(after, errors);
  const bool resized = before.spec.parallelism.value_or(1) != after.spec.parallelism.value_or(1);
  if (annotation_in(before, job_min_parallelism) && resized &&
      !before.spec.suspend.value_or(false)) {
    errors->forbidden(
        "spec.parallelism",
        "cannot change when partial admission is enabled and the job is not suspended");
  }
  const bool runs = !suspended(before) && !suspended(after);
  if (runs && completions_follow(before) != completions_follow(after)) {
    errors->forbidden(annotation_field(job_completions_equal_parallelism),
                      "field is immutable while the job is not suspended");
  }
  errors->append(check_places(after, options));
}

}  // namespace regatta::jobs::batch_job
