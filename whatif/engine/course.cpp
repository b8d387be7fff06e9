#include "whatif/engine/course.h"

#include "whatif/engine/annotations.h"

#include <algorithm>
#include <cmath>

namespace regatta::whatif {
namespace {

constexpr Duration ten_years = std::chrono::hours(24 * 3660);

void read_annotations(const api::ObjectMeta& metadata, const api::PodTemplate& pod_template,
                      const manifest::Behaviour& otherwise, Work* out) {
  out->behaviour = manifest::behaviour_of(metadata, pod_template, otherwise);
  const auto seconds = [&](std::string_view name) {
    return manifest::seconds_in(metadata, pod_template, name);
  };
  out->ready = seconds(annotations::ready_seconds).value_or(Duration(0));
  const auto checkpoint = seconds(annotations::checkpoint_seconds);
  out->checkpoint = checkpoint.value_or(Duration(0));
  const std::string key(annotations::resume);
  const auto& inherited = pod_template.view().annotations;
  const auto found = inherited.find(key);
  out->resume = checkpoint.has_value() || metadata.annotation(key) == "true" ||
                (found != inherited.end() && found->second == "true");
}

/// How long the whole work takes from its beginning.
Duration whole(const Work& work, std::int32_t pods, std::int64_t ends) {
  const std::int64_t waves = (ends + pods - 1) / pods;
  const double millis = double(work.behaviour.run.count()) * double(waves);
  return Duration(static_cast<std::int64_t>(std::min(millis, double(ten_years.count()))));
}

bool fails(const Work& work) {
  return work.behaviour.failures > work.backoff_limit;
}

/// The number of pods that succeed or fail until the job is over.
std::int64_t ends_of(const Work& work) {
  if (!work.is_job) return 1;
  if (fails(work)) return std::int64_t{work.backoff_limit} + 1;
  return std::max<std::int64_t>(1, work.completions + work.behaviour.failures);
}

}  // namespace

Work work_of(const api::Job& job, const manifest::Behaviour& otherwise) {
  Work out;
  read_annotations(job.metadata, job.spec.pod_template, otherwise, &out);
  out.is_job = true;
  out.completions = job.spec.completions.value_or(job.spec.parallelism.value_or(1));
  out.backoff_limit = job.spec.backoff_limit.value_or(6);
  if (job.spec.active_deadline_seconds) {
    const auto seconds =
        std::clamp<std::int64_t>(*job.spec.active_deadline_seconds, 0, 366LL * 24 * 3600);
    out.deadline = std::chrono::seconds(seconds);
  }
  return out;
}

Work work_of(const api::Workload& workload, const manifest::Behaviour& otherwise) {
  Work out;
  static const api::PodTemplate nothing;
  const auto& sets = workload.spec.pod_sets;
  read_annotations(workload.metadata, sets.empty() ? nothing : sets.front().pod_template, otherwise,
                   &out);
  out.backoff_limit = 0;
  return out;
}

Attempt attempt_of(const Work& work, std::int32_t pods, double done) {
  const std::int32_t at_once = work.is_job ? std::max(1, pods) : 1;
  const std::int64_t ends = ends_of(work);
  const Duration all = whole(work, at_once, ends);
  Attempt out;
  out.length = Duration(std::llround(double(all.count()) * std::max(0.0, 1 - done)));
  out.succeeds = !fails(work);
  out.message =
      out.succeeds ? "Job finished successfully" : "Job has reached the specified backoff limit";
  if (work.deadline && *work.deadline < out.length) {
    out.length = *work.deadline;
    out.succeeds = false;
    out.message = "Job was active longer than specified deadline";
    return out;
  }
  const std::int64_t last = ends % at_once;
  if (out.succeeds && done == 0 && ends > at_once && last != 0) {
    out.reclaim_after = out.length - work.behaviour.run;
    out.reclaimable = static_cast<std::int32_t>(at_once - last);
  }
  return out;
}

Interrupted interrupt(const Work& work, std::int32_t pods, double done_before, Duration ran) {
  ran = std::max(ran, Duration(0));
  if (!work.resume) return {0, ran};
  const Duration all = whole(work, work.is_job ? std::max(1, pods) : 1, ends_of(work));
  if (all <= Duration(0)) return {done_before, Duration(0)};
  Duration kept = ran;
  if (work.checkpoint > Duration(0)) kept = (ran / work.checkpoint) * work.checkpoint;
  const double done = done_before + double(kept.count()) / double(all.count());
  return {std::min(done, 1.0), ran - kept};
}

std::int32_t admitted_pods(const api::Workload& workload) {
  std::int32_t pods = 0;
  if (!workload.status.admission) return pods;
  for (const auto& set : workload.status.admission->pod_set_assignments) {
    pods += set.count.value_or(0);
  }
  return pods;
}

}  // namespace regatta::whatif
