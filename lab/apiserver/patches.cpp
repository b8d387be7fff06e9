#include "lab/apiserver/decode.h"
#include "lab/apiserver/field_check.h"
#include "lab/apiserver/managed.h"
#include "lab/apiserver/patch/patch_object.h"
#include "lab/apiserver/resources.h"
#include "lab/apiserver/text.h"
#include "lab/terms.h"
#include "lib/api/yaml.h"
#include "lib/manifest/builtin/scalars.h"
#include "lib/manifest/json_access.h"
#include "lib/manifest/schema/builtin.h"
#include "lib/manifest/schema/structural.h"

#include <nlohmann/json.hpp>

namespace regatta::apiserver {
namespace {

constexpr std::string_view json_type = "application/json-patch+json";
constexpr std::string_view merge_type = "application/merge-patch+json";
constexpr std::string_view strategic_type = "application/strategic-merge-patch+json";
constexpr std::string_view apply_type = "application/apply-patch+yaml";

Failure failure_of(const PatchFailure& failure) {
  Failure result{failure.code, failure.reason, failure.message};
  if (failure.has_details) {
    result.details.emplace();
    result.details->causes = failure.causes;
  }
  return result;
}

std::string patch_type(const Exchange& exchange) {
  return media_type(exchange.request.headers.get("Content-Type"));
}

}  // namespace

bool is_apply(const Exchange& exchange) {
  return patch_type(exchange) == apply_type;
}

std::optional<Failure> check_patch(const Exchange& exchange, const ResourceType& type,
                                   const WriteOptions& options) {
  const std::string media = patch_type(exchange);
  const bool known = media == json_type || media == merge_type || media == apply_type ||
                     (media == strategic_type && !type.custom);
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
  if (media == apply_type && options.field_manager.empty()) {
    return invalid_options("PatchOptions", {{"FieldValueRequired", "fieldManager",
                                             "Required value: is required for apply patch"}});
  }
  if (media != apply_type && options.force_set) {
    return invalid_options(
        "PatchOptions",
        {{"FieldValueForbidden", "force", "Forbidden: may not be specified for non-apply patch"}});
  }
  return std::nullopt;
}

Answer<Json> patched_object(Core& core, Exchange& exchange, const ResourceType& type,
                            const Json* live, const WriteOptions& options,
                            std::string_view subresource) {
  PatchRequest patch;
  patch.type = *patch_type_of(patch_type(exchange));
  patch.body = exchange.request.body;
  Json applied;
  if (patch.type == PatchType::apply) {
    Result<Json> read = api::parse_yaml(exchange.request.body);
    if (!read) {
      return bad_request("error decoding YAML: error converting YAML to JSON: " +
                         read.error().what());
    }
    applied = std::move(*read);
    if (!applied.is_object() && !applied.is_null()) {
      return bad_request("error decoding YAML: error unmarshaling JSON: while decoding JSON: " +
                         not_an_object(applied));
    }
    patch.applied = &applied;
    const std::string uid = live ? "" : text_at(applied, {"metadata", "uid"});
    if (!uid.empty()) {
      return conflict(type, exchange.info.name,
                      "uid mismatch: the provided object specified uid " + uid +
                          ", and no existing object was found");
    }
  }
  const ManagedWrite write{type, manager_name(options, exchange.request.headers.get("User-Agent")),
                           std::string(subresource), core.clock.now()};
  patch.writer = writer_of(write);
  patch.group = type.group;
  patch.kind = type.kind;
  patch.force = options.force;
  patch.validation = options.field_validation;
  patch.custom = type.custom;
  patch.object_meta = object_meta_schema();
  std::optional<std::string> bad_scalar;
  patch.complete = [&type, &bad_scalar](Json& object) {
    bad_scalar = complete_object(object, type);
  };
  PatchAnswer<Patched> result = patch_object(patch, live);
  if (!result) return failure_of(result.error());
  if (bad_scalar) {
    const PatchFailure failure =
        invalid_patch_result(metadata_ordered_text(result->object), *bad_scalar);
    return failure_of(failure);
  }
  for (std::string& warning : result->warnings) exchange.warnings.push_back(std::move(warning));
  return std::move(result->object);
}

}  // namespace regatta::apiserver
