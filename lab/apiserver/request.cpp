#include "lab/apiserver/request.h"

#include <algorithm>

namespace regatta::apiserver {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> segments;
  std::size_t at = 0;
  while (at < path.size()) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    if (end > at) segments.push_back(percent_decoded(path.substr(at, end - at), false));
    at = end + 1;
  }
  return segments;
}

std::string verb_of(const std::string& method, const RequestInfo& info) {
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return info.name.empty() ? "deletecollection" : "delete";
  if (method == "GET" || method == "HEAD") {
    if (info.deprecated_watch) return "watch";
    if (!info.name.empty()) return "get";
    return info.query.flag("watch") ? "watch" : "list";
  }
  std::string verb = method;
  std::transform(verb.begin(), verb.end(), verb.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return verb;
}

/// Reads the part after the group version: [watch/][namespaces/<ns>/]<plural>[/<name>[/<sub>]].
void read_resource(RequestInfo& info, std::size_t at) {
  const auto& s = info.segments;
  if (at < s.size() && s[at] == "watch" && s.size() > at + 1) {
    info.deprecated_watch = true;
    ++at;
  }
  const bool below_namespace = at + 2 < s.size() && s[at] == "namespaces";
  const bool namespace_subresource = below_namespace && info.group.empty() && s.size() == at + 3 &&
                                     (s[at + 2] == "status" || s[at + 2] == "finalize");
  if (below_namespace && !namespace_subresource) {
    info.ns = s[at + 1];
    info.has_namespace = true;
    at += 2;
  }
  if (at < s.size()) info.plural = s[at];
  if (at + 1 < s.size()) info.name = s[at + 1];
  if (at + 2 < s.size()) info.subresource = s[at + 2];
  info.too_long = at + 3 < s.size();
  info.resource_request = true;
}

}  // namespace

std::string percent_decoded(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() + 0 && hex_digit(text[i + 1]) >= 0 &&
        hex_digit(text[i + 2]) >= 0) {
      out += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      out += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

Query::Query(std::string_view raw) {
  std::size_t at = 0;
  while (at < raw.size()) {
    const std::size_t end = std::min(raw.find('&', at), raw.size());
    const std::string_view part = raw.substr(at, end - at);
    const std::size_t equals = part.find('=');
    std::string name = percent_decoded(part.substr(0, equals), true);
    std::string value =
        equals == std::string_view::npos ? "" : percent_decoded(part.substr(equals + 1), true);
    if (!name.empty()) values_.emplace(std::move(name), std::move(value));
    at = end + 1;
  }
}

const std::string& Query::get(std::string_view name) const {
  static const std::string empty;
  const auto found = values_.lower_bound(name);
  return found != values_.end() && found->first == name ? found->second : empty;
}

std::vector<std::string> Query::all(std::string_view name) const {
  std::vector<std::string> values;
  const auto [first, last] = values_.equal_range(name);
  for (auto it = first; it != last; ++it) values.push_back(it->second);
  return values;
}

bool Query::flag(std::string_view name) const {
  if (!has(name)) return false;
  const std::string& value = get(name);
  return value != "0" && value != "false" && value != "False" && value != "FALSE";
}

bool UserInfo::in_group(std::string_view group) const {
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

RequestInfo parse_request(const net::HttpRequest& request) {
  RequestInfo info;
  const std::string_view target = request.target;
  const std::size_t mark = target.find('?');
  info.path = percent_decoded(target.substr(0, mark), false);
  info.segments = split_path(target.substr(0, mark));
  if (mark != std::string_view::npos) info.query = Query(target.substr(mark + 1));

  const auto& s = info.segments;
  if (s.size() > 2 && s[0] == "api") {
    info.version = s[1];
    read_resource(info, 2);
  } else if (s.size() > 3 && s[0] == "apis") {
    info.group = s[1];
    info.version = s[2];
    read_resource(info, 3);
  }
  info.verb = verb_of(request.method, info);
  if (!info.resource_request) {
    info.verb = request.method;
    std::transform(info.verb.begin(), info.verb.end(), info.verb.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  }
  return info;
}

}  // namespace regatta::apiserver
