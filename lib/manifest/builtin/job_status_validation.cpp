#include "lib/manifest/builtin/access.h"
#include "lib/manifest/builtin/job_parts.h"

#include <nlohmann/json.hpp>

#include <charconv>
#include <optional>

namespace regatta::manifest::builtin {

namespace {

/// The status before and after, and the questions the rules ask about them.
struct Change {
  const Json& job;
  const Json& old;
  const Json& now = object_or_empty(job, {"status"});
  const Json& before = object_or_empty(old, {"status"});

  bool is(const char* type) const { return condition_true(job, type); }
  bool was(const char* type) const { return condition_true(old, type); }
  bool turned(const char* type) const { return is(type) != was(type); }
  bool finished() const { return is("Complete") || is("Failed"); }
  bool finished_turned() const { return finished() != (was("Complete") || was("Failed")); }
  bool changed(const char* name) const { return !same_member(now, before, name); }
  bool indexed() const { return text_at(job, {"spec", "completionMode"}) == "Indexed"; }
};

void conditions_error(const char* text, FieldErrors* errors) {
  errors->push_back(invalid_bare("status.conditions", text));
}

Json value_or_null(const Json& status, const char* name) {
  const Json* value = member(status, name);
  return value == nullptr ? Json() : *value;
}

std::optional<std::int64_t> read_index(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void check_indexes(const Change& change, const char* name, FieldErrors* errors) {
  if (!change.changed(name)) return;
  const std::string& text = text_at(change.now, name);
  const std::string path = join_path("status", name);
  if (!text.empty() && !change.indexed()) {
    errors->push_back(
        invalid(path, text,
                std::string("cannot set non-empty ") + name + " when non-indexed completion mode"));
    return;
  }
  const std::int64_t completions =
      integer_at(object_or_empty(change.job, {"spec"}), "completions").value_or(0);
  const std::string wrong = index_list_error(text, completions, nullptr);
  if (!wrong.empty()) {
    errors->push_back(invalid(path, text, std::string("error parsing ") + name + ": " + wrong));
  }
}

void check_completion_time(const Change& change, FieldErrors* errors) {
  const bool moved = change.turned("Complete") || change.changed("completionTime");
  const Json* end = member(change.now, "completionTime");
  if (moved && change.is("Complete") && end == nullptr) {
    errors->push_back(
        required("status.completionTime", "completionTime is required for Complete jobs"));
  }
  if (moved && !change.is("Complete") && end != nullptr) {
    errors->push_back(
        invalid("status.completionTime", *end,
                "cannot set completionTime when there is no Complete=True condition"));
  }
  if (end == nullptr || !(change.changed("completionTime") || change.changed("startTime"))) return;
  const auto start_time = parse_rfc3339(text_at(change.now, "startTime"));
  const auto end_time = parse_rfc3339(text_at(change.now, "completionTime"));
  if (start_time && end_time && *end_time < *start_time) {
    errors->push_back(
        invalid("status.completionTime", *end, "must be equal to or after `startTime`"));
  }
}

void check_conditions(const Change& change, FieldErrors* errors) {
  const bool complete = change.turned("Complete");
  const bool failed = change.turned("Failed");
  if ((complete || failed) && change.is("Complete") && change.is("Failed")) {
    conditions_error("cannot set Complete=True and Failed=true conditions", errors);
  }
  if ((complete || change.turned("FailureTarget")) && change.is("Complete") &&
      change.is("FailureTarget")) {
    conditions_error("cannot set Complete=True and FailureTarget=true conditions", errors);
  }
  if ((failed || change.turned("FailureTarget")) && change.is("Failed") &&
      !change.is("FailureTarget")) {
    conditions_error("cannot set Failed=True condition without the FailureTarget=true condition",
                     errors);
  }
  const bool met = change.turned("SuccessCriteriaMet");
  if ((complete || met) && change.is("Complete") && !change.is("SuccessCriteriaMet")) {
    conditions_error(
        "cannot set Complete=True condition without the SuccessCriteriaMet=true condition", errors);
  }
  if ((failed || met) && change.is("SuccessCriteriaMet") && change.is("Failed")) {
    conditions_error("cannot set SuccessCriteriaMet=True and Failed=true conditions", errors);
  }
  if ((met || change.turned("FailureTarget")) && change.is("SuccessCriteriaMet") &&
      change.is("FailureTarget")) {
    conditions_error("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions",
                     errors);
  }
}

void check_finished(const Change& change, FieldErrors* errors) {
  if (!change.finished()) return;
  const bool turned = change.finished_turned();
  const std::int64_t active = integer_at(change.now, "active").value_or(0);
  if ((turned || change.changed("active")) && active > 0) {
    errors->push_back(invalid("status.active", active, "active>0 is invalid for finished job"));
  }
  const std::int64_t terminating = integer_at(change.now, "terminating").value_or(0);
  if ((turned || change.changed("terminating")) && terminating > 0) {
    errors->push_back(
        invalid("status.terminating", terminating, "terminating>0 is invalid for finished job"));
  }
  const Json& uncounted = object_or_empty(change.now, {"uncountedTerminatedPods"});
  const bool some =
      !list_or_empty(uncounted, "succeeded").empty() || !list_or_empty(uncounted, "failed").empty();
  if ((turned || change.changed("uncountedTerminatedPods")) && some) {
    errors->push_back(invalid("status.uncountedTerminatedPods", uncounted,
                              "uncountedTerminatedPods needs to be empty for finished job"));
  }
  if ((turned || change.changed("startTime")) && member(change.now, "startTime") == nullptr) {
    const bool nothing_to_do =
        integer_at(object_or_empty(change.job, {"spec"}), "completions") == 0;
    if (!nothing_to_do) {
      errors->push_back(required("status.startTime", "startTime is required for finished job"));
    }
  }
}

void check_counters(const Change& change, FieldErrors* errors) {
  const auto shrank = [&](const char* name) {
    return integer_at(change.now, name).value_or(0) < integer_at(change.before, name).value_or(0);
  };
  if (shrank("failed")) {
    errors->push_back(invalid("status.failed", integer_at(change.now, "failed").value_or(0),
                              "cannot decrease the failed counter"));
  }
  if (!change.indexed() && shrank("succeeded")) {
    errors->push_back(invalid("status.succeeded", integer_at(change.now, "succeeded").value_or(0),
                              "cannot decrease the succeeded counter"));
  }
  const std::int64_t ready = integer_at(change.now, "ready").value_or(0);
  const bool moved = change.changed("ready") || change.changed("active");
  if (moved && ready > integer_at(change.now, "active").value_or(0)) {
    errors->push_back(invalid("status.ready", ready, "cannot set more ready pods than active"));
  }
}

void check_kept(const Change& change, FieldErrors* errors) {
  for (const char* type : {"Failed", "Complete"}) {
    if (change.was(type) && !change.is(type)) {
      conditions_error(
          (std::string("cannot disable the terminal ") + type + "=True condition").c_str(), errors);
    }
  }
  for (const char* type : {"SuccessCriteriaMet", "FailureTarget"}) {
    if (change.was(type) && !change.is(type)) {
      conditions_error((std::string("cannot disable the ") + type + "=True condition").c_str(),
                       errors);
    }
  }
  const bool suspended = true_at(object_or_empty(change.job, {"spec"}), "suspend");
  if (!suspended && change.changed("startTime") && member(change.before, "startTime") != nullptr) {
    errors->push_back(invalid("status.startTime", value_or_null(change.now, "startTime"),
                              "field is immutable for unsuspended job once set"));
  }
  const Json* end = member(change.now, "completionTime");
  if (change.changed("completionTime") && end != nullptr &&
      member(change.before, "completionTime") != nullptr) {
    errors->push_back(invalid("status.completionTime", *end, "field is immutable"));
  }
}

}  // namespace

std::string index_list_error(std::string_view text, std::int64_t completions, std::int64_t* total) {
  std::optional<std::int64_t> previous;
  std::int64_t count = 0;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view part = text.substr(0, comma);
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
    const std::optional<std::int64_t> before = previous;
    while (!part.empty()) {
      const std::size_t dash = part.find('-');
      const std::string_view number = part.substr(0, dash);
      part = dash == std::string_view::npos ? "" : part.substr(dash + 1);
      const auto index = read_index(number);
      if (!index) {
        return "cannot convert string to integer for index: \"" + std::string(number) + "\"";
      }
      if (*index < 0 || *index >= completions) {
        return "too large index: \"" + std::string(number) + "\"";
      }
      if (previous && *index <= *previous) {
        return "non-increasing order, previous: " + std::to_string(*previous) +
               ", current: " + std::to_string(*index);
      }
      count += previous == before ? 1 : *index - *previous;
      previous = index;
    }
  }
  if (total != nullptr) *total = count;
  return {};
}

FieldErrors validate_job_status(const Json& job, const Json& old) {
  FieldErrors errors;
  const Change change{.job = job, .old = old};
  for (const char* name : {"active", "succeeded", "failed", "ready", "terminating"}) {
    check_not_negative(change.now, name, "status", &errors);
  }
  check_indexes(change, "completedIndexes", &errors);
  check_indexes(change, "failedIndexes", &errors);
  check_completion_time(change, &errors);
  check_conditions(change, &errors);
  check_finished(change, &errors);
  check_counters(change, &errors);
  check_kept(change, &errors);
  return errors;
}

}  // namespace regatta::manifest::builtin
