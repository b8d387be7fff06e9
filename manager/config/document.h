#pragma once

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

/// A configuration file on its way to what the manager runs with:
///
///   text ──read_document()──▶ Json of v1beta2 with defaults ──check_rules()──▶ field errors
///                                        │
///                                        └──decode_configuration()──▶ Configuration
namespace regatta::manager {

struct ConfigDocument {
  Json written;      ///< as it stands in the file
  bool old = false;  ///< written as v1beta1
  Json effective;    ///< as v1beta2, with defaults: what webhooks::read_shaped() makes of it
};

/// Reads a file strictly: an unknown field, a key that comes twice, a value of another type and
/// another kind of document are refused. An empty text is the default configuration.
Result<ConfigDocument> read_document(std::string_view text, const std::string& default_namespace);

/// A configuration in effect as Kueue would write it.
Json shown_configuration(const Json& effective);

}  // namespace regatta::manager
