#pragma once

#include "lab/terms.h"
#include "lib/manifest/failure.h"

#include <string>
#include <string_view>

namespace regatta::apiserver {

/// The kind of object that the client wants to see in place of the object itself.
enum class Representation { object, table, partial_metadata, partial_metadata_list };

/// The form of an answer.
struct Form {
  enum class Media { json, yaml, protobuf };
  Media media = Media::json;
  Representation as = Representation::object;
  std::string as_version;  ///< of Table and PartialObjectMetadata: v1 or v1beta1
  bool pretty = false;
  /// 2 for aggregated discovery (v2); 0 otherwise.
  int discovery = 0;
};

/// The forms that an endpoint can answer in.
struct Offer {
  bool transforms = true;  ///< Table and PartialObjectMetadata
  bool watch = false;
  bool discovery = false;  ///< aggregated discovery
  bool builtin = true;     ///< built-in handlers have another wording of the refusal
};

/// Chooses a form by the Accept header; 406 when none fits. `Failure` answers are sent in JSON or,
/// if the client accepts only that, in YAML or protobuf.
Answer<Form> negotiate(std::string_view accept, const Offer& offer);

/// The form of an error answer: the one of JSON, YAML and protobuf that the client prefers.
Form form_for_errors(std::string_view accept);

/// Whether to indent JSON: with ?pretty, or for browsers and curl.
bool wants_pretty(std::string_view pretty_parameter, bool has_parameter,
                  std::string_view user_agent);

/// The media type of a Content-Type header, lower case, without parameters.
std::string media_type(std::string_view content_type);

}  // namespace regatta::apiserver
