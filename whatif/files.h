#pragma once

#include "lib/base/error.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::whatif {

/// The path itself when it is a file; when it is a folder, the files below it with one of these
/// extensions, sorted. An Error, which names the path, when there is none.
Result<std::vector<std::string>> files_of(const std::string& path,
                                          std::initializer_list<std::string_view> extensions);

/// The text of a file of at most that size; an Error names the path. "-" is standard input.
Result<std::string> read_file(const std::string& path, std::size_t bytes_max);

}  // namespace regatta::whatif
