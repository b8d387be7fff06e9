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

std::vector<std::string> Ledger::release(const api::ObjectKey& key) {
  waits_.erase(key);
  std::vector<std::string> freed;
  const auto entry = entries_.find(key);
  if (entry == entries_.end()) return freed;
  for (const auto& [cluster, since] : entry->second) freed.push_back(cluster);
  for (const std::string& cluster : freed) forget(key, cluster);
  return freed;
}

std::vector<std::string> Ledger::expire(SteadyPoint now) {
  std::vector<std::string> freed;
  while (!by_age_.empty() && now - std::get<0>(*by_age_.begin()) >= config_.counts_for) {
    const auto [since, key, cluster] = *by_age_.begin();
    forget(key, cluster);
    freed.push_back(cluster);
  }
  return freed;
}

std::set<std::string> Ledger::full() const {
  std::set<std::string> out;
  for (const auto& [cluster, count] : counts_) {
    if (count >= config_.in_flight_max) out.insert(cluster);
  }
  return out;
}

void Ledger::wait(const api::ObjectKey& key, const std::vector<std::string>& clusters) {
  for (const std::string& cluster : clusters) {
    if (waits_[key].insert(cluster).second) waiting_[cluster].push_back(key);
  }
}

std::optional<api::ObjectKey> Ledger::next_waiting(const std::string& cluster) {
  const auto found = waiting_.find(cluster);
  if (found == waiting_.end()) return std::nullopt;
  std::deque<api::ObjectKey>& queue = found->second;
  while (!queue.empty()) {
    api::ObjectKey key = std::move(queue.front());
    queue.pop_front();
    const auto waits = waits_.find(key);
    if (waits == waits_.end() || !waits->second.contains(cluster)) continue;
    waits_.erase(waits);
    return key;
  }
  waiting_.erase(found);
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
