#pragma once

#include "lab/apiserver/patch/field_set.h"
#include "lab/terms.h"
#include "lib/manifest/schema/schema.h"

#include <optional>
#include <string>
#include <vector>

/// Objects as server-side apply sees them: a JSON value together with the schema that says which
/// parts are owned as one (scalars, atomic lists and maps) and which element of a list is which.
/// A null schema stands for "typed by what is there": maps granular, everything else atomic.
namespace regatta::apiserver {

/// How a value under a schema is taken apart.
enum class Shape { leaf, map, set_list, map_list };
Shape shape_of(const Schema* schema, const Json& value);

/// The path element of an item of a set or map list; an error text without path when it has none.
Result<std::string> item_element(const Schema& list, const Json& item);

/// What keeps an applied object from being typed, one `path: message` each; empty when it is fine.
/// Live objects may hold duplicate list elements, applied ones may not.
std::vector<std::string> typing_errors(const Json& object, const Schema* schema);

/// The paths that a manager who applies this object owns.
FieldSet field_set_of(const Json& object, const Schema* schema);

struct Comparison {
  FieldSet changed;  ///< added, or with another value
  FieldSet removed;
  bool empty() const { return changed.empty() && removed.empty(); }
};
/// Members in `skipped` are not looked at, nor is what is below them; only names of members count,
/// and a skipped object that holds further names is looked into.
Comparison compare(const Json& before, const Json& after, const Schema* schema,
                   const FieldSet* skipped = nullptr);

/// `live` with everything that `applied` has laid over it. Items of lists keep the order of
/// `applied`; those that only `live` has stay where they were among them.
Json merge_typed(const Json& live, const Json& applied, const Schema* schema);

/// `object` without the paths of `set`; a container that this empties goes as well.
Json remove_fields(const Json& object, const FieldSet& set, const Schema* schema);

/// Adds every properties' path that has paths below it: removing all that somebody owned in a
/// structure removes the structure.
FieldSet with_named_parents(const FieldSet& set, const Schema* schema);

}  // namespace regatta::apiserver
