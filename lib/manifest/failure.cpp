#include "lib/manifest/failure.h"

#include "lib/manifest/registry.h"

#include <nlohmann/json.hpp>

#include <stdexcept>

namespace regatta::manifest {
namespace {

std::string group_resource(std::string_view group, std::string_view plural) {
  std::string text(plural);
  if (!group.empty()) text.append(".").append(group);
  return text;
}

FailureDetails details_of(const ResourceType& type, std::string_view name) {
  FailureDetails details;
  details.name = name;
  details.group = type.group;
  details.kind = type.plural;
  return details;
}

Failure about(int code, std::string reason, const ResourceType& type, std::string_view name,
              std::string message) {
  Failure failure{code, std::move(reason), std::move(message)};
  failure.details = details_of(type, name);
  return failure;
}

Json to_json(const FailureDetails& details) {
  Json json = Json::object();
  if (!details.name.empty()) json["name"] = details.name;
  if (!details.group.empty()) json["group"] = details.group;
  if (!details.kind.empty()) json["kind"] = details.kind;
  if (!details.uid.empty()) json["uid"] = details.uid;
  for (const FieldError& cause : details.causes) {
    Json entry = Json::object();
    if (!cause.reason.empty()) entry["reason"] = cause.reason;
    if (!cause.message.empty()) entry["message"] = cause.message;
    if (!cause.field.empty()) entry["field"] = cause.field;
    json["causes"].push_back(std::move(entry));
  }
  if (details.retry_after_seconds > 0) json["retryAfterSeconds"] = details.retry_after_seconds;
  return json;
}

/// The messages of the causes, each once, in brackets when there are several.
std::string joined(const FieldErrors& causes) {
  std::vector<std::string> texts;
  for (const FieldError& cause : causes) {
    std::string text = cause.field + ": " + cause.message;
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) {
      texts.push_back(std::move(text));
    }
  }
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return texts.size() > 1 ? "[" + all + "]" : all;
}

}  // namespace

void throw_exception_from_error(const Failure& e, const boost::source_location&) {
  throw std::logic_error("value() of a refused request: " + e.message);
}

Json to_status(const Failure& failure) {
  Json status = {{"kind", "Status"},    {"apiVersion", "v1"},         {"metadata", Json::object()},
                 {"status", "Failure"}, {"message", failure.message}, {"code", failure.code}};
  if (!failure.continue_token.empty()) status["metadata"]["continue"] = failure.continue_token;
  if (!failure.reason.empty()) status["reason"] = failure.reason;
  if (failure.details) status["details"] = to_json(*failure.details);
  return status;
}

Json success_status(const std::optional<FailureDetails>& details, int code) {
  Json status = {{"kind", "Status"},
                 {"apiVersion", "v1"},
                 {"metadata", Json::object()},
                 {"status", "Success"}};
  if (details) status["details"] = to_json(*details);
  if (code != 0) status["code"] = code;
  return status;
}

std::string in_quotes(std::string_view text) {
  return Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
}

Failure not_found(const ResourceType& type, std::string_view name) {
  return not_found(type.group, type.plural, name);
}

Failure not_found(std::string_view group, std::string_view plural, std::string_view name) {
  Failure failure{404, "NotFound",
                  group_resource(group, plural) + " " + in_quotes(name) + " not found"};
  failure.details.emplace();
  failure.details->name = name;
  failure.details->group = group;
  failure.details->kind = plural;
  return failure;
}

Failure already_exists(const ResourceType& type, std::string_view name) {
  return about(409, "AlreadyExists", type, name,
               type.group_resource() + " " + in_quotes(name) + " already exists");
}

Failure conflict(const ResourceType& type, std::string_view name, std::string_view why) {
  return about(409, "Conflict", type, name,
               "Operation cannot be fulfilled on " + type.group_resource() + " " + in_quotes(name) +
                   ": " + std::string(why));
}

Failure modified_conflict(const ResourceType& type, std::string_view name) {
  return conflict(type, name,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

Failure forbidden(const ResourceType& type, std::string_view name, std::string_view why) {
  std::string subject = type.group_resource();
  if (!name.empty()) subject += " " + in_quotes(name);
  return about(403, "Forbidden", type, name, subject + " is forbidden: " + std::string(why));
}

Failure bad_request(std::string message) {
  return Failure{400, "BadRequest", std::move(message)};
}

Failure internal_error(std::string message) {
  return Failure{500, "", std::move(message)};
}

Failure invalid(std::string_view group, std::string_view kind, std::string_view name,
                FieldErrors causes) {
  Failure failure{
      422, "Invalid",
      group_resource(group, kind) + " " + in_quotes(name) + " is invalid: " + joined(causes)};
  failure.details.emplace();
  failure.details->name = name;
  failure.details->group = group;
  failure.details->kind = kind;
  failure.details->causes = std::move(causes);
  return failure;
}

Failure invalid_options(std::string_view kind, FieldErrors causes) {
  return invalid("meta.k8s.io", kind, "", std::move(causes));
}

Failure resource_not_found() {
  Failure failure{404, "NotFound", "the server could not find the requested resource"};
  failure.details.emplace();
  return failure;
}

Failure method_not_allowed() {
  Failure failure{405, "MethodNotAllowed",
                  "the server does not allow this method on the requested resource"};
  failure.details.emplace();
  return failure;
}

Failure page_not_found() {
  Failure failure{404, "", "404 page not found\n"};
  failure.plain_text = true;
  failure.nosniff = true;
  return failure;
}

Failure method_not_supported(const ResourceType& type, std::string_view action) {
  return about(405, "MethodNotAllowed", type, "",
               std::string(action) + " is not supported on resources of kind " +
                   in_quotes(type.group_resource()));
}

Failure expired(std::string message) {
  return Failure{410, "Expired", std::move(message)};
}

Failure future_version(std::uint64_t asked, std::uint64_t current) {
  Failure failure{504, "Timeout",
                  "Timeout: Too large resource version: " + std::to_string(asked) +
                      ", current: " + std::to_string(current)};
  failure.details.emplace();
  failure.details->causes.push_back({"ResourceVersionTooLarge", "", "Too large resource version"});
  failure.details->retry_after_seconds = 1;
  return failure;
}

}  // namespace regatta::manifest
