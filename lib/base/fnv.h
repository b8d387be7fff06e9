#pragma once

#include <cstdint>
#include <string_view>

namespace regatta {

constexpr std::uint64_t fnv1a_start = 14695981039346656037ull;

/// FNV-1a of 64 bits: the same on every machine and in every release, which std::hash is not. For
/// orders and names, never against an adversary. `hash`: of the text before this one.
constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = fnv1a_start) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return hash;
}

}  // namespace regatta
