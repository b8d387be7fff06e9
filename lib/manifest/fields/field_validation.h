#pragma once

#include "lib/base/json.h"
#include "lib/manifest/schema/schema.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What is wrong with the body of a write beyond its values: fields that do not exist, fields given
/// twice, values of a type that the kind cannot hold. The wording is that of Kubernetes.
namespace regatta::manifest {

/// What a body is read as.
struct BodyKind {
  std::string kind;
  const Schema* schema = nullptr;  ///< the whole object; null: nothing is known but its JSON
  /// Custom resources: the schema is enforced by validation, not by decoding, so that only metadata
  /// (of ObjectMeta's schema) is decoded strictly.
  bool custom = false;
  const Schema* object_meta = nullptr;  ///< for custom resources
};

struct BodyReport {
  /// `unknown field "spec.nosuch"`, `duplicate field "data.a"`, in the order Kubernetes lists them.
  std::vector<std::string> strict;
  /// The first value that cannot be decoded: `json: cannot unmarshal number into Go struct field
  /// ConfigMap.data of type string`. Nothing when all can.
  std::optional<std::string> type_error;
};

/// Checks JSON text, which reads as `value`.
BodyReport check_body(std::string_view text, const BodyKind& kind, const Json& value);
/// The same for a value without a text, with its members in the order of their names.
BodyReport check_body(const Json& value, const BodyKind& kind);

/// `duplicate field "…"` of any JSON text, which reads as `value`.
std::vector<std::string> duplicate_field_messages(std::string_view text, const Json& value);

/// `strict decoding error: unknown field "a", unknown field "b"`.
std::string strict_error_text(const std::vector<std::string>& strict);

/// Drops empty lists and maps that a built-in type leaves out of its JSON: those it does not
/// require. Empty structures stay.
void drop_empty_members(Json* object, const Schema& schema);

enum class FieldValidation { ignore, warn, strict };
/// Reads the query parameter fieldValidation; the default is warn.
FieldValidation field_validation_of(std::string_view parameter);

}  // namespace regatta::manifest
