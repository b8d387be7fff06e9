#include "apiserver/patch/patch_object.h"

#include "apiserver/patch/go_text.h"

#include <nlohmann/json.hpp>

namespace regatta::apiserver {
namespace {

std::string_view json_type_name(const Json& value) {
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  if (value.is_number()) return "number";
  if (value.is_boolean()) return "bool";
  return "null";
}

std::string not_an_object(const Json& value) {
  return "json: cannot unmarshal " + std::string(json_type_name(value)) +
         " into Go value of type map[string]interface {}";
}

PatchAnswer<Json> patched_json(const PatchRequest& request, const Json& patch,
                               const Json& current) {
  if (request.type == PatchType::json) return json_patch(current, patch);
  const char* prefix = request.type == PatchType::merge ? "error decoding patch: " : "";
  if (!patch.is_object()) return bad_patch(prefix + not_an_object(patch));
  if (request.type == PatchType::strategic) {
    return strategic_merge(current, patch, request.writer.schema);
  }
  Json object = current;
  merge_patch(&object, patch);
  return object;
}

std::string text_at(const Json& object, const char* name) {
  auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The kind and version are not for a patch to change.
std::optional<PatchFailure> wrong_kind(const PatchRequest& request, const Json& object,
                                       const std::string& shown) {
  std::string version = text_at(object, "apiVersion");
  std::string kind = text_at(object, "kind");
  if (request.custom) {
    if (version == request.writer.api_version) return std::nullopt;
    return bad_patch("the API version in the data (" + version +
                     ") does not match the expected API version (" + request.writer.api_version +
                     ")");
  }
  if ((kind.empty() || kind == request.kind) &&
      (version.empty() || version == request.writer.api_version)) {
    return std::nullopt;
  }
  return invalid_patch_result(
      shown, "no kind " + go_quoted(kind) + " is registered for version " + go_quoted(version));
}

/// What strict decoding of the patched object finds: warnings, or a refusal.
PatchAnswer<std::vector<std::string>> check_patched(const PatchRequest& request, const Json& patch,
                                                    const Json& object) {
  auto shown = [&] {
    if (request.type == PatchType::strategic) return go_plain(patch);
    return request.show ? request.show(object) : dump_json(object);
  };
  if (!object.is_object()) {
    return invalid_patch_result(shown(), not_an_object(object));
  }
  std::string version = text_at(object, "apiVersion");
  bool same = version == request.writer.api_version && text_at(object, "kind") == request.kind;
  if (!same) {
    if (std::optional<PatchFailure> wrong = wrong_kind(request, object, shown())) return *wrong;
  }
  BodyKind kind{request.kind, request.writer.schema, request.custom, request.object_meta};
  BodyReport report = check_body(object, kind);
  if (report.type_error) return invalid_patch_result(shown(), *report.type_error);
  if (request.validation == FieldValidation::ignore) return std::vector<std::string>{};
  std::vector<std::string> found;
  // In the operations of a JSON patch it is not the object that repeats itself.
  if (request.type != PatchType::json) found = duplicate_field_messages(request.body);
  found.insert(found.end(), report.strict.begin(), report.strict.end());
  if (!found.empty() && request.validation == FieldValidation::strict) {
    return invalid_patch_result(shown(), strict_error_text(found));
  }
  return found;
}

PatchAnswer<Patched> apply_object(const PatchRequest& request, const Json& applied,
                                  const Json* current) {
  ApplyOptions options{request.writer, request.group, request.kind, request.force};
  PatchAnswer<Json> object = apply(current ? *current : Json::object(), applied, options);
  if (!object) return object.error();
  Patched patched{std::move(*object), {}};
  if (request.complete) request.complete(patched.object);
  if (current) ignore_time_only_change(&patched.object, *current);
  return patched;
}

}  // namespace

std::optional<PatchType> patch_type_of(std::string_view content_type) {
  if (content_type == "application/json-patch+json") return PatchType::json;
  if (content_type == "application/merge-patch+json") return PatchType::merge;
  if (content_type == "application/strategic-merge-patch+json") return PatchType::strategic;
  if (content_type == "application/apply-patch+yaml") return PatchType::apply;
  return std::nullopt;
}

std::string go_json_error(std::string_view text) {
  std::size_t at = text.size();
  try {
    Json ignored = Json::parse(text.begin(), text.end());
  } catch (const Json::parse_error& e) {
    at = e.byte == 0 ? 0 : e.byte - 1;
  } catch (const Json::exception&) {
    at = text.size();
  }
  if (at >= text.size()) return "unexpected end of JSON input";
  return std::string("invalid character '") + text[at] + "' looking for beginning of value";
}

PatchAnswer<Patched> patch_object(const PatchRequest& request, const Json* current) {
  if (request.applied) return apply_object(request, *request.applied, current);
  Result<Json> patch = parse_json(request.body);
  if (!patch) {
    std::string error = go_json_error(request.body);
    if (request.type == PatchType::apply) {
      return bad_patch("error decoding YAML: error converting YAML to JSON: " + error);
    }
    bool prefixed = request.type != PatchType::strategic;
    return bad_patch((prefixed ? "error decoding patch: " : "") + error);
  }
  if (request.type == PatchType::apply) return apply_object(request, *patch, current);
  static const Json nothing = Json::object();
  const Json& live = current ? *current : nothing;
  PatchAnswer<Json> object = patched_json(request, *patch, live);
  if (!object) return object.error();
  PatchAnswer<std::vector<std::string>> warnings = check_patched(request, *patch, *object);
  if (!warnings) return warnings.error();
  Patched patched{std::move(*object), std::move(*warnings)};
  if (request.complete) request.complete(patched.object);
  track_write(&patched.object, live, request.writer);
  ignore_time_only_change(&patched.object, live);
  return patched;
}

}  // namespace regatta::apiserver
