#include "visibility/media.h"

#include <map>
#include <string>

namespace regatta::visibility {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// Takes what stands before the next `mark`.
std::string_view take(std::string_view* text, char mark) {
  const std::size_t end = text->find(mark);
  const std::string_view head = trimmed(text->substr(0, end));
  *text = end == std::string_view::npos ? std::string_view() : text->substr(end + 1);
  return head;
}

using Parameters = std::map<std::string_view, std::string_view>;

std::string_view parameter(const Parameters& all, std::string_view name) {
  const auto found = all.find(name);
  return found == all.end() ? std::string_view() : found->second;
}

std::optional<Media> served(std::string_view type, const Parameters& parameters, bool discovery) {
  const std::string_view as = parameter(parameters, "as");
  if (as == "APIGroupDiscoveryList") {
    const bool known = parameter(parameters, "g") == "apidiscovery.k8s.io" &&
                       parameter(parameters, "v") == "v2" && type == "application/json";
    return known && discovery ? std::optional(Media::discovery) : std::nullopt;
  }
  // There are no tables: such a clause is passed over, and the next one counts.
  if (!as.empty()) return std::nullopt;
  if (type == "application/json" || type == "application/*" || type == "*/*") return Media::json;
  if (type == "application/yaml") return Media::yaml;
  return std::nullopt;
}

}  // namespace

std::optional<Media> negotiate(std::string_view accept, bool discovery) {
  if (trimmed(accept).empty()) return Media::json;
  while (!accept.empty()) {
    std::string_view clause = take(&accept, ',');
    const std::string_view type = take(&clause, ';');
    Parameters parameters;
    while (!clause.empty()) {
      std::string_view one = take(&clause, ';');
      const std::string_view name = take(&one, '=');
      parameters[name] = trimmed(one);
    }
    if (const auto media = served(type, parameters, discovery)) return media;
  }
  return std::nullopt;
}

}  // namespace regatta::visibility
