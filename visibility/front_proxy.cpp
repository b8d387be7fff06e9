#include "visibility/front_proxy.h"

#include "lib/base/json.h"
#include "lib/base/lower_case.h"
#include "visibility/target.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::visibility {
namespace {

constexpr std::string_view everyone = "system:authenticated";

/// The value is a JSON list of texts.
Result<std::vector<std::string>> read_list(const api::ConfigMap& map, const std::string& key) {
  std::vector<std::string> out;
  const auto found = map.data.find(key);
  if (found == map.data.end() || found->second.empty()) return out;
  const auto list = parse_json(found->second);
  if (!list) return list.error().within(key);
  if (!list->is_array()) return Error(Errc::invalid, key + ": not a list");
  for (const Json& one : *list) {
    if (!one.is_string()) return Error(Errc::invalid, key + ": not a list of texts");
    out.push_back(one.get<std::string>());
  }
  return out;
}

/// The values of the first of these headers that is there.
std::vector<std::string> first_of(const std::vector<std::string>& names,
                                  const HeaderFields& headers) {
  std::vector<std::string> out;
  for (const std::string& name : names) {
    for (const auto& [key, value] : headers) {
      if (lower_case(key) == lower_case(name) && !value.empty()) out.push_back(value);
    }
    if (!out.empty()) break;
  }
  return out;
}

}  // namespace

Result<FrontProxy> read_front_proxy(const api::ConfigMap& map) {
  FrontProxy out;
  if (const auto ca = map.data.find("requestheader-client-ca-file"); ca != map.data.end()) {
    out.ca_pem = ca->second;
  }
  if (out.ca_pem.empty()) {
    return Error(
        Errc::invalid,
        "requestheader-client-ca-file is missing: the API server has no aggregation layer");
  }
  const std::pair<const char*, std::vector<std::string>*> lists[] = {
      {"requestheader-allowed-names", &out.allowed_names},
      {"requestheader-username-headers", &out.user_headers},
      {"requestheader-group-headers", &out.group_headers},
      {"requestheader-extra-headers-prefix", &out.extra_prefixes}};
  for (const auto& [key, list] : lists) {
    auto read = read_list(map, key);
    if (!read) return read.error();
    *list = std::move(*read);
  }
  if (out.user_headers.empty()) {
    return Error(Errc::invalid, "requestheader-username-headers names no header");
  }
  return out;
}

std::optional<User> user_of(const FrontProxy& proxy, std::string_view common_name,
                            const HeaderFields& headers) {
  if (common_name.empty()) return std::nullopt;
  const auto& allowed = proxy.allowed_names;
  if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), common_name) == allowed.end()) {
    return std::nullopt;
  }
  const std::vector<std::string> names = first_of(proxy.user_headers, headers);
  if (names.empty()) return std::nullopt;
  User user;
  user.name = names.front();
  user.groups = first_of(proxy.group_headers, headers);
  if (std::find(user.groups.begin(), user.groups.end(), everyone) == user.groups.end() &&
      user.name != "system:anonymous") {
    user.groups.emplace_back(everyone);
  }
  for (const auto& [key, value] : headers) {
    for (const std::string& prefix : proxy.extra_prefixes) {
      const std::string name = lower_case(key);
      if (!name.starts_with(lower_case(prefix))) continue;
      user.extra[percent_decoded(name.substr(prefix.size()))].push_back(value);
    }
  }
  return user;
}

}  // namespace regatta::visibility
