#pragma once

/// Readers of what others wrote, each fed with arbitrary bytes. What can be read is also used: a
/// simulation runs it, a scenario is played. None may crash, hang or grow without bound.

#include <string_view>

namespace regatta::fuzz {

void manifests(std::string_view text);
void events(std::string_view text);  ///< of a simulation with one queue
void scenario(std::string_view text);
void kubeconfig(std::string_view text);
void configuration(std::string_view text);

}  // namespace regatta::fuzz
