#pragma once

// Objects whose spec the reader has already, in the same words. Most events of a Workload, and most
// answers to writes, bring a new status with an old spec. Then the spec is cut out of the text and
// taken from the object that has it, which saves more than half of the reading.

#include "lib/api/codec.h"
#include "lib/api/raw_json.h"
#include "lib/api/resource.h"
#include "lib/kube/outline.h"

#include <nlohmann/json.hpp>

#include <concepts>
#include <string>
#include <string_view>

namespace regatta::kube {

/// Types that keep the text of their spec as it came.
template <class T>
concept KeepsSpec = requires(T& object) {
  object.spec;
  requires std::same_as<decltype(object.raw_spec), api::RawJson>;
};

/// Whether reading `text`, the spec of the object, gives what `known` was read from. It does if it
/// is the same text of the same version of the API.
bool is_spec(std::string_view text, const Outline& object, const api::ResourceInfo& resource,
             const api::RawJson& known);

/// Cuts the spec out of the text of an object if it is `known`, and says whether it did.
bool cut_spec(std::string* text, const api::ResourceInfo& resource, const api::RawJson& known);

/// from_json() of a tree whose spec was cut out when `spec_from` is not null: it has that spec.
template <class T>
Result<T> read_with_spec(const Json& tree, const T* spec_from) {
  Result<T> object = api::from_json<T>(tree);
  if constexpr (KeepsSpec<T>) {
    // Of two specs in one text only the first was cut, and the last one counts.
    if (object && spec_from && !tree.contains("spec")) {
      object->spec = spec_from->spec;
      object->raw_spec = spec_from->raw_spec;
    }
  }
  return object;
}

/// decode() of an object that may have the spec of `known`.
template <class T>
Result<T> decode_like(const T& known, std::string text) {
  if constexpr (KeepsSpec<T>) {
    const bool same = cut_spec(&text, T::resource, known.raw_spec);
    Result<Json> tree = parse_json(text);
    if (!tree) return tree.error();
    Result<T> object = read_with_spec(*tree, same ? &known : nullptr);
    discard(&*tree);
    return object;
  } else {
    return api::decode<T>(text);
  }
}

}  // namespace regatta::kube
