#include "jobs/pod/pod_group.h"

#include "jobs/annotation_values.h"
#include "jobs/pod/kind.h"
#include "lib/api/names.h"
#include "lib/api/origin.h"
#include "lib/base/check.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace regatta::jobs {
namespace {

using PodPtr = std::shared_ptr<const Pod>;

/// As many as a Workload has pod sets.
constexpr std::size_t roles_max = 18;

bool kept_by_us(const Pod& pod) {
  return pod.metadata().has_finalizer(api::finalizers::pod_managed);
}

/// Those that run longest stay, those that wait go first.
void sort_active(std::vector<PodPtr>& pods) {
  std::sort(pods.begin(), pods.end(), [](const PodPtr& a, const PodPtr& b) {
    const auto rank = [](const Pod& pod) {
      return std::tuple(!kept_by_us(pod), pod.suspended(), pod.metadata().creation_timestamp,
                        pod.metadata().name);
    };
    return rank(*a) < rank(*b);
  });
}

/// Those that ended first stay.
void sort_given_up(std::vector<PodPtr>& pods) {
  std::sort(pods.begin(), pods.end(), [](const PodPtr& a, const PodPtr& b) {
    const auto rank = [](const Pod& pod) {
      return std::tuple(!kept_by_us(pod), pod.last_active(TimePoint::max()),
                        pod.metadata().creation_timestamp, pod.metadata().name);
    };
    return rank(*a) < rank(*b);
  });
}

void move_tail(std::vector<PodPtr>& from, std::size_t begin, std::vector<JobPtr>* to) {
  for (std::size_t i = begin; i < from.size(); ++i) to->push_back(from[i]);
  from.resize(std::min(begin, from.size()));
}

/// Fills `places` places with pods.
void fill(std::vector<PodPtr> active, std::vector<PodPtr> given_up, std::size_t places,
          Roster* roster) {
  const std::size_t pods = active.size() + given_up.size();
  const std::size_t over = pods > places ? pods - places : 0;
  if (active.size() < places) roster->absent += static_cast<std::int32_t>(places - active.size());
  sort_active(active);
  move_tail(active, places, &roster->excess);
  sort_given_up(given_up);
  const std::size_t stay = given_up.size() - std::min(over, given_up.size());
  move_tail(given_up, stay, &roster->replaced);
  roster->kept.insert(roster->kept.end(), active.begin(), active.end());
  roster->kept.insert(roster->kept.end(), given_up.begin(), given_up.end());
}

std::int32_t given_up_among(const std::vector<JobPtr>& jobs) {
  return static_cast<std::int32_t>(std::count_if(jobs.begin(), jobs.end(), [](const JobPtr& one) {
    return dynamic_cast<const Pod&>(*one).given_up();
  }));
}

void sort_by_name(std::vector<JobPtr>& jobs) {
  std::sort(jobs.begin(), jobs.end(), [](const JobPtr& a, const JobPtr& b) {
    return a->metadata().name < b->metadata().name;
  });
}

}  // namespace

PodGroup::PodGroup(const api::ObjectKey& key, std::vector<PodPtr> pods) : pods_(std::move(pods)) {
  REGATTA_CHECK(!pods_.empty(), "a group has pods");
  std::sort(pods_.begin(), pods_.end(), [](const PodPtr& a, const PodPtr& b) {
    return a->metadata().name < b->metadata().name;
  });
  for (const PodPtr& pod : pods_) {
    members_.push_back(pod);
    role_names_.push_back(pod->role());
  }
  metadata_ = pods_.front()->metadata();
  metadata_.name = key.name;
  metadata_.ns = key.ns;
  metadata_.uid.clear();
  metadata_.resource_version.clear();
  metadata_.deletion_timestamp.reset();
}

const JobKind& PodGroup::kind() const {
  return *pod_group_kind();
}

std::optional<std::int32_t> PodGroup::total() const {
  std::string complaint;
  const auto number = whole_number(
      metadata_.annotation(std::string(api::annotations::pod_group_total_count)), &complaint);
  if (!number || *number < 0 || *number > std::numeric_limits<std::int32_t>::max()) return {};
  return static_cast<std::int32_t>(*number);
}

bool PodGroup::fast() const {
  return metadata_.annotations.contains(std::string(api::annotations::pod_group_fast_admission));
}

bool PodGroup::serves() const {
  return metadata_.annotation(std::string(api::annotations::pod_group_serving)) == "true";
}

