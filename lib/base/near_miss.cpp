#include "lib/base/near_miss.h"

#include <algorithm>

namespace regatta {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

/// Levenshtein distance, without regard to case.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

constexpr std::size_t written_bytes_max = 100;

}  // namespace

std::string did_you_mean(std::string_view written, const std::vector<std::string_view>& known) {
  if (written.size() > written_bytes_max) return {};
  std::string_view best;
  std::size_t best_distance = written.size() / 3 + 1;
  for (const std::string_view candidate : known) {
    const std::size_t d = distance(written, candidate);
    if (d > best_distance || (d == best_distance && !best.empty())) continue;
    best = candidate;
    best_distance = d;
  }
  return best.empty() ? std::string() : "; did you mean \"" + std::string(best) + "\"?";
}

}  // namespace regatta
