#include "lib/api/hostname_runs.h"

#include <algorithm>
#include <numeric>
#include <string_view>

namespace regatta::api {
namespace {

/// The longest prefix that a name shares with another one.
struct Prefix {
  std::string_view text;
  std::size_t parts = 0;  ///< each ends at a "-"
};

/// What may be part of a prefix. The last byte may not, as a prefix is shorter than its name.
std::string_view without_end(std::string_view name) {
  if (name.empty() || name.size() > hostname_bytes_max) return {};
  return name.substr(0, name.size() - 1);
}

std::size_t common_length(std::string_view a, std::string_view b) {
  const auto differing = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(differing.first - a.begin());
}

/// For each text, how many of its first bytes are also those of another one.
std::vector<std::size_t> shared_lengths(const std::vector<std::string_view>& texts) {
  std::vector<std::size_t> sorted(texts.size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::sort(sorted.begin(), sorted.end(),
            [&](std::size_t a, std::size_t b) { return texts[a] < texts[b]; });
  // In this order the text that has most in common with another one is beside it.
  std::vector<std::size_t> out(texts.size());
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const std::size_t length = common_length(texts[sorted[i - 1]], texts[sorted[i]]);
    for (const std::size_t text : {sorted[i - 1], sorted[i]}) {
      out[text] = std::max(out[text], length);
    }
  }
  return out;
}

Prefix prefix_in(std::string_view shared) {
  const std::string_view text = shared.substr(0, shared.rfind('-') + 1);
  return {text, static_cast<std::size_t>(std::count(text.begin(), text.end(), '-'))};
}

std::vector<Prefix> shared_prefixes(const std::vector<std::string>& names) {
  std::vector<std::string_view> texts;
  texts.reserve(names.size());
  for (const std::string& name : names) texts.push_back(without_end(name));
  const std::vector<std::size_t> lengths = shared_lengths(texts);
  std::vector<Prefix> out;
  out.reserve(names.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    out.push_back(prefix_in(texts[i].substr(0, lengths[i])));
  }
  return out;
}

std::size_t most_parts(const std::vector<Prefix>& prefixes) {
  std::size_t out = 0;
  for (const Prefix& prefix : prefixes) out = std::max(out, prefix.parts);
  return out;
}

/// Without its last part, if it has more than `parts`: a prefix of a shared one is shared as well.
void shorten(Prefix* prefix, std::size_t parts) {
  if (prefix->parts <= parts) return;
  prefix->text.remove_suffix(1);
  prefix->text = prefix->text.substr(0, prefix->text.rfind('-') + 1);
  --prefix->parts;
}

std::vector<std::size_t> begins_of(const std::vector<Prefix>& prefixes) {
  std::vector<std::size_t> out = {0};
  for (std::size_t i = 1; i < prefixes.size(); ++i) {
    if (prefixes[i].text != prefixes[i - 1].text) out.push_back(i);
  }
  return out;
}

/// How many runs of at most `length_max` of `names` names these make.
std::size_t count_runs(const std::vector<std::size_t>& begins, std::size_t names,
                       std::size_t length_max) {
  std::size_t out = 0;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::size_t end = i + 1 < begins.size() ? begins[i + 1] : names;
    out += (end - begins[i] + length_max - 1) / length_max;
  }
  return out;
}

}  // namespace

std::vector<std::size_t> hostname_runs(const std::vector<std::string>& names, std::size_t runs_max,
                                       std::size_t length_max) {
  std::vector<Prefix> prefixes = shared_prefixes(names);
  for (std::size_t parts = most_parts(prefixes); parts > 0; --parts) {
    for (Prefix& prefix : prefixes) shorten(&prefix, parts);
    std::vector<std::size_t> begins = begins_of(prefixes);
    if (count_runs(begins, names.size(), length_max) <= runs_max) return begins;
  }
  return {0};
}

}  // namespace regatta::api
