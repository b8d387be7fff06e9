#pragma once

#include "lib/manifest/schema/schema.h"

#include <optional>
#include <string>
#include <string_view>

/// What Go's JSON decoder says about a value that its type cannot hold.
namespace regatta::manifest {

/// A JSON value as far as decoding into a scalar cares.
struct Token {
  enum class Kind { null, boolean, number, string, array, object } kind = Kind::null;
  std::string_view text;  ///< of a number its literal, of a string its decoded content
};

/// The structure a value is a field of: its Go name ("PodSpec") and the path from the root.
struct GoField {
  std::string_view structure;
  std::string_view path;
};

/// The error of decoding `token` as `schema` says; nothing when it fits.
std::optional<std::string> go_decode_error(const Token& token, const Schema& schema,
                                           const GoField& field);

/// "PodSpec" of "io.k8s.api.core.v1.PodSpec".
std::string_view go_type_name(const Schema& schema);

}  // namespace regatta::manifest