/// The first pod is asked for its index; all that have not failed must agree with it.
std::optional<Obstacle> PodGroup::obstacle() const {
  const std::string total_key(api::annotations::pod_group_total_count);
  const auto places = total();
  if (!places) return Obstacle{"failed to extract '" + total_key + "' annotation", false, true};
  const std::string& index = metadata_.label(pod_group_pod_index);
  std::string complaint;
  const auto number = index.empty() ? 0 : whole_number(index, &complaint);
  if (!number || *number < 0 || *number >= std::max(*places, 1)) {
    return Obstacle{"label '" + std::string(pod_group_pod_index) + "' of pod '" +
                        pods_.front()->metadata().name + "' is no number from 0 to " +
                        std::to_string(*places - 1),
                    false, true};
  }
  const Roster now = roster_of_none();
  if (now.absent > 0 && !fast()) {
    return Obstacle{"'" + metadata_.name + "' group has fewer runnable pods than expected", true};
  }
  const std::string queue(api::labels::queue_name);
  for (const PodPtr& pod : pods_) {
    const api::ObjectMeta& other = pod->metadata();
    if (pod->phase() == "Failed") continue;
    const auto differs = [&](const std::string& what, const std::string& a, const std::string& b) {
      return Obstacle{"pods '" + pods_.front()->metadata().name + "' and '" + other.name +
                      "' differ in their " + what + ": '" + a + "' and '" + b + "'"};
    };
    if (other.label(queue) != metadata_.label(queue)) {
      return differs("queue name", metadata_.label(queue), other.label(queue));
    }
    if (other.annotation(total_key) != metadata_.annotation(total_key)) {
      return differs("total count", metadata_.annotation(total_key), other.annotation(total_key));
    }
  }
  if (const std::size_t count = roles().size(); count > roles_max) {
    return Obstacle{"the pods have " + std::to_string(count) + " shapes, and " +
                    std::to_string(roles_max) + " are possible"};
  }
  return std::nullopt;
}

/// Without a Workload, what failed or never ran is not waited for.
Roster PodGroup::roster_of_none() const {
  Roster roster;
  std::vector<PodPtr> active;
  for (const PodPtr& pod : pods_) {
    if (pod->given_up()) {
      roster.replaced.push_back(pod);
    } else {
      active.push_back(pod);
    }
  }
  fill(std::move(active), {}, static_cast<std::size_t>(total().value_or(0)), &roster);
  sort_by_name(roster.kept);
  return roster;
}

/// The pods of an evicted Workload first give its quota back.
bool PodGroup::renews_pods(const api::Workload& workload) const {
  const api::Conditions& conditions = workload.status.conditions;
  const bool stops = api::is_true(conditions, api::conditions::evicted) &&
                     api::is_true(conditions, api::conditions::quota_reserved);
  return api::made_on_hub(metadata_) && !stops;
}

/// The pods of a fast group, or of a serving job, may come after its Workload: only those that
/// failed are replaced.
Roster PodGroup::roster(const api::Workload* workload) const {
  if (!workload) return roster_of_none();
  Roster roster;
  const bool renews = renews_pods(*workload);
  for (const api::PodSet& set : workload->spec.pod_sets) {
    std::vector<PodPtr> active, given_up;
    for (std::size_t i = 0; i < pods_.size(); ++i) {
      if (role_names_[i] != set.name) continue;
      if (renews && pods_[i]->goes_in_vain()) {
        roster.replaced.push_back(pods_[i]);
        continue;
      }
      // The request to delete it was lost.
      if (renews && pods_[i]->lost_place()) {
        roster.excess.push_back(pods_[i]);
        continue;
      }
      (pods_[i]->given_up() ? given_up : active).push_back(pods_[i]);
    }
    fill(std::move(active), std::move(given_up), static_cast<std::size_t>(set.count), &roster);
  }
  sort_by_name(roster.kept);
  const bool follows = fast() || serves();
  if (follows) roster.absent = std::min(roster.absent, given_up_among(roster.kept));
  return roster;
}

/// A started pod asks for more than its shape: from then on its annotation alone tells its role.
Result<Json> PodGroup::member_start_patch(const GenericJob& member,
                                          const std::vector<PodSetInfo>& infos) const {
  const auto at = std::find_if(pods_.begin(), pods_.end(),
                               [&](const PodPtr& pod) { return pod.get() == &member; });
  if (at == pods_.end()) return Json::object();
  const std::string& role = role_names_[static_cast<std::size_t>(at - pods_.begin())];
  const auto info = std::find_if(infos.begin(), infos.end(),
                                 [&](const PodSetInfo& one) { return one.name == role; });
  if (info == infos.end()) return Json::object();
  Result<Json> patch = (*at)->start_patch({*info});
  const std::string key(api::annotations::role_hash);
  if (patch && member.metadata().annotation(key).empty()) {
    (*patch)["metadata"]["annotations"][key] = role;
  }
  return patch;
}

std::string PodGroup::name_conflict() const {
  return "A Workload named \"" + metadata_.name +
         "\" already exists but is not a pod group workload; this pod group cannot be admitted";
}

