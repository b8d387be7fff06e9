#include "lib/api/hostname_runs.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace regatta::api {
namespace {

/// The prefixes of each name, short ones first, and how many names have each.
struct Prefixes {
  std::vector<std::vector<std::string_view>> of_name;
  std::unordered_map<std::string_view, std::size_t> names;
  std::size_t most = 0;  ///< of one name
};

Prefixes find_prefixes(const std::vector<std::string>& names) {
  Prefixes out;
  out.of_name.resize(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string_view name = names[i];
    for (std::size_t end = 0; end + 1 < name.size(); ++end) {
      if (name[end] != '-') continue;
      out.of_name[i].push_back(name.substr(0, end + 1));
      ++out.names[out.of_name[i].back()];
    }
    out.most = std::max(out.most, out.of_name[i].size());
  }
  return out;
}

/// The longest shared one among the first `depth` prefixes of a name; empty when there is none.
std::string_view shared_prefix(const Prefixes& prefixes, std::size_t name, std::size_t depth) {
  const std::vector<std::string_view>& candidates = prefixes.of_name[name];
  for (std::size_t i = std::min(depth, candidates.size()); i > 0; --i) {
    if (prefixes.names.at(candidates[i - 1]) > 1) return candidates[i - 1];
  }
  return {};
}

}  // namespace

std::vector<std::size_t> hostname_runs(const std::vector<std::string>& names, std::size_t runs_max,
                                       std::size_t length_max) {
  const Prefixes prefixes = find_prefixes(names);
  for (std::size_t depth = prefixes.most; depth > 0; --depth) {
    std::vector<std::size_t> begins = {0};
    std::size_t runs = 0;
    std::string_view before = shared_prefix(prefixes, 0, depth);
    for (std::size_t i = 1; i <= names.size(); ++i) {
      const std::string_view here =
          i < names.size() ? shared_prefix(prefixes, i, depth) : std::string_view();
      if (i < names.size() && here == before) continue;
      runs += (i - begins.back() + length_max - 1) / length_max;
      if (i < names.size()) begins.push_back(i);
      before = here;
    }
    if (runs <= runs_max) return begins;
  }
  return {0};
}

}  // namespace regatta::api
