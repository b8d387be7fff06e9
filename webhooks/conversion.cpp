#include "webhooks/conversion.h"

#include "lib/api/convert.h"
#include "lib/api/convert_topology.h"
#include "lib/api/field_errors.h"
#include "lib/api/names.h"
#include "lib/base/json_access.h"
#include "webhooks/shape.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace regatta::webhooks {
namespace {

/// Kinds with two forms. The other kinds differ in their version only, which the API server
/// changes by itself.
constexpr std::array<std::string_view, 5> convertible = {"LocalQueue", "ClusterQueue", "Cohort",
                                                         "Workload", "MultiKueueCluster"};
constexpr std::array<std::string_view, 6> others = {
    "AdmissionCheck", "MultiKueueConfig", "ProvisioningRequestConfig",
    "ResourceFlavor", "Topology",         "WorkloadPriorityClass"};

template <class List>
bool has(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool is_known_kind(std::string_view kind) {
  constexpr std::string_view suffix = "List";
  if (kind.ends_with(suffix)) kind.remove_suffix(suffix.size());
  return has(convertible, kind) || has(others, kind);
}

/// "v1beta1" or "v1beta2" of an apiVersion of Kueue's group; else empty.
std::string_view version_in(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  if (slash == std::string_view::npos || api_version.substr(0, slash) != api::kueue_group) {
    return {};
  }
  const std::string_view version = api_version.substr(slash + 1);
  return version == "v1beta1" || version == "v1beta2" ? version : std::string_view();
}

Error failed(std::string message) {
  return Error(Errc::invalid, std::move(message));
}

Status check_registered(const std::string& kind, const std::string& api_version) {
  if (!version_in(api_version).empty() && is_known_kind(kind)) return ok();
  // The place in the source is part of upstream's message.
  return failed("no kind " + api::in_quotes(kind) + " is registered for version " +
                api::in_quotes(api_version) + " in scheme \"pkg/runtime/scheme.go:111\"");
}

std::string type_name(std::string_view version, const std::string& kind) {
  return "*" + std::string(version) + "." + kind;
}

ShapeType type_of(std::string_view version, const std::string& kind) {
  return shape_type(version == "v1beta1" ? "v1beta1." + kind : kind);
}

Result<Json> convert_object(const Json& object, const std::string& wanted,
                            const api::ConvertOptions& options) {
  const std::string kind = text_at(object, "kind");
  const std::string api_version = text_at(object, "apiVersion");
  for (const auto& [value, name] :
       {std::pair(&kind, "Kind"), std::pair(&api_version, "apiVersion")}) {
    if (!value->empty()) continue;
    return failed("Object '" + std::string(name) + "' is missing in '" + dump_json(object) + "'");
  }
  if (const Status known = check_registered(kind, api_version); !known) return known.error();
  const std::string_view from = version_in(api_version);
  const bool has_two_forms = has(convertible, kind);
  Result<Json> read =
      has_two_forms ? read_shaped(object, type_of(from, kind)) : Result<Json>(Json());
  if (!read) return read.error();
  if (const Status known = check_registered(kind, wanted); !known) return known.error();
  const std::string_view to = version_in(wanted);
  if (from == to) {
    return failed("conversion is not allowed between same type " + type_name(from, kind));
  }
  if (!has_two_forms) {
    return failed(type_name(from, kind) + " is not convertible to " + type_name(to, kind));
  }
  if (const Status done = api::convert(*read, from, to, options); !done) return done.error();
  const std::string text = shaped_text(&*read, type_of(to, kind));
  *read = Json();  // before a second tree of its size is made
  return parse_json(text);
}

Result<Json> convert_all(const Json& request, const api::ConvertOptions& options) {
  const std::string& wanted = text_at(request, "desiredAPIVersion");
  Json out;  // upstream's answer to no objects is null
  for (const Json& object : list_or_empty(request, "objects")) {
    Result<Json> converted = convert_object(object, wanted, options);
    if (!converted) return converted.error();
    out.push_back(std::move(*converted));
  }
  return out;
}

bool is_text(const Json& parent, const char* name) {
  const Json& value = at_or_null(parent, name);
  return value.is_null() || value.is_string();
}

bool is_review(const Json& review) {
  const Json* request = object_at(review, "request");
  if (!request || !is_text(review, "kind") || !is_text(review, "apiVersion")) return false;
  const Json& objects = at_or_null(*request, "objects");
  return is_text(*request, "uid") && is_text(*request, "desiredAPIVersion") &&
         (objects.is_null() || objects.is_array());
}

}  // namespace

ConversionAnswer convert_review(std::string_view body, const Gates& gates) {
  const Result<Json> review = parse_json(body);
  if (!review || !is_review(*review)) return {400, Json()};
  const Json& request = *object_at(*review, "request");
  api::DomainAllowance allowance = api::allowance_of(body.size());
  Result<Json> objects = convert_all(request, {gates.hostname_prefixes, &allowance});
  Json result{{"metadata", Json::object()}, {"status", objects ? "Success" : "Failure"}};
  if (!objects) result["message"] = objects.error().what();
  Json answer = Json::object();
  for (const char* name : {"apiVersion", "kind"}) {
    if (const std::string& text = text_at(*review, name); !text.empty()) answer[name] = text;
  }
  answer["response"] = {{"uid", text_at(request, "uid")},
                        {"convertedObjects", objects ? std::move(*objects) : Json()},
                        {"result", std::move(result)}};
  return {200, std::move(answer)};
}

}  // namespace regatta::webhooks
