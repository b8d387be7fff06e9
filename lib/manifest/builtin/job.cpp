#include "lib/manifest/builtin/access.h"
#include "lib/manifest/builtin/generic.h"
#include "lib/manifest/builtin/human.h"
#include "lib/manifest/builtin/job_parts.h"
#include "lib/manifest/builtin/pod_spec.h"
#include "lib/manifest/builtin/strategies.h"

#include <nlohmann/json.hpp>

#include <array>
#include <limits>

namespace regatta::manifest::builtin {

namespace {

constexpr const char* uid_label = "batch.kubernetes.io/controller-uid";

std::array<std::pair<const char*, const std::string*>, 4> job_labels(const std::string& name,
                                                                     const std::string& uid) {
  return {{{uid_label, &uid},
           {"batch.kubernetes.io/job-name", &name},
           {"controller-uid", &uid},
           {"job-name", &name}}};
}

/// Selects the pods of a Job by labels made of its uid.
void generate_selector(Json& job) {
  const std::string& name = text_at(job, {"metadata", "name"});
  const std::string& uid = text_at(job, {"metadata", "uid"});
  Json& spec = job["spec"];
  Json& labels = object_in(object_in(object_in(spec, "template"), "metadata"), "labels");
  for (const auto& [key, value] : job_labels(name, uid)) {
    if (!labels.contains(key)) labels[key] = *value;
  }
  Json& match = object_in(object_in(spec, "selector"), "matchLabels");
  if (!match.contains(uid_label)) match[uid_label] = uid;
}

void default_counts(Json& spec) {
  const bool alone =
      member(spec, "completions") == nullptr && member(spec, "parallelism") == nullptr;
  if (alone) spec["completions"] = 1;
  default_to(spec, "parallelism", std::int64_t{1});
  const bool per_index = member(spec, "backoffLimitPerIndex") != nullptr;
  default_to(spec, "backoffLimit",
             per_index ? std::int64_t{std::numeric_limits<std::int32_t>::max()} : std::int64_t{6});
}

void default_policy(Json& spec) {
  const auto policy = spec.find("podFailurePolicy");
  if (policy == spec.end() || !policy->is_object()) return;
  const auto rules = policy->find("rules");
  if (rules == policy->end() || !rules->is_array()) return;
  for (Json& rule : *rules) {
    const auto patterns = rule.is_object() ? rule.find("onPodConditions") : rule.end();
    if (!rule.is_object() || patterns == rule.end() || !patterns->is_array()) continue;
    for (Json& pattern : *patterns) default_to(pattern, "status", "True");
  }
}

void default_status(Json& status) {
  for (const char* name : {"active", "succeeded", "failed", "completedIndexes", "conditions",
                           "startTime", "completionTime"}) {
    drop_empty(status, name);
  }
  const auto conditions = status.find("conditions");
  if (conditions == status.end() || !conditions->is_array()) return;
  for (Json& condition : *conditions) {
    if (!condition.is_object()) continue;
    for (const char* name : {"lastProbeTime", "lastTransitionTime"}) {
      if (!condition.contains(name)) condition[name] = nullptr;
    }
  }
}

std::string completions_cell(const Json& job) {
  const std::int64_t done = integer_at(object_or_empty(job, {"status"}), "succeeded").value_or(0);
  const Json& spec = object_or_empty(job, {"spec"});
  std::string out = std::to_string(done) + "/";
  if (const auto completions = integer_at(spec, "completions")) {
    return out + std::to_string(*completions);
  }
  const std::int64_t parallelism = integer_at(spec, "parallelism").value_or(0);
  return parallelism > 1 ? out + "1 of " + std::to_string(parallelism) : out + "1";
}

std::string duration_cell(const Json& job, TimePoint now) {
  const auto start = parse_rfc3339(text_at(job, {"status", "startTime"}));
  if (!start) return "";
  const auto end = parse_rfc3339(text_at(job, {"status", "completionTime"}));
  return human_duration((end ? *end : now) - *start);
}

const char* status_cell(const Json& job) {
  if (condition_true(job, "Complete")) return "Complete";
  if (condition_true(job, "Failed")) return "Failed";
  if (member(job, {"metadata", "deletionTimestamp"}) != nullptr) return "Terminating";
  if (condition_true(job, "Suspended")) return "Suspended";
  if (condition_true(job, "FailureTarget")) return "FailureTarget";
  if (condition_true(job, "SuccessCriteriaMet")) return "SuccessCriteriaMet";
  return "Running";
}

std::string selector_cell(const Json& job) {
  std::string out;
  for (const auto& [key, value] :
       object_or_empty(job, {"spec", "selector", "matchLabels"}).items()) {
    if (!out.empty()) out += ',';
    out += key + "=" + (value.is_string() ? value.get_ref<const std::string&>() : "");
  }
  return out.empty() ? "<none>" : out;
}

class JobStrategy final : public GenericStrategy {
 public:
  JobStrategy() : GenericStrategy({.status = true, .generation = true}) {}

