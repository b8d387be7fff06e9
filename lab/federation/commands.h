#pragma once

#include "lab/federation/layout.h"

#include <string>

namespace regatta::lab {

// The bodies of `regatta-lab …`. Each returns the exit code.

/// The default folder of a sandbox: $XDG_STATE_HOME/regatta/sandbox, or below ~/.local.
std::string default_folder();

/// Fills in what the command line leaves out: binary, $KUBEBUILDER_ASSETS, and the folder, as an
/// absolute path unless both are empty.
void complete(LayoutOptions* options, const std::string& folder);

int sandbox_up(LayoutOptions options);
int sandbox_down(const std::string& folder);
int sandbox_status(const std::string& folder, bool json);
int sandbox_restart(const std::string& folder, const std::string& component);
int sandbox_stop(const std::string& folder, const std::string& component);
int sandbox_rotate(const std::string& folder, const std::string& worker);
/// Prints the last `lines` lines; first the whole path on standard error.
int sandbox_logs(const std::string& folder, const std::string& component, int lines);

}  // namespace regatta::lab
