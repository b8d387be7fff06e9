#pragma once

#include "lab/apiserver/patch/field_set.h"
#include "lab/terms.h"
#include "lib/manifest/schema/schema.h"

#include <optional>
#include <string>
#include <vector>

/// Objects as server-side apply sees them: a JSON value with a schema. The schema says which parts
/// are owned as a whole (scalars, atomic lists and maps), and what identifies an element of a list.
/// Without a schema maps are granular and everything else is atomic.
namespace regatta::apiserver {

/// How a value is divided under a schema.
enum class Shape { leaf, map, set_list, map_list };
Shape shape_of(const Schema* schema, const Json& value);

/// The path element of an item of a set or map list; an Error without a path when it has none.
Result<std::string> item_element(const Schema& list, const Json& item);

/// The reasons why an applied object cannot be typed, one `path: message` each. Live objects may
/// have duplicate list elements, applied ones may not.
std::vector<std::string> typing_errors(const Json& object, const Schema* schema);

/// The paths that a manager owns after it applied this object.
FieldSet field_set_of(const Json& object, const Schema* schema);

struct Comparison {
  FieldSet changed;  ///< added, or with another value
  FieldSet removed;
  bool empty() const { return changed.empty() && removed.empty(); }
};
/// `skipped` members are left out, with everything below them. Only names of members are compared;
/// a skipped object with further names is compared inside.
Comparison compare(const Json& before, const Json& after, const Schema* schema,
                   const FieldSet* skipped = nullptr);

/// `live` with `applied` laid over it. Items of lists have the order of `applied`; items that only
/// `live` has keep their position among them.
Json merge_typed(const Json& live, const Json& applied, const Schema* schema);

/// `object` without the paths of `set`. A container that becomes empty is removed, too.
Json remove_fields(const Json& object, const FieldSet& set, const Schema* schema);

/// Adds every property's path that has paths below it: when all fields of a structure are removed,
/// the structure is removed.
FieldSet with_named_parents(const FieldSet& set, const Schema* schema);

}  // namespace regatta::apiserver
