#pragma once

#include "lib/api/meta.h"
#include "lib/base/json.h"

#include <cstdint>
#include <optional>
#include <string>

/// Values of labels and annotations, read as upstream reads them.
namespace regatta::jobs {

/// A whole number as Go's strconv.Atoi reads it; otherwise its complaint.
std::optional<std::int64_t> whole_number(const std::string& text, std::string* complaint);

/// A truth value as Go's strconv.ParseBool reads it.
std::optional<bool> truth(const std::string& text);

/// The annotations of a template of pods; what is no text is left out.
api::StringMap template_annotations(const Json& pod_template);

}  // namespace regatta::jobs
