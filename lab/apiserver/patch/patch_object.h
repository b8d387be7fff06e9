#pragma once

#include "lab/apiserver/patch/apply.h"
#include "lab/apiserver/patch/json_patch.h"
#include "lab/apiserver/patch/managed_fields.h"
#include "lab/apiserver/patch/merge_patch.h"
#include "lab/apiserver/patch/patch_failure.h"
#include "lab/apiserver/patch/strategic_merge.h"
#include "lab/terms.h"
#include "lib/manifest/fields/field_validation.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The way of a PATCH request from its body to the object that is passed to the strategy.
namespace regatta::apiserver {

enum class PatchType { json, merge, strategic, apply };
/// The patch type of a Content-Type without parameters; unset when it is none of the four.
std::optional<PatchType> patch_type_of(std::string_view content_type);

struct PatchRequest {
  PatchType type = PatchType::merge;
  std::string_view body;
  /// The decoded body of an apply in YAML; null: `body` is JSON.
  const Json* applied = nullptr;
  Writer writer;
  std::string group;
  std::string kind;
  bool force = false;
  FieldValidation validation = FieldValidation::warn;
  /// A custom resource: its schema decides about fields, `object_meta` about metadata.
  bool custom = false;
  const Schema* object_meta = nullptr;
  /// Prunes and sets defaults, in place; called once, on the patched object. May be empty.
  std::function<void(Json&)> complete;
  /// The text of the patched object in a refusal; empty: as in Kubernetes, as far as JSON allows.
  std::function<std::string(const Json&)> show;
};

struct Patched {
  Json object;  ///< equal to the current one when the patch changed nothing
  std::vector<std::string> warnings;
};

/// `current` is the stored object in the version of the request; null when there is none, and then
/// only an apply may create it.
PatchAnswer<Patched> patch_object(const PatchRequest& request, const Json* current);

/// Go's message about a document that is not an object.
std::string not_an_object(const Json& value);

/// Go's message about malformed JSON.
std::string go_json_error(std::string_view text);

}  // namespace regatta::apiserver