  void set_defaults(Json& job) const override {
    Json& spec = object_in(job, "spec");
    default_counts(spec);
    default_to(spec, "manualSelector", false);
    default_to(spec, "suspend", false);
    default_to(spec, "completionMode", "NonIndexed");
    default_to(spec, "podReplacementPolicy",
               member(spec, "podFailurePolicy") == nullptr ? "TerminatingOrFailed" : "Failed");
    default_policy(spec);
    Json& pod_template = object_in(spec, "template");
    default_pod_template(pod_template);
    default_status(object_in(job, "status"));
    // A Job without labels takes those of its template. A new Job does not have its generated
    // labels yet.
    const Json& labels = object_or_empty(pod_template, {"metadata", "labels"});
    if (labels.contains(uid_label)) take_labels(job, labels);
  }

  void prepare_for_create(Json& job, TimePoint now) const override {
    GenericStrategy::prepare_for_create(job, now);
    if (!true_at(job["spec"], "manualSelector")) generate_selector(job);
    take_labels(job, object_or_empty(job, {"spec", "template", "metadata", "labels"}));
  }

  FieldErrors validate_create(const Json& job) const override {
    FieldErrors errors;
    if (!true_at(object_or_empty(job, {"spec"}), "manualSelector")) {
      check_generated_selector(job, &errors);
    }
    validate_job_spec(job, &errors);
    return errors;
  }

  FieldErrors validate_update(const Json& job, const Json& old) const override {
    if (same_member(job, old, "spec")) return {};
    FieldErrors errors = validate_create(job);
    validate_job_spec(job, &errors);
    validate_job_spec_update(job, old, &errors);
    return errors;
  }

  FieldErrors validate_status_update(const Json& job, const Json& old) const override {
    return validate_job_status(job, old);
  }

  std::vector<std::string> warnings(const Json& job) const override {
    return pod_warnings(object_or_empty(job, {"spec", "template"}), "spec.template");
  }

  std::vector<TableColumn> columns() const override {
    return {name_column(),
            column("Status", "string", "How far the job is."),
            column("Completions", "string", "Succeeded pods of those wanted."),
            column("Duration", "string", "Time the job took, or has taken so far."),
            age_column(),
            column("Containers", "string", "Names of the containers.", 1),
            column("Images", "string", "Images of the containers.", 1),
            column("Selector", "string", "Labels of its pods.", 1)};
  }
  std::vector<Json> cells(const Json& job, TimePoint now) const override {
    const Json& spec = object_or_empty(job, {"spec", "template", "spec"});
    return {name_cell(job),          status_cell(job),   completions_cell(job),
            duration_cell(job, now), age_cell(job, now), container_names(spec),
            container_images(spec),  selector_cell(job)};
  }

  std::vector<std::pair<std::string, std::string>> selectable_fields(
      const Json& job) const override {
    const std::int64_t done = integer_at(object_or_empty(job, {"status"}), "succeeded").value_or(0);
    return {{"status.successful", std::to_string(done)}};
  }

 private:
  static void take_labels(Json& job, const Json& labels) {
    if (labels.empty()) return;
    Json& own = object_in(object_in(job, "metadata"), "labels");
    if (own.empty()) own = labels;
  }

  /// The generated labels and selector must be what generate_selector makes.
  static void check_generated_selector(const Json& job, FieldErrors* errors) {
    const std::string& uid = text_at(job, {"metadata", "uid"});
    const std::string& name = text_at(job, {"metadata", "name"});
    const Json& labels = object_or_empty(job, {"spec", "template", "metadata", "labels"});
    for (const auto& [key, value] : job_labels(name, uid)) {
      if (text_at(labels, key) == *value) continue;
      errors->push_back(invalid(key_path("spec.template.metadata.labels", key), labels,
                                "must be '" + *value + "'"));
    }
    const Json* selector = member(job, {"spec", "selector"});
    const Json& match = object_or_empty(job, {"spec", "selector", "matchLabels"});
    const bool generated = selector != nullptr && selector->size() == 1 && match.size() == 1 &&
                           text_at(match, uid_label) == uid;
    if (!generated) {
      errors->push_back(invalid("spec.selector", selector == nullptr ? Json() : *selector,
                                "`selector` not auto-generated"));
    }
  }
};

}  // namespace

StrategyPtr job_strategy() {
  return std::make_shared<JobStrategy>();
}

}  // namespace regatta::manifest::builtin
