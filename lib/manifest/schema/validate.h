#pragma once

#include "lib/manifest/schema/schema.h"
#include "lib/manifest/strategy.h"

namespace regatta::manifest {

/// Errors reported of one object at most.
constexpr std::size_t schema_errors_max = 100;

/// Checks `value` against `schema` and appends what is wrong, with the messages and reasons a
/// Kubernetes API server gives for custom resources. `field` is where `value` stands in the whole
/// object ("status", or empty); as there, the message texts count from `value`. With `old`, what
/// did not change is not held against the writer.
void validate_schema(const Json& value, const Json* old, const Schema& schema,
                     const std::string& field, FieldErrors& errors);

/// Whether `errors` (from validate_schema) make CEL rules meaningless: wrong types, missing fields,
/// values out of an enum, texts and lists that are too long.
bool blocks_rules(const FieldErrors& errors);
/// What is reported instead of the rules then.
FieldError rules_not_checked();

/// The item of the list `old` that `item` of the list `schema` describes continues; null when the
/// list is not a map or has no such item.
const Json* correlated_item(const Json& item, const Json* old, const Schema& list_schema);

}  // namespace regatta::manifest
