#include "lib/manifest/behaviour.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string>

namespace regatta::manifest {

namespace {

constexpr double seconds_max = 366.0 * 24 * 3600;

const std::string& text_of(const api::ObjectMeta& metadata, const api::PodTemplate& pod_template,
                           std::string_view name) {
  const std::string key(name);
  const std::string& own = metadata.annotation(key);
  if (!own.empty()) return own;
  const auto& inherited = pod_template.view().annotations;
  const auto found = inherited.find(key);
  return found == inherited.end() ? own : found->second;
}

std::optional<double> number(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end || !(value >= 0)) return std::nullopt;
  return value;
}

Duration seconds(double value) {
  return Duration(static_cast<Duration::rep>(std::min(value, seconds_max) * 1000));
}

}  // namespace

std::optional<Duration> seconds_in(const api::ObjectMeta& metadata,
                                   const api::PodTemplate& pod_template, std::string_view name) {
  const auto value = number(text_of(metadata, pod_template, name));
  return value ? std::optional(seconds(*value)) : std::nullopt;
}

Behaviour behaviour_of(const api::Job& job, const Behaviour& otherwise) {
  return behaviour_of(job.metadata, job.spec.pod_template, otherwise);
}

Behaviour behaviour_of(const api::ObjectMeta& metadata, const api::PodTemplate& pod_template,
                       const Behaviour& otherwise) {
  Behaviour out = otherwise;
  if (const auto run = seconds_in(metadata, pod_template, annotations::run_seconds)) out.run = *run;
  const std::string& fail = text_of(metadata, pod_template, annotations::fail);
  if (fail == "true") {
    out.failures = std::numeric_limits<std::int64_t>::max();
  } else if (const auto count = number(fail)) {
    out.failures = static_cast<std::int64_t>(std::min(*count, 1e9));
  }
  if (const auto share = number(text_of(metadata, pod_template, annotations::termination_share))) {
    const std::int64_t grace = pod_template.spec().termination_grace_period_seconds.value_or(30);
    out.termination =
        seconds(std::min(*share, 1.0) * static_cast<double>(std::max<std::int64_t>(0, grace)));
  }
  const std::string& pods = text_of(metadata, pod_template, annotations::pods);
  if (pods == "true" || pods == "false") out.pods = pods == "true";
  return out;
}

bool is_ours(const api::Job& job) {
  return !job.spec.managed_by || *job.spec.managed_by == "kubernetes.io/job-controller";
}

}  // namespace regatta::manifest
