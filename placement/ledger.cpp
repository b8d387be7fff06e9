#include "placement/ledger.h"

#include <algorithm>

namespace regatta::placement {

void Ledger::forget(const api::ObjectKey& key, const std::string& cluster) {
  const auto entry = entries_.find(key);
  if (entry == entries_.end()) return;
  const auto found = entry->second.find(cluster);
  if (found == entry->second.end()) return;
  by_age_.erase({found->second, key, cluster});
  entry->second.erase(found);
  if (entry->second.empty()) entries_.erase(entry);
  if (--counts_[cluster] == 0) counts_.erase(cluster);
}

void Ledger::record(const api::ObjectKey& key, const std::vector<std::string>& clusters,
                    SteadyPoint now) {
  if (const auto entry = entries_.find(key); entry != entries_.end()) {
    std::vector<std::string> left;
    for (const auto& [cluster, since] : entry->second) {
      if (std::find(clusters.begin(), clusters.end(), cluster) == clusters.end()) {
        left.push_back(cluster);
      }
    }
    for (const std::string& cluster : left) forget(key, cluster);
  }
  for (const std::string& cluster : clusters) {
    if (!entries_[key].try_emplace(cluster, now).second) continue;
    by_age_.emplace(now, key, cluster);
    ++counts_[cluster];
  }
}

bool Ledger::release(const api::ObjectKey& key) {
  waits_.erase(key);
  const auto entry = entries_.find(key);
  if (entry == entries_.end()) return false;
  std::vector<std::string> clusters;
  for (const auto& [cluster, since] : entry->second) clusters.push_back(cluster);
  for (const std::string& cluster : clusters) forget(key, cluster);
  return true;
}

void Ledger::expire(SteadyPoint now) {
  while (!by_age_.empty() && now - std::get<0>(*by_age_.begin()) >= config_.counts_for) {
    const auto [since, key, cluster] = *by_age_.begin();
    forget(key, cluster);
  }
}

std::set<std::string> Ledger::full(SteadyPoint now) {
  expire(now);
  std::set<std::string> out;
  for (const auto& [cluster, count] : counts_) {
    if (count >= config_.in_flight_max) out.insert(cluster);
  }
  return out;
}

void Ledger::wait(const api::ObjectKey& key) {
  if (waits_.insert(key).second) waiting_.push_back(key);
}

std::optional<api::ObjectKey> Ledger::next_waiting() {
  while (!waiting_.empty()) {
    api::ObjectKey key = std::move(waiting_.front());
    waiting_.pop_front();
    if (waits_.erase(key) > 0) return key;
  }
  return std::nullopt;
}

std::optional<Duration> Ledger::next_room(SteadyPoint now) const {
  if (by_age_.empty()) return std::nullopt;
  return std::max(Duration(0), config_.counts_for - (now - std::get<0>(*by_age_.begin())));
}

std::size_t Ledger::in_flight(const std::string& cluster) const {
  const auto found = counts_.find(cluster);
  return found == counts_.end() ? 0 : found->second;
}

}  // namespace regatta::placement
