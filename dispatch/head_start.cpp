#include "dispatch/head_start.h"

#include <algorithm>

namespace regatta::dispatch {
namespace {

constexpr int most_times_least = 10;
constexpr int misses_in_a_row = 3;
constexpr Duration tried_again = std::chrono::minutes(1);

/// The worker has admitted its copy, or has no room for it.
bool has_said(const RemoteCopy& copy) {
  return copy.admitted_at || copy.finished || copy.waiting;
}

}  // namespace

void HeadStarts::begin(const api::ObjectKey& workload, const std::string& cluster,
                       SteadyPoint now) {
  races_.try_emplace(workload, Race{now, cluster});
}

Duration HeadStarts::most() const {
  return most_times_least * least_;
}

Duration HeadStarts::patience(const std::string& cluster) const {
  const auto usual = answers_.find(cluster);
  if (usual == answers_.end() || !usual->second.known) return most();
  if (usual->second.missed >= misses_in_a_row) return least_;
  return usual->second.until(least_, most());
}

void HeadStarts::give_up(const api::ObjectKey& workload, const std::string& cluster,
                         SteadyPoint asked, SteadyPoint now) {
  if (!races_.try_emplace(workload, Race{asked, ""}).second) return;
  miss(cluster, &answers_[cluster], now);
}

void HeadStarts::answered(const std::string& cluster, bool copied, Duration took, SteadyPoint now) {
  Usual& usual = answers_[cluster];
  if (!copied || took >= most()) return miss(cluster, &usual, now);
  usual.add(took);
  passed_over_.erase(cluster);
}

void HeadStarts::miss(const std::string& cluster, Usual* usual, SteadyPoint moment) {
  if (++usual->missed >= misses_in_a_row) passed_over_[cluster] = moment;
}

void HeadStarts::add_to(GroupView* group, const api::ObjectKey& workload, TimePoint now,
                        SteadyPoint moment) {
  for (const auto& [name, since] : passed_over_) {
    const auto view = group->clusters.find(name);
    if (view != group->clusters.end()) view->second.passed_over = moment - since < tried_again;
  }
  const auto race = races_.find(workload);
  if (race == races_.end()) return;
  learn(&race->second, *group, moment);
  group->local.racing_since = now - (moment - race->second.since);
  group->local.head_start = of(race->second.cluster);
}

Duration HeadStarts::of(const std::string& cluster) const {
  const auto usual = usual_.find(cluster);
  if (usual == usual_.end() || !usual->second.known) return least_;
  return usual->second.until(least_, most());
}

Duration HeadStarts::Usual::until(Duration least, Duration most) const {
  return std::clamp(time + 4 * deviation, least, most);
}

void HeadStarts::Usual::add(Duration took) {
  missed = 0;
  if (!known) {
    *this = {took, took / 2, 0, true};
    return;
  }
  const Duration off = took > time ? took - time : time - took;
  deviation = (3 * deviation + off) / 4;
  time = (7 * time + took) / 8;
}

void HeadStarts::learn(Race* race, const GroupView& group, SteadyPoint moment) {
  const auto view = group.clusters.find(race->cluster);
  if (race->said || view == group.clusters.end() || !view->second.copy) return;
  if (has_said(*view->second.copy)) {
    race->said = true;
    usual_[race->cluster].add(std::min(moment - race->since, most()));
    passed_over_.erase(race->cluster);
  } else if (!race->missed && moment - race->since >= of(race->cluster)) {
    race->missed = true;
    Usual& usual = usual_[race->cluster];
    miss(race->cluster, &usual, moment);
    if (usual.missed >= misses_in_a_row) usual = {{}, {}, usual.missed, false};
  }
}

}  // namespace regatta::dispatch
