#include "lab/apiserver/options.h"

#include "lab/terms.h"
#include "lib/manifest/json_access.h"

#include <nlohmann/json.hpp>

#include <charconv>

namespace regatta::apiserver {
namespace {

constexpr std::size_t manager_bytes_max = 128;

std::string list_text(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ",") + in_quotes(value);
  return "[" + text + "]";
}

void check_dry_run(const std::vector<std::string>& values, bool* dry_run, FieldErrors& errors) {
  for (const std::string& value : values) {
    if (value == "All") {
      *dry_run = true;
    } else {
      errors.push_back({"FieldValueNotSupported", "dryRun",
                        "Unsupported value: " + list_text(values) + ": supported values: \"All\""});
      return;
    }
  }
}

void check_field_validation(const std::string& value, Validation* into, FieldErrors& errors) {
  if (value == "Ignore") {
    *into = Validation::ignore;
  } else if (value == "Strict") {
    *into = Validation::strict;
  } else if (value.empty() || value == "Warn") {
    *into = Validation::warn;
  } else {
    errors.push_back({"FieldValueNotSupported", "fieldValidation",
                      "Unsupported value: " + in_quotes(value) +
                          ": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\""});
  }
}

void check_propagation(const DeleteOptions& options, bool orphan_dependents_set,
                       FieldErrors& errors) {
  const std::string& policy = options.propagation_policy;
  if (!policy.empty() && orphan_dependents_set) {
    errors.push_back({"FieldValueInvalid", "propagationPolicy",
                      "Invalid value: " + in_quotes(policy) +
                          ": orphanDependents and deletionPropagation cannot be both set"});
    return;
  }
  if (!policy.empty() && policy != "Foreground" && policy != "Background" && policy != "Orphan") {
    errors.push_back({"FieldValueNotSupported", "propagationPolicy",
                      "Unsupported value: " + in_quotes(policy) +
                          ": supported values: \"Foreground\", \"Background\", \"Orphan\", "
                          "\"nil\""});
  }
}

Failure bad_list(const char* field, std::string reason, std::string message) {
  return invalid_options("ListOptions", {{std::move(reason), field, std::move(message)}});
}

std::optional<Failure> check_match(const ListOptions& o) {
  const std::string forbidden = "FieldValueForbidden";
  const char* field = "resourceVersionMatch";
  const std::string& match = o.resource_version_match;
  if (!o.watch && o.has_send_initial_events) {
    return bad_list("sendInitialEvents", forbidden,
                    "Forbidden: sendInitialEvents is forbidden for list");
  }
  if (o.watch) {
    if (!match.empty() && !o.has_send_initial_events) {
      return bad_list(field, forbidden,
                      "Forbidden: resourceVersionMatch is forbidden for watch unless "
                      "sendInitialEvents is provided");
    }
    if (o.has_send_initial_events && match != "NotOlderThan") {
      return bad_list(field, forbidden,
                      "Forbidden: sendInitialEvents requires setting resourceVersionMatch to "
                      "NotOlderThan");
    }
    return std::nullopt;
  }
  if (match.empty()) return std::nullopt;
  if (o.resource_version.empty()) {
    return bad_list(field, forbidden,
                    "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is "
                    "provided");
  }
  if (!o.continue_token.empty()) {
    return bad_list(field, forbidden,
                    "Forbidden: resourceVersionMatch is forbidden when continue is provided");
  }
  if (match != "Exact" && match != "NotOlderThan") {
    return bad_list(field, "FieldValueNotSupported",
                    "Unsupported value: " + in_quotes(match) +
                        ": supported values: \"Exact\", \"NotOlderThan\", \"\"");
  }
  if (match == "Exact" && o.resource_version == "0") {
    return bad_list(field, forbidden,
                    "Forbidden: resourceVersionMatch \"exact\" is forbidden for resourceVersion "
                    "\"0\"");
  }
  return std::nullopt;
}

Result<std::int64_t> integer(const std::string& text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || at != end) {
    return Error(Errc::invalid,
                 "strconv.ParseInt: parsing " + in_quotes(text) + ": invalid syntax");
  }
  return number;
}

}  // namespace

