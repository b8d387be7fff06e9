#include "apiserver/decode.h"
#include "apiserver/json_access.h"
#include "apiserver/resources.h"
#include "lib/api/yaml.h"

#include <nlohmann/json.hpp>

namespace regatta::apiserver {
namespace {

constexpr std::string_view json_patch = "application/json-patch+json";
constexpr std::string_view merge_patch = "application/merge-patch+json";
constexpr std::string_view strategic_patch = "application/strategic-merge-patch+json";
constexpr std::string_view apply_patch = "application/apply-patch+yaml";

std::string patch_type(const Exchange& exchange) {
  return media_type(exchange.request.headers.get("Content-Type"));
}

}  // namespace

bool is_apply(const Exchange& exchange) {
  return patch_type(exchange) == apply_patch;
}

std::optional<Failure> check_patch(const Exchange& exchange, const ResourceType& type,
                                   const WriteOptions& options) {
  const std::string media = patch_type(exchange);
  const bool known = media == json_patch || media == merge_patch || media == apply_patch ||
                     (media == strategic_patch && !type.custom);
  if (!known && type.custom) {
    return Failure{415, "UnsupportedMediaType",
                   "the body of the request was in an unknown format - accepted media types "
                   "include: application/json-patch+json, application/merge-patch+json, "
                   "application/apply-patch+yaml"};
  }
  if (!known) {
    Failure failure{415, "UnsupportedMediaType", "415: Unsupported Media Type"};
    failure.details.emplace();
    return failure;
  }
  if (media == apply_patch && options.field_manager.empty()) {
    return invalid_options("PatchOptions", {{"FieldValueRequired", "fieldManager",
                                             "Required value: is required for apply patch"}});
  }
  if (media != apply_patch && options.force_set) {
    return invalid_options(
        "PatchOptions",
        {{"FieldValueForbidden", "force", "Forbidden: may not be specified for non-apply patch"}});
  }
  return std::nullopt;
}

Answer<Json> patched_object(Core&, Exchange& exchange, const ResourceType&, const Json& live,
                            const WriteOptions&, std::string_view) {
  const std::string media = patch_type(exchange);
  if (media == apply_patch) {
    Result<Json> applied = api::parse_yaml(exchange.request.body);
    if (!applied) {
      return bad_request("error decoding YAML: error converting YAML to JSON: " +
                         applied.error().what());
    }
    Json object = live;
    object.merge_patch(*applied);
    return object;
  }
  Result<Json> patch = parse_json(exchange.request.body);
  if (!patch) return bad_request("error decoding patch: " + json_error_text(exchange.request.body));
  if (media == json_patch) {
    if (!patch->is_array()) {
      return bad_request(
          "error decoding patch: json: cannot unmarshal object into Go value of type "
          "[]handlers.jsonPatchOp");
    }
    try {
      return live.patch(*patch);
    } catch (const Json::exception&) {
      Failure failure{422, "Invalid",
                      "the server rejected our request due to an error in our request"};
      failure.details.emplace();
      return failure;
    }
  }
  Json object = live;
  object.merge_patch(*patch);
  return object;
}

}  // namespace regatta::apiserver
