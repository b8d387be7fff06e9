#pragma once

#include "lab/federation/layout.h"

#include <string>

namespace regatta::lab {

// The bodies of `regatta-lab …`; each answers the exit code.

/// Where a sandbox is when nothing says so: $XDG_STATE_HOME/regatta/sandbox, or below ~/.local.
std::string default_folder();

/// Fills in what the command line leaves open: binary, $KUBEBUILDER_ASSETS, and the folder, made
/// absolute unless both are empty.
void complete(LayoutOptions* options, const std::string& folder);

int sandbox_up(LayoutOptions options);
int sandbox_down(const std::string& folder);
int sandbox_status(const std::string& folder, bool json);
int sandbox_restart(const std::string& folder, const std::string& component);
int sandbox_stop(const std::string& folder, const std::string& component);
int sandbox_rotate(const std::string& folder, const std::string& worker);
/// The last `lines` lines; the whole path is printed first on standard error.
int sandbox_logs(const std::string& folder, const std::string& component, int lines);

}  // namespace regatta::lab
