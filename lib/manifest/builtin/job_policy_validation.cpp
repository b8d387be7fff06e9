#include "lib/api/validation.h"
#include "lib/manifest/builtin/access.h"
#include "lib/manifest/builtin/job_parts.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace regatta::manifest::builtin {

namespace {

constexpr std::size_t rules_max = 20;
constexpr std::size_t exit_codes_max = 255;
constexpr std::int64_t indexes_max = 100'000;
constexpr std::int64_t indexes_of_large_jobs_max = 10'000;

const char* needs_indexed = "requires indexed completion mode";
const char* large_job =
    "must be less than or equal to 10000 when completions are above 100000 and used with backoff "
    "limit per index";

FieldError too_many(std::string field, std::size_t count, std::size_t max) {
  return {"FieldValueTooMany", std::move(field),
          "Too many: " + std::to_string(count) + ": must have at most " + std::to_string(max) +
              " items"};
}

/// Checks that the member is one of `values`, which are in order.
void check_choice(const Json& object, const char* name, const std::string& path,
                  std::initializer_list<std::string_view> values, FieldErrors* errors) {
  const std::string& text = text_at(object, name);
  const std::string field = join_path(path, name);
  if (text.empty()) {
    std::string all;
    for (const std::string_view value : values) {
      all += (all.empty() ? "\"" : " \"") + std::string(value) + "\"";
    }
    errors->push_back(required(field, "valid values: [" + all + "]"));
  } else if (std::find(values.begin(), values.end(), text) == values.end()) {
    errors->push_back(not_supported(field, text, values));
  }
}

void check_exit_codes(const Json& requirement, const Json& pod, const std::string& path,
                      FieldErrors* errors) {
  check_choice(requirement, "operator", path, {"In", "NotIn"}, errors);
  if (member(requirement, "containerName") != nullptr) {
    const std::string& wanted = text_at(requirement, "containerName");
    bool known = false;
    for (const char* list : {"containers", "initContainers"}) {
      for (const Json& container : list_or_empty(pod, list))
        known |= text_at(container, "name") == wanted;
    }
    if (!known) {
      errors->push_back(
          invalid(path + ".containerName", wanted,
                  "must be one of the container or initContainer names in the pod template"));
    }
  }
  const Json& values = list_or_empty(requirement, "values");
  const std::string field = path + ".values";
  if (values.empty()) {
    errors->push_back(invalid(field, values, "at least one value is required"));
  } else if (values.size() > exit_codes_max) {
    errors->push_back(too_many(field, values.size(), exit_codes_max));
  }
  const bool in = text_at(requirement, "operator") == "In";
  std::set<Json> seen;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (in && values[i] == 0) {
      errors->push_back(invalid(index_path(field, i), 0, "must not be 0 for the In operator"));
    }
    if (!seen.insert(values[i]).second) {
      errors->push_back(duplicate(index_path(field, i), values[i]));
    }
  }
  if (!std::is_sorted(values.begin(), values.end())) {
    errors->push_back(invalid(field, values, "must be ordered"));
  }
}

void check_failure_rule(const Json& spec, const Json& rule, const std::string& path,
                        FieldErrors* errors) {
  const std::string& action = text_at(rule, "action");
  if (action == "FailIndex" && member(spec, "backoffLimitPerIndex") == nullptr) {
    errors->push_back(
        invalid(path + ".action", action, "requires the backoffLimitPerIndex to be set"));
  } else {
    check_choice(rule, "action", path, {"Count", "FailIndex", "FailJob", "Ignore"}, errors);
  }
  const Json* codes = member(rule, "onExitCodes");
  const Json& conditions = list_or_empty(rule, "onPodConditions");
  if (codes != nullptr) {
    check_exit_codes(*codes, object_or_empty(spec, {"template", "spec"}), path + ".onExitCodes",
                     errors);
  }
  const std::string conditions_path = path + ".onPodConditions";
  if (conditions.size() > rules_max) {
    errors->push_back(too_many(conditions_path, conditions.size(), rules_max));
  }
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const std::string place = index_path(conditions_path, i);
    const std::string& type = text_at(conditions[i], "type");
    invalid_each(place + ".type", type, api::check_qualified_name(type), errors);
    check_choice(conditions[i], "status", place, {"False", "True", "Unknown"}, errors);
  }
  if (codes != nullptr && !conditions.empty()) {
    errors->push_back(
        invalid_bare(path, "specifying both OnExitCodes and OnPodConditions is not supported"));
  }
  if (codes == nullptr && conditions.empty()) {
    errors->push_back(
        invalid_bare(path, "specifying one of OnExitCodes and OnPodConditions is required"));
  }
}

