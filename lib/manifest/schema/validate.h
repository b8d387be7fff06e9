#pragma once

#include "lib/manifest/schema/schema.h"
#include "lib/manifest/strategy.h"

namespace regatta::manifest {

/// At most so many errors of one object are reported.
constexpr std::size_t schema_errors_max = 100;

/// Checks `value` against `schema` and appends what is wrong, with the messages and reasons that a
/// Kubernetes API server gives for custom resources. `field` is the place of `value` in the whole
/// object ("status", or empty); the message texts count from `value`, as Kubernetes' do. With
/// `old`, errors in parts that did not change are not reported.
void validate_schema(const Json& value, const Json* old, const Schema& schema,
                     const std::string& field, FieldErrors& errors);

/// Whether `errors` (from validate_schema) make CEL rules meaningless: wrong types, missing fields,
/// values out of an enum, texts and lists that are too long.
bool blocks_rules(const FieldErrors& errors);
/// The error that is reported in place of the rules' in that case.
FieldError rules_not_checked();

/// The item of the list `old` with the same keys as `item`, by `list_schema`; null when the list is
/// not a map or has no such item.
const Json* correlated_item(const Json& item, const Json* old, const Schema& list_schema);

}  // namespace regatta::manifest
