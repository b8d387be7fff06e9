#pragma once

#include <cstdint>
#include <optional>
#include <string>

/// Values of labels and annotations, read as upstream reads them.
namespace regatta::jobs {

/// A whole number as Go's strconv.Atoi reads it; otherwise its complaint.
std::optional<std::int64_t> whole_number(const std::string& text, std::string* complaint);

/// A truth value as Go's strconv.ParseBool reads it.
std::optional<bool> truth(const std::string& text);

}  // namespace regatta::jobs
