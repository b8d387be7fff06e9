#pragma once

/// Readers of foreign text, each fed with arbitrary bytes. What can be read is also used: it is
/// simulated, or played as a scenario. No input may cause a crash, a hang, or growth without bound.

#include <string_view>

namespace regatta::fuzz {

void manifests(std::string_view text);
void events(std::string_view text);  ///< events of a simulation with one queue
void scenario(std::string_view text);
void kubeconfig(std::string_view text);
void configuration(std::string_view text);

}  // namespace regatta::fuzz
