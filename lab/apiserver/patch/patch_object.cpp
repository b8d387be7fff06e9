#include "lab/apiserver/patch/patch_object.h"

#include "lab/terms.h"
#include "lib/base/json_access.h"
#include "lib/base/json_syntax.h"
#include "lib/manifest/fields/go_text.h"
#include "lib/manifest/schema/builtin.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <initializer_list>

namespace regatta::apiserver {
namespace {

std::string_view json_type_name(const Json& value) {
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  if (value.is_number()) return "number";
  if (value.is_boolean()) return "bool";
  return "null";
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

/// An object with the members of `order` first, the others by name.
std::string ordered_text(const Json& object, std::initializer_list<const char*> order,
                         std::string (*text)(std::string_view name, const Json& value)) {
  std::string all;
  auto put = [&](const std::string& name, const Json& value) {
    all += (all.empty() ? "" : ",") + dump_json(name) + ":" + text(name, value);
  };
  for (const char* name : order) {
    auto found = object.find(name);
    if (found != object.end()) put(name, *found);
  }
  for (const auto& [name, value] : object.items()) {
    bool placed = std::find(order.begin(), order.end(), name) != order.end();
    if (!placed) put(name, value);
  }
  return "{" + all + "}";
}

std::string metadata_member_text(std::string_view name, const Json& value) {
  if (name != "managedFields" || !value.is_array()) return dump_json(value);
  std::string all;
  for (const Json& entry : value) {
    all += all.empty() ? "" : ",";
    if (!entry.is_object()) {
      all += dump_json(entry);
      continue;
    }
    all += ordered_text(entry,
                        {"manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1"},
                        [](std::string_view, const Json& member) { return dump_json(member); });
  }
  return "[" + all + "]";
}

/// The patched object as an answer shows it: metadata of built-in types in the order of
/// declaration, unless the patch was applied to it.
std::string shown_text(const PatchRequest& request, const Json& patch, const Json& object) {
  if (request.type == PatchType::strategic) return go_plain(patch);
  bool rewritten = request.type == PatchType::merge && patch.contains("metadata");
  if (request.custom || rewritten || !object.is_object()) return dump_json(object);
  return ordered_text(object, {}, [](std::string_view name, const Json& value) {
    if (name != "metadata" || !value.is_object()) return dump_json(value);
    return ordered_text(
        value,
        {"name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation",
         "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "labels",
         "annotations", "ownerReferences", "finalizers", "managedFields"},
        metadata_member_text);
  });
}

/// The error of reading the object as another built-in kind, which it claims to be.
std::string other_kind_error(const PatchRequest& request, const Json& object,
                             const std::string& version, const std::string& kind) {
  const std::size_t slash = version.find('/');
  const std::string group = slash == std::string::npos ? "" : version.substr(0, slash);
  const std::string number = slash == std::string::npos ? version : version.substr(slash + 1);
  const Schema* schema = builtin_schema(group, number, kind);
  if (!schema) {
    return "no kind " + go_quoted(kind) + " is registered for version " + go_quoted(version) +
           " in scheme \"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30\"";
  }
  BodyReport report = check_body(object, BodyKind{kind, schema, false, nullptr});
  if (report.type_error) return *report.type_error;
  const std::string own = request.group.empty() ? "core" : request.group;
  return "converting (" + number + "." + kind + ") to (" + own.substr(0, own.find('.')) + "." +
         request.kind + "): unknown conversion";
}

/// A patch must not change the kind and version.
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
  return invalid_patch_result(shown, other_kind_error(request, object, version, kind));
}

/// The members of `object` and of its metadata that differ from `current`. The others were checked
/// when they were written.
Json changed_part(const Json& object, const Json& current) {
  Json part = Json::object();
  for (const auto& [name, value] : object.items()) {
    const auto before = current.find(name);
    const bool there = before != current.end();
    if (there && *before == value) continue;
    const bool into = name == "metadata" && there && value.is_object() && before->is_object();
    part[name] = into ? changed_part(value, *before) : value;
  }
  return part;
}

/// The results of strict decoding of the patched object: warnings, or a refusal.
PatchAnswer<std::vector<std::string>> check_patched(const PatchRequest& request, const Json& patch,
                                                    const Json& object, const Json& current) {
  auto shown = [&] {
    return request.show ? request.show(object) : shown_text(request, patch, object);
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
  BodyReport report = check_body(changed_part(object, current), kind);
  if (report.type_error) return invalid_patch_result(shown(), *report.type_error);
  if (request.validation == FieldValidation::ignore) return std::vector<std::string>{};
  std::vector<std::string> found;
  // A JSON patch may have unknown members in its operations, other patches duplicate fields.
  found = request.type == PatchType::json ? json_patch_unknown_fields(patch)
                                          : duplicate_field_messages(request.body, patch);
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

std::string not_an_object(const Json& value) {
  return "json: cannot unmarshal " + std::string(json_type_name(value)) +
         " into Go value of type map[string]interface {}";
}

std::string go_json_error(std::string_view text) {
  const std::string why = json_syntax_error(text);
  return why.empty() ? "unexpected end of JSON input" : why;
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
  PatchAnswer<std::vector<std::string>> warnings = check_patched(request, *patch, *object, live);
  if (!warnings) return warnings.error();
  Patched patched{std::move(*object), std::move(*warnings)};
  if (request.complete) request.complete(patched.object);
  track_write(&patched.object, live, request.writer);
  ignore_time_only_change(&patched.object, live);
  return patched;
}

}  // namespace regatta::apiserver
