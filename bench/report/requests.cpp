#include "bench/report/requests.h"

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

void add_hub(Totals& all, const Requests::Key& key, std::int64_t count) {
  if (key.resource == "events") {
    all.hub_events += count;
  } else if (writes(key.verb)) {
    all.hub_writes += count;
  } else if (key.verb == "get") {
    all.hub_gets += count;
  }
}

void add_worker(Totals& all, const Requests::Key& key, std::int64_t count) {
  if (key.resource == "events") {
    all.worker_events += count;
  } else if (writes(key.verb)) {
    all.worker_writes += count;
    if (key.sent_by == "nodes") all.worker_writes_of_nodes += count;
  } else if (key.verb == "get") {
    all.worker_gets += count;
  }
}

}  // namespace

Requests Requests::from_report(std::string cluster, const Json& report) {
  Requests all(std::move(cluster));
  for (const Json& entry : report.at("requests")) {
    const std::string agent = text_at(entry, "userAgent");
    if (agent.starts_with(user_agent)) continue;
    const Key key{sender_of(agent), text_at(entry, "verb"),
                  with_subresource(text_at(entry, "resource"), text_at(entry, "subresource"))};
    all.add(key, entry.at("code").get<int>(), entry.at("count").get<std::int64_t>());
  }
  return all;
}

void Requests::add(const Key& key, std::int64_t code, std::int64_t count) {
  if (code == 409) conflicts_ += count;
  if (code >= 400) failures_ += count;
  counts_[key] += count;
}

std::string with_subresource(std::string resource, const std::string& subresource) {
  if (!subresource.empty()) resource += "/" + subresource;
  return resource;
}

Totals totals(const std::vector<Requests>& clusters) {
  Totals all;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    all.conflicts += clusters[i].conflicts();
    for (const auto& [key, count] : clusters[i].counts()) {
      if (key.resource == "leases" || key.resource.empty()) continue;
      if (i == 0) {
        add_hub(all, key, count);
      } else {
        add_worker(all, key, count);
      }
    }
  }
  return all;
}

}  // namespace regatta::bench
