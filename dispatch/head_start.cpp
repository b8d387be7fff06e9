#include "dispatch/head_start.h"

#include <algorithm>

namespace regatta::dispatch {
namespace {

constexpr int most_times_least = 10;
constexpr int misses_in_a_row = 3;

/// The worker has admitted its copy, or has no room for it.
bool has_said(const RemoteCopy& copy) {
  return copy.admitted_at || copy.finished || copy.waiting;
}

}  // namespace

void HeadStarts::begin(const api::ObjectKey& workload, const std::string& cluster,
                       SteadyPoint now) {
  races_.try_emplace(workload, Race{now, cluster});
}

void HeadStarts::add_to(GroupView* group, const api::ObjectKey& workload, TimePoint now,
                        SteadyPoint moment) {
  const auto race = races_.find(workload);
  if (race == races_.end()) return;
  learn(&race->second, *group, moment);
  group->local.racing_since = now - (moment - race->second.since);
  group->local.head_start = of(race->second.cluster);
}

Duration HeadStarts::of(const std::string& cluster) const {
  const auto usual = usual_.find(cluster);
  if (usual == usual_.end() || !usual->second.known) return least_;
  return std::clamp(usual->second.time + 4 * usual->second.deviation, least_,
                    most_times_least * least_);
}

void HeadStarts::learn(Race* race, const GroupView& group, SteadyPoint moment) {
  const auto view = group.clusters.find(race->cluster);
  if (race->said || view == group.clusters.end() || !view->second.copy) return;
  const Duration took = std::min(moment - race->since, most_times_least * least_);
  if (has_said(*view->second.copy)) {
    race->said = true;
    Usual& usual = usual_[race->cluster];
    usual.missed = 0;
    if (!usual.known) {
      usual = {took, took / 2, 0, true};
      return;
    }
    const Duration off = took > usual.time ? took - usual.time : usual.time - took;
    usual.deviation = (3 * usual.deviation + off) / 4;
    usual.time = (7 * usual.time + took) / 8;
  } else if (!race->missed && moment - race->since >= of(race->cluster)) {
    race->missed = true;
    Usual& usual = usual_[race->cluster];
    if (++usual.missed >= misses_in_a_row) usual = {};
  }
}

}  // namespace regatta::dispatch