void check_failure_policy(const Json& spec, FieldErrors* errors) {
  const Json* policy = member(spec, "podFailurePolicy");
  if (policy == nullptr) return;
  const Json& rules = list_or_empty(*policy, "rules");
  const std::string path = "spec.podFailurePolicy.rules";
  if (rules.size() > rules_max) errors->push_back(too_many(path, rules.size(), rules_max));
  for (std::size_t i = 0; i < rules.size(); ++i) {
    check_failure_rule(spec, rules[i], index_path(path, i), errors);
  }
}

void check_success_rule(const Json& spec, const Json& rule, const std::string& path,
                        FieldErrors* errors) {
  const std::int64_t completions = integer_at(spec, "completions").value_or(0);
  const Json* indexes = member(rule, "succeededIndexes");
  const auto count = integer_at(rule, "succeededCount");
  if (indexes == nullptr && !count) {
    errors->push_back(
        required(path, "at least one of succeededCount or succeededIndexes must be specified"));
  }
  std::int64_t total = 0;
  if (indexes != nullptr) {
    const std::string& text = text_at(rule, "succeededIndexes");
    const std::string wrong = index_list_error(text, completions, &total);
    if (!wrong.empty()) {
      errors->push_back(
          invalid(path + ".succeededIndexes", text, "error parsing succeededIndexes: " + wrong));
    }
  }
  check_not_negative(rule, "succeededCount", path, errors);
  const auto at_most = [&](std::int64_t max, const char* what) {
    if (!count || *count <= max) return;
    errors->push_back(invalid(
        path + ".succeededCount", *count,
        "must be less than or equal to " + std::to_string(max) + " (the number of " + what + ")"));
  };
  at_most(completions, "specified completions");
  if (indexes != nullptr) at_most(total, "indexes in the specified succeededIndexes field");
}

void check_success_policy(const Json& spec, FieldErrors* errors) {
  const Json* policy = member(spec, "successPolicy");
  if (policy == nullptr) return;
  if (text_at(spec, "completionMode") != "Indexed") {
    errors->push_back(invalid("spec.successPolicy", *policy, needs_indexed));
    return;
  }
  const Json& rules = list_or_empty(*policy, "rules");
  const std::string path = "spec.successPolicy.rules";
  if (rules.empty()) {
    errors->push_back(
        required(path, "at least one rules must be specified when the successPolicy is specified"));
  }
  if (rules.size() > rules_max) errors->push_back(too_many(path, rules.size(), rules_max));
  for (std::size_t i = 0; i < rules.size(); ++i) {
    check_success_rule(spec, rules[i], index_path(path, i), errors);
  }
}

void check_replacement_policy(const Json& spec, FieldErrors* errors) {
  const std::string& policy = text_at(spec, "podReplacementPolicy");
  if (policy.empty() || policy == "Failed") return;
  const char* field = "spec.podReplacementPolicy";
  if (member(spec, "podFailurePolicy") != nullptr) {
    errors->push_back(not_supported(field, policy, {"Failed"}));
  } else if (policy != "TerminatingOrFailed") {
    errors->push_back(not_supported(field, policy, {"Failed", "TerminatingOrFailed"}));
  }
}

void check_index_limits(const Json& spec, FieldErrors* errors) {
  const auto per_index = integer_at(spec, "backoffLimitPerIndex");
  const auto failed = integer_at(spec, "maxFailedIndexes");
  const auto completions = integer_at(spec, "completions");
  const auto parallelism = integer_at(spec, "parallelism");
  const auto refuse = [errors](const char* name, const std::optional<std::int64_t>& value,
                               const char* why) {
    errors->push_back(invalid(join_path("spec", name), *value, why));
  };
  if (failed && !per_index) {
    errors->push_back(required("spec.backoffLimitPerIndex", "when maxFailedIndexes is specified"));
  }
  if (text_at(spec, "completionMode") != "Indexed") {
    if (per_index) refuse("backoffLimitPerIndex", per_index, needs_indexed);
    if (failed) refuse("maxFailedIndexes", failed, needs_indexed);
    return;
  }
  if (failed && completions && *failed > *completions) {
    refuse("maxFailedIndexes", failed, "must be less than or equal to completions");
  }
  if (failed && *failed > indexes_max) {
    refuse("maxFailedIndexes", failed, "must be less than or equal to 100000");
  }
  if (!per_index || !completions || *completions <= indexes_max) return;
  if (!failed) {
    errors->push_back(
        required("spec.maxFailedIndexes", "must be specified when completions is above 100000"));
  }
  if (parallelism && *parallelism > indexes_of_large_jobs_max) {
    refuse("parallelism", parallelism, large_job);
  }
  if (failed && *failed > indexes_of_large_jobs_max) {
    refuse("maxFailedIndexes", failed, large_job);
  }
}

}  // namespace

void validate_job_policies(const Json& spec, FieldErrors* errors) {
  check_index_limits(spec, errors);
  check_failure_policy(spec, errors);
  check_success_policy(spec, errors);
  check_replacement_policy(spec, errors);
}

}  // namespace regatta::manifest::builtin
