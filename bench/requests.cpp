#include "bench/requests.h"

#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

namespace regatta::bench {
namespace {

std::string sender_of(const std::string& agent) {
  if (agent.starts_with("regatta-manager")) return "manager";
  if (agent.starts_with("regatta-sandbox")) return "nodes";
  return "hub manager";
}

bool writes(const std::string& verb) {
  return verb == "create" || verb == "update" || verb == "patch" || verb == "apply" ||
         verb == "delete" || verb == "deletecollection";
}

}  // namespace

Requests::Requests(std::string cluster, const Json& report) : cluster_(std::move(cluster)) {
  for (const Json& entry : report.at("requests")) {
    const std::string agent = text_at(entry, "userAgent");
    if (agent.starts_with(user_agent)) continue;
    Key key;
    key.sent_by = sender_of(agent);
    key.verb = text_at(entry, "verb");
    key.resource = text_at(entry, "resource");
    const std::string subresource = text_at(entry, "subresource");
    if (!subresource.empty()) key.resource += "/" + subresource;
    const auto count = entry.at("count").get<std::int64_t>();
    const auto code = entry.at("code").get<int>();
    if (code == 409) conflicts_ += count;
    if (code >= 400) failures_ += count;
    counts_[key] += count;
  }
}

Totals totals(const std::vector<Requests>& clusters) {
  Totals all;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const bool hub = i == 0;
    all.conflicts += clusters[i].conflicts();
    for (const auto& [key, count] : clusters[i].counts()) {
      if (key.resource == "leases" || key.resource.empty()) continue;
      if (key.resource == "events") {
        (hub ? all.hub_events : all.worker_events) += count;
      } else if (writes(key.verb)) {
        (hub ? all.hub_writes : all.worker_writes) += count;
      } else if (key.verb == "get") {
        (hub ? all.hub_gets : all.worker_gets) += count;
      }
    }
  }
  return all;
}

}  // namespace regatta::bench
