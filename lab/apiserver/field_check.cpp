#include "lab/apiserver/field_check.h"

#include "lab/apiserver/managed.h"
#include "lab/terms.h"
#include "lib/manifest/builtin/scalars.h"
#include "lib/manifest/json_access.h"
#include "lib/manifest/schema/builtin.h"
#include "lib/manifest/schema/structural.h"

#include <nlohmann/json.hpp>

namespace regatta::apiserver {

std::optional<Failure> check_fields(Exchange& exchange, const ResourceType& type, Json& object,
                                    const std::string& json_text, Validation validation) {
  const std::string head = type.kind + " in version " + in_quotes(type.version) +
                           " cannot be handled as a " + type.kind + ": ";
  const BodyKind kind{type.kind, type.schema.get(), type.custom, object_meta_schema()};
  BodyReport report =
      json_text.empty() ? check_body(object, kind) : check_body(json_text, kind, object);
  if (report.type_error) return bad_request(head + *report.type_error);
  if (!report.strict.empty() && validation == Validation::strict) {
    return bad_request(head + strict_error_text(report.strict));
  }
  if (validation == Validation::warn) {
    for (std::string& text : report.strict) exchange.warnings.push_back(std::move(text));
  }
  if (!type.custom && type.schema) {
    prune(object, *type.schema);
    drop_empty_members(&object, *type.schema);
    if (auto bad = normalize_scalars(object, *type.schema)) return bad_request(head + *bad);
  }
  return std::nullopt;
}

std::optional<std::string> complete_object(Json& object, const ResourceType& type) {
  if (!type.custom && type.schema) {
    prune(object, *type.schema);
    drop_empty_members(&object, *type.schema);
    if (auto bad = normalize_scalars(object, *type.schema)) return bad;
  }
  type.strategy->set_defaults(object);
  return std::nullopt;
}

}  // namespace regatta::apiserver
