#include "lib/api/batch.h"
#include "lib/api/pod_fields.h"

namespace regatta::api {

template <class V, Is<JobSpec> T>
void fields(V& v, T& o) {
  v("parallelism", o.parallelism);
  v("completions", o.completions);
  v("activeDeadlineSeconds", o.active_deadline_seconds);
  v("backoffLimit", o.backoff_limit);
  v("backoffLimitPerIndex", o.backoff_limit_per_index);
  v("maxFailedIndexes", o.max_failed_indexes);
  v("manualSelector", o.manual_selector);
  v("template", o.pod_template);
  v("ttlSecondsAfterFinished", o.ttl_seconds_after_finished);
  v("completionMode", o.completion_mode);
  v("suspend", o.suspend);
  v("podReplacementPolicy", o.pod_replacement_policy);
  v("managedBy", o.managed_by);
}

template <class V, Is<UncountedTerminatedPods> T>
void fields(V& v, T& o) {
  v("succeeded", o.succeeded);
  v("failed", o.failed);
}

/// Counters that Kubernetes leaves out when zero.
template <class V, class T>
void count_field(V& v, std::string_view name, T& count) {
  if constexpr (std::same_as<V, FieldWriter>) {
    if (count != 0) v(name, count);
  } else {
    v(name, count);
  }
}

template <class V, Is<JobStatus> T>
void fields(V& v, T& o) {
  v("conditions", o.conditions);
  v("startTime", o.start_time);
  v("completionTime", o.completion_time);
  count_field(v, "active", o.active);
  count_field(v, "succeeded", o.succeeded);
  count_field(v, "failed", o.failed);
  v("terminating", o.terminating);
  v("ready", o.ready);
  v("completedIndexes", o.completed_indexes);
  v("failedIndexes", o.failed_indexes);
  v("uncountedTerminatedPods", o.uncounted_terminated_pods);
}

template <class V, Is<Job> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  if constexpr (std::same_as<V, FieldReader>) {
    v("spec", o.spec);
    if (const Json* spec = v.find("spec")) {
      o.raw_spec = RawJson(dump_json(*spec));
      PodTemplate::place_within(o.raw_spec, {&o.spec.pod_template});
    }
  } else {
    v.over("spec", o.raw_spec, o.spec);
  }
  v("status", o.status);
}

REGATTA_API_CODEC(Job);

}  // namespace regatta::api
