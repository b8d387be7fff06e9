#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace regatta::cli {

/// `--frameworks`: the kinds of jobs that a hub sends. `into` has the default.
void add_frameworks(CLI::App* command, std::vector<std::string>* into);

}  // namespace regatta::cli
