#include "lib/manifest/builtin/access.h"
#include "lib/manifest/builtin/go_text.h"
#include "lib/manifest/builtin/job_parts.h"
#include "lib/manifest/builtin/pod_spec.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::manifest::builtin {

namespace {

constexpr std::int64_t indexed_parallelism_max = 100'000;
constexpr std::size_t managed_by_max = 63;

/// Whether all of the selector's matchLabels are among the labels.
bool selects(const Json& selector, const Json& labels) {
  for (const auto& [key, value] : object_or_empty(selector, {"matchLabels"}).items()) {
    const auto found = labels.find(key);
    if (found == labels.end() || *found != value) return false;
  }
  return true;
}

bool is_domain_path(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == text.size()) return false;
  const auto domain = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  };
  return std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(slash), domain);
}

void check_managed_by(const Json& spec, FieldErrors* errors) {
  const Json* manager = member(spec, "managedBy");
  if (manager == nullptr || !manager->is_string()) return;
  const std::string& text = manager->get_ref<const std::string&>();
  if (!is_domain_path(text)) {
    errors->push_back(invalid("spec.managedBy", text,
                              "must be a domain-prefixed path (such as \"acme.io/foo\")"));
  }
  if (text.size() > managed_by_max) {
    errors->push_back(too_long("spec.managedBy", managed_by_max));
  }
}

void check_completion_mode(const Json& spec, FieldErrors* errors) {
  const std::string& mode = text_at(spec, "completionMode");
  if (mode != "NonIndexed" && mode != "Indexed") {
    errors->push_back(not_supported("spec.completionMode", mode, {"NonIndexed", "Indexed"}));
    return;
  }
  if (mode != "Indexed") return;
  if (member(spec, "completions") == nullptr) {
    errors->push_back(required("spec.completions", "when completion mode is Indexed"));
  }
  const auto parallelism = integer_at(spec, "parallelism");
  if (parallelism && *parallelism > indexed_parallelism_max) {
    errors->push_back(invalid("spec.parallelism", *parallelism,
                              "must be less than or equal to 100000 when completion mode is "
                              "Indexed"));
  }
}

void check_restart_policy(const Json& spec, FieldErrors* errors) {
  const char* path = "spec.template.spec.restartPolicy";
  const std::string& policy = text_at(spec, {"template", "spec", "restartPolicy"});
  if (policy.empty() || policy == "Always") {
    errors->push_back(required(path, "valid values: \"OnFailure\", \"Never\""));
  } else if (policy != "OnFailure" && policy != "Never") {
    errors->push_back(not_supported(path, policy, {"Never", "OnFailure"}));
  } else if (member(spec, "podFailurePolicy") != nullptr && policy != "Never") {
    errors->push_back(
        invalid(path, policy, "only \"Never\" is supported when podFailurePolicy is specified"));
  }
}

/// Whether the template's scheduling fields may still change: the Job is suspended, no pod is
/// active, and no start time is left from an earlier run.
bool template_open(const Json& job, const Json& old) {
  const bool suspended = true_at(object_or_empty(old, {"spec"}), "suspend") ||
                         true_at(object_or_empty(job, {"spec"}), "suspend");
  const bool idle = integer_at(object_or_empty(old, {"status"}), "active").value_or(0) == 0;
  return suspended && idle && member(old, {"status", "startTime"}) == nullptr;
}

void set_back_scheduling(Json& pod_template, const Json& old) {
  Json& meta = object_in(pod_template, "metadata");
  const Json& old_meta = object_or_empty(old, {"metadata"});
  for (const char* name : {"labels", "annotations"}) copy_member(meta, old_meta, name);
  Json& spec = object_in(pod_template, "spec");
  const Json& old_spec = object_or_empty(old, {"spec"});
  for (const char* name : {"nodeSelector", "affinity", "tolerations", "schedulingGates"}) {
    copy_member(spec, old_spec, name);
  }
  for (const char* name : {"containers", "initContainers"}) {
    const auto list = spec.find(name);
    const Json& before = list_or_empty(old_spec, name);
    if (list == spec.end() || !list->is_array()) continue;
    for (std::size_t i = 0; i < list->size() && i < before.size(); ++i) {
      copy_member((*list)[i], before[i], "resources");
    }
  }
}

void check_template(const Json& job, const Json& old, FieldErrors* errors) {
  const Json& now = object_or_empty(job, {"spec", "template"});
  const Json& before = object_or_empty(old, {"spec", "template"});
  if (now == before) return;
  if (!template_open(job, old)) {
    errors->push_back(invalid_bare("spec.template", go_pod_template(now) + ": field is immutable"));
    return;
  }
  Json compared = now;
  set_back_scheduling(compared, before);
  if (object_or_empty(compared, {"spec"}) != object_or_empty(before, {"spec"})) {
    errors->push_back(
        invalid_bare("spec.template.spec", go_pod_spec(now["spec"]) + ": field is immutable"));
  }
}

void check_completions(const Json& spec, const Json& old, FieldErrors* errors) {
  if (same_member(spec, old, "completions")) return;
  const auto now = integer_at(spec, "completions");
  if (text_at(spec, "completionMode") != "Indexed" || !now) {
    check_immutable(spec, old, "completions", "spec", errors);
    return;
  }
  const bool tandem = now == integer_at(spec, "parallelism") &&
                      integer_at(old, "completions") == integer_at(old, "parallelism");
  if (!tandem) {
    errors->push_back(
        invalid("spec.completions", *now, "can only be modified in tandem with spec.parallelism"));
  }
}

}  // namespace

void validate_job_spec(const Json& job, FieldErrors* errors) {
  const Json& spec = object_or_empty(job, {"spec"});
  for (const char* name : {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
                           "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"}) {
    check_not_negative(spec, name, "spec", errors);
  }
  check_managed_by(spec, errors);
  check_completion_mode(spec, errors);
  validate_job_policies(spec, errors);
  validate_pod_template(object_or_empty(spec, {"template"}), "spec.template", errors);
  check_restart_policy(spec, errors);
  const Json* selector = member(spec, "selector");
  if (selector == nullptr) {
    errors->push_back(required("spec.selector"));
    return;
  }
  const Json* labels = member(spec, {"template", "metadata", "labels"});
  if (!selects(*selector, labels == nullptr ? Json::object() : *labels)) {
    errors->push_back(invalid("spec.template.metadata.labels", labels == nullptr ? Json() : *labels,
                              "`selector` does not match template `labels`"));
  }
}

void validate_job_spec_update(const Json& job, const Json& old, FieldErrors* errors) {
  const Json& spec = object_or_empty(job, {"spec"});
  const Json& before = object_or_empty(old, {"spec"});
  check_completions(spec, before, errors);
  check_immutable(spec, before, "selector", "spec", errors);
  check_template(job, old, errors);
  for (const char* name : {"completionMode", "podFailurePolicy", "backoffLimitPerIndex",
                           "managedBy", "successPolicy"}) {
    check_immutable(spec, before, name, "spec", errors);
  }
}

}  // namespace regatta::manifest::builtin