Answer<WriteOptions> read_write_options(const Query& query, std::string_view kind) {
  WriteOptions options;
  FieldErrors errors;
  options.force_set = query.has("force");
  options.force = query.flag("force");
  options.field_manager = query.get("fieldManager");
  if (options.field_manager.size() > manager_bytes_max) {
    errors.push_back(
        {"FieldValueTooLong", "fieldManager", "Too long: may not be more than 128 bytes"});
  }
  check_dry_run(query.all("dryRun"), &options.dry_run, errors);
  check_field_validation(query.get("fieldValidation"), &options.field_validation, errors);
  if (!errors.empty()) return invalid_options(kind, std::move(errors));
  return options;
}

std::string manager_name(const WriteOptions& options, std::string_view user_agent) {
  if (!options.field_manager.empty()) return options.field_manager;
  std::string manager(user_agent.substr(0, user_agent.find('/')));
  if (manager.size() > manager_bytes_max) manager.resize(manager_bytes_max);
  return manager.empty() ? "unknown" : manager;
}

Answer<DeleteOptions> read_delete_options(const Query& query, const Json* body) {
  DeleteOptions options;
  FieldErrors errors;
  bool orphan_set = false;
  if (body) {
    options.grace_period_seconds = integer_at(*body, "gracePeriodSeconds");
    options.propagation_policy = text_at(*body, "propagationPolicy");
    if (const Json* preconditions = member(*body, "preconditions")) {
      options.uid = text_at(*preconditions, "uid");
      options.resource_version = text_at(*preconditions, "resourceVersion");
    }
    if (const Json* orphan = member(*body, "orphanDependents"); orphan && orphan->is_boolean()) {
      orphan_set = true;
      check_propagation(options, true, errors);
      if (options.propagation_policy.empty()) {
        options.propagation_policy = orphan->get<bool>() ? "Orphan" : "Background";
      }
    }
    std::vector<std::string> dry_run;
    if (const Json* values = member(*body, "dryRun"); values && values->is_array()) {
      for (const Json& value : *values) {
        if (value.is_string()) dry_run.push_back(value.get<std::string>());
      }
    }
    check_dry_run(dry_run, &options.dry_run, errors);
  } else {
    options.propagation_policy = query.get("propagationPolicy");
    check_dry_run(query.all("dryRun"), &options.dry_run, errors);
    if (query.has("gracePeriodSeconds")) {
      const Result<std::int64_t> seconds = integer(query.get("gracePeriodSeconds"));
      if (!seconds) return bad_request(seconds.error().what());
      options.grace_period_seconds = *seconds;
    }
    if (query.has("orphanDependents")) {
      options.propagation_policy = query.flag("orphanDependents") ? "Orphan" : "Background";
    }
  }
  if (!orphan_set) check_propagation(options, false, errors);
  if (!errors.empty()) return invalid_options("DeleteOptions", std::move(errors));
  return options;
}

Answer<ListOptions> read_list_options(const RequestInfo& info) {
  ListOptions o;
  const Query& query = info.query;
  o.watch = info.verb == "watch";
  o.label_selector = query.get("labelSelector");
  o.field_selector = query.get("fieldSelector");
  o.resource_version = query.get("resourceVersion");
  o.resource_version_match = query.get("resourceVersionMatch");
  o.continue_token = query.get("continue");
  o.allow_bookmarks = query.flag("allowWatchBookmarks");
  o.has_send_initial_events = query.has("sendInitialEvents");
  o.send_initial_events = query.flag("sendInitialEvents");
  for (const auto& [name, into] :
       {std::pair{"limit", &o.limit}, std::pair{"timeoutSeconds", &o.timeout_seconds}}) {
    if (query.get(name).empty()) continue;
    const Result<std::int64_t> number = integer(query.get(name));
    if (!number) return bad_request(number.error().what());
    *into = *number;
  }
  if (o.limit < 0) o.limit = 0;
  if (auto failure = check_match(o)) return std::move(*failure);
  return o;
}

Result<std::uint64_t> parse_version(std::string_view text) {
  if (text.empty()) return std::uint64_t{0};
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || at != end) return Error(Errc::invalid, version_error(text));
  return number;
}

std::string version_error(std::string_view text) {
  return "resourceVersion: Invalid value: " + in_quotes(text) + ": strconv.ParseUint: parsing " +
         in_quotes(text) + ": invalid syntax";
}

}  // namespace regatta::apiserver
