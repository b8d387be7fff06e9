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

/// A PATCH request from its body to the object that goes on to the strategy.
namespace regatta::apiserver {

enum class PatchType { json, merge, strategic, apply };
/// Of a Content-Type without parameters; nothing for what is none of the four.
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
  /// A custom resource: fields are judged by its schema, metadata by `object_meta`.
  bool custom = false;
  const Schema* object_meta = nullptr;
  /// Prunes and fills in defaults, in place; called once on the patched object. May be empty.
  std::function<void(Json&)> complete;
  /// How a refusal shows the patched object; empty: as Kubernetes does, as far as JSON tells.
  std::function<std::string(const Json&)> show;
};

struct Patched {
  Json object;  ///< equal to the current one when the patch changed nothing
  std::vector<std::string> warnings;
};

/// `current` is the stored object in the version of the request; null when there is none, which
/// only an apply may create.
PatchAnswer<Patched> patch_object(const PatchRequest& request, const Json* current);

/// What Go says of a document that should have been an object.
std::string not_an_object(const Json& value);

/// What Go says of malformed JSON, as well as can be known.
std::string go_json_error(std::string_view text);

}  // namespace regatta::apiserver
