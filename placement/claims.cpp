#include "placement/claims.h"

#include "lib/base/contains.h"
#include "placement/queue_facts.h"

namespace regatta::placement {
namespace {

/// resourceVersions are decimal numbers, and grow. Anything else is never newer.
bool is_newer(const std::string& a, const std::string& b) {
  const auto decimal = [](const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  };
  if (!decimal(a) || !decimal(b)) return false;
  return a.size() != b.size() ? a.size() > b.size() : a > b;
}

}  // namespace

void Claims::count(const Claim& claim, const std::string& cluster, Stage stage, int sign) {
  if (!counts(stage)) return;
  auto& queues = clusters_[cluster].ahead;
  Amounts& sum = queues[claim.local_queue];
  if (sign > 0) add(&sum, claim.asked);
  if (sign < 0) subtract(&sum, claim.asked);
  if (sum.empty()) queues.erase(claim.local_queue);
}

const Claims::Sums* Claims::sums(const std::string& cluster) const {
  const auto found = clusters_.find(cluster);
  return found == clusters_.end() ? nullptr : &found->second;
}

void Claims::claim(const api::ObjectKey& key, const api::ObjectKey& local_queue,
                   const std::vector<std::string>& clusters, const Amounts& asked) {
  std::map<std::string, Entry> known;
  if (const auto found = claims_.find(key); found != claims_.end()) {
    known = found->second.clusters;
    release(key);
  }
  if (clusters.empty()) return;
  Claim& mine = claims_[key];
  mine.local_queue = local_queue;
  mine.asked = asked;
  for (const std::string& cluster : clusters) {
    const auto before = known.find(cluster);
    const Entry entry = before == known.end() ? Entry() : before->second;
    if (!mine.clusters.emplace(cluster, entry).second) continue;
    count(mine, cluster, entry.stage, +1);
    ++clusters_[cluster].workloads;
    if (entry.stage == Stage::reserved) clusters_[cluster].unshown.insert(key);
  }
}

Claims::Entry* Claims::find(const api::ObjectKey& key, const std::string& cluster) {
  const auto found = claims_.find(key);
  if (found == claims_.end()) return nullptr;
  const auto entry = found->second.clusters.find(cluster);
  return entry == found->second.clusters.end() ? nullptr : &entry->second;
}

void Claims::set_stage(const api::ObjectKey& key, const std::string& cluster, Stage stage) {
  Entry* entry = find(key, cluster);
  const Claim& claim = claims_.at(key);
  count(claim, cluster, entry->stage, -1);
  entry->stage = stage;
  count(claim, cluster, stage, +1);
}

void Claims::waits(const api::ObjectKey& key, const std::string& cluster) {
  const Entry* entry = find(key, cluster);
  if (!entry || entry->stage == Stage::waits) return;
  if (entry->stage == Stage::reserved) clusters_[cluster].unshown.erase(key);
  set_stage(key, cluster, Stage::waits);
}

void Claims::reserved(const api::ObjectKey& key, const std::string& cluster,
                      const std::string& cluster_queue, const std::string& version) {
  Entry* entry = find(key, cluster);
  if (!entry || entry->stage == Stage::reserved || entry->stage == Stage::shown) return;
  entry->cluster_queue = cluster_queue;
  entry->version = version;
  set_stage(key, cluster, Stage::reserved);
  clusters_[cluster].unshown.insert(key);
}

void Claims::told(const std::string& cluster, const std::string& cluster_queue,
                  const std::string& version) {
  const auto found = clusters_.find(cluster);
  if (found == clusters_.end()) return;
  std::set<api::ObjectKey>& unshown = found->second.unshown;
  for (auto it = unshown.begin(); it != unshown.end();) {
    const Entry* entry = find(*it, cluster);
    const bool shown = entry->cluster_queue == cluster_queue && is_newer(version, entry->version);
    if (shown) set_stage(*it, cluster, Stage::shown);
    it = shown ? unshown.erase(it) : std::next(it);
  }
}

void Claims::release(const api::ObjectKey& key) {
  const auto found = claims_.find(key);
  if (found == claims_.end()) return;
  for (const auto& [cluster, entry] : found->second.clusters) {
    count(found->second, cluster, entry.stage, -1);
    Sums& sums = clusters_[cluster];
    if (entry.stage == Stage::reserved) sums.unshown.erase(key);
    if (--sums.workloads == 0) clusters_.erase(cluster);
  }
  claims_.erase(found);
}

void Claims::clear() {
  *this = Claims();
}

Amounts Claims::ahead(const std::string& cluster, const api::ObjectKey& local_queue,
                      const api::ObjectKey& but) const {
  const Sums* known = sums(cluster);
  if (!known) return {};
  const auto found = known->ahead.find(local_queue);
  if (found == known->ahead.end()) return {};
  Amounts out = found->second;
  const auto mine = claims_.find(but);
  if (mine == claims_.end() || mine->second.local_queue != local_queue) return out;
  const auto entry = mine->second.clusters.find(cluster);
  if (entry != mine->second.clusters.end() && counts(entry->second.stage)) {
    subtract(&out, mine->second.asked);
  }
  return out;
}

bool Claims::shown(const std::string& cluster, const api::ObjectKey& key) const {
  const auto found = claims_.find(key);
  if (found == claims_.end()) return false;
  const auto entry = found->second.clusters.find(cluster);
  return entry != found->second.clusters.end() && entry->second.stage == Stage::shown;
}

int Claims::workloads(const std::string& cluster, const api::ObjectKey& but) const {
  const Sums* known = sums(cluster);
  if (!known) return 0;
  const auto mine = claims_.find(but);
  const bool counted = mine != claims_.end() && mine->second.clusters.contains(cluster);
  return known->workloads - (counted ? 1 : 0);
}

}  // namespace regatta::placement