std::vector<PodGroup::Role> PodGroup::roles() const {
  const Roster now = roster_of_none();
  std::set<const GenericJob*> kept;
  for (const JobPtr& one : now.kept) kept.insert(one.get());
  std::map<std::string, Role> found;
  for (std::size_t i = 0; i < pods_.size(); ++i) {
    if (!kept.contains(pods_[i].get())) continue;
    Role& role = found[role_names_[i]];
    role.name = role_names_[i];
    if (!role.first) role.first = pods_[i].get();
    ++role.count;
    if (fast()) {
      role.count = total().value_or(0);  // of the first pod's shape, whatever the others are
      break;
    }
  }
  std::vector<Role> out;
  for (auto& [name, role] : found) out.push_back(std::move(role));
  return out;
}

Result<std::vector<api::PodSet>> PodGroup::pod_sets(const TopologyOptions& topology) const {
  std::vector<api::PodSet> sets;
  for (const Role& role : roles()) {
    auto made = role.first->pod_sets(topology);
    if (!made) return made.error();
    sets.push_back(std::move(made->front()));
    sets.back().name = role.name;
    sets.back().count = role.count;
  }
  return sets;
}

std::vector<std::int32_t> PodGroup::pod_counts() const {
  std::vector<std::int32_t> counts;
  for (const Role& role : roles()) counts.push_back(role.count);
  return counts;
}

std::string PodGroup::pod_priority_class() const {
  for (const Role& role : roles()) {
    if (std::string name = role.first->pod_priority_class(); !name.empty()) return name;
  }
  return {};
}

/// Pods of other shapes than those of the Workload have no place in it; the group is another one
/// only if it has no pod of a known shape. Fewer pods are waited for, more are deleted.
bool PodGroup::equivalent(const api::Workload& workload, const std::vector<PodSetInfo>*) const {
  return std::any_of(
      workload.spec.pod_sets.begin(), workload.spec.pod_sets.end(), [&](const api::PodSet& set) {
        return std::find(role_names_.begin(), role_names_.end(), set.name) != role_names_.end();
      });
}

std::string PodGroup::pod_selector() const {
  return std::string(api::labels::pod_group_name) + "=" + metadata_.name;
}

bool PodGroup::suspended() const {
  return std::any_of(pods_.begin(), pods_.end(),
                     [](const PodPtr& pod) { return pod->ended() || pod->suspended(); });
}

bool PodGroup::passed_over() const {
  return pods_.front()->passed_over();
}

bool PodGroup::held_by_parent() const {
  return pods_.front()->held_by_parent();
}

bool PodGroup::active() const {
  return std::any_of(pods_.begin(), pods_.end(), [](const PodPtr& pod) { return pod->active(); });
}

/// On one cluster, as in Kueue, a group that is not to be retried ends with an eviction, too, and
/// without Pods that are gone. A hub runs it again, and sends the Pods again that its group has.
std::optional<Finished> PodGroup::finished() const {
  const auto places = total();
  if (!places || serves()) return std::nullopt;
  std::int32_t succeeded = 0;
  const bool of_hub = api::made_on_hub(metadata_);
  bool goes_on = of_hub && std::ssize(pods_) < *places;
  bool retriable = true;
  for (const PodPtr& pod : pods_) {
    if (pod->phase() == "Succeeded") ++succeeded;
    if (!pod->ended() || (of_hub && pod->lost_place())) goes_on = true;
    const std::string retries(api::annotations::retriable_in_group);
    if (pod->metadata().annotation(retries) == "false") retriable = false;
  }
  if (succeeded != *places && (goes_on || retriable)) return std::nullopt;
  return Finished{
      true, "Pods succeeded: " + std::to_string(succeeded) + "/" + std::to_string(*places) + "."};
}

bool PodGroup::untold_on_hub() const {
  return serves();
}

/// A Pod that has succeeded was ready, as in a Job; one that serves is to run on.
bool PodGroup::pods_ready() const {
  const bool ends = !serves();
  const auto ready = std::count_if(pods_.begin(), pods_.end(), [ends](const PodPtr& pod) {
    return pod->pods_ready() || (ends && pod->phase() == "Succeeded");
  });
  return ready >= total().value_or(std::numeric_limits<std::int32_t>::max());
}

std::vector<api::ReclaimablePod> PodGroup::reclaimable_pods() const {
  if (serves()) return {};
  std::map<std::string, std::int32_t> done;
  for (std::size_t i = 0; i < pods_.size(); ++i) {
    if (pods_[i]->phase() == "Succeeded") ++done[role_names_[i]];
  }
  std::vector<api::ReclaimablePod> out;
  for (const auto& [role, count] : done) out.push_back({role, count});
  return out;
}

Result<Json> PodGroup::start_patch(const std::vector<PodSetInfo>&) const {
  return Error(Errc::invalid, "a group is started by its members");
}

}  // namespace regatta::jobs
