#pragma once

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// The types of API objects, as far as writing them and comparing them depends on types: an absent
/// list equals an empty one, "1" equals "1000m", and text shows members in the order of the type.
///
///   request ──read_shaped()──▶ Json with known members only ──▶ rules ──shaped_text()──▶ messages
namespace regatta::webhooks {

struct Shape;

struct ShapeType {
  enum class Kind {
    string,
    boolean,
    int32,
    int64,
    real,      ///< a number with a fraction
    real32,    ///< the same of 32 bit
    duration,  ///< "1h30m", to the nanosecond
    quantity,
    time,
    int_or_string,
    raw,  ///< any JSON
    list,
    map,
    structure,
  };
  Kind kind = Kind::raw;
  bool pointer = false;                      ///< being absent differs from being zero
  std::shared_ptr<const ShapeType> element;  ///< of a list or map
  const Shape* shape = nullptr;              ///< of a structure
};

struct ShapeField {
  std::string name;
  ShapeType type;
  bool omit_empty = false;
  bool omit_zero = false;
};

struct Shape {
  std::string name;
  std::vector<ShapeField> fields;  ///< in the order of the type
  std::map<std::string_view, std::size_t> by_name;
};

/// The structure of that name ("Workload", "v1beta1.Workload"), or a type made of it ("[]PodSet",
/// "*Admission"). A name that is in no listing is a bug.
ShapeType shape_type(std::string_view expression);

/// Reads `value` as that type. Members that the type does not have and members that are null are
/// dropped, quantities, times and durations are written canonically. What is empty or zero stays as
/// it is.
/// `invalid` when a value does not fit its type; the error names the path, except for quantities.
Result<Json> read_shaped(const Json& value, const ShapeType& type);

struct UnknownMember {
  std::string path;  ///< "spec.podSets[0].mincount"
  std::string name;
  std::vector<std::string_view> known;  ///< the names that the type has in its place
};

/// The members that the type does not have.
std::vector<UnknownMember> unknown_members(const Json& value, const ShapeType& type);

/// What Kubernetes writes for a value that read_shaped() has read: members in the order of the
/// type, what is empty left out or filled in. `value` is null when there is none.
std::string shaped_text(const Json* value, const ShapeType& type);

/// Whether two values that read_shaped() has read mean the same. A pointer is null when there is
/// none.
bool same_shaped(const Json* a, const Json* b, const ShapeType& type);

}  // namespace regatta::webhooks
