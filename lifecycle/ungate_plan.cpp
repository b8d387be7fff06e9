#include "lifecycle/ungate_plan.h"

#include "admission/topology/assignment.h"
#include "lib/api/names.h"
#include "lifecycle/lifecycle.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

namespace regatta::lifecycle {
namespace {

using admission::TopologyDomain;
using admission::TopologyDomains;

/// The numbers of a pod set's pods start at `offset` and end before `limit`: in a group the workers
/// come after their leader.
struct Ranks {
  std::int64_t offset = 0;
  std::int64_t limit = 0;
};

std::optional<std::int64_t> read_number(const std::string& text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (text.empty() || read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

/// A pod's number from a label, below `limit`.
std::optional<std::int64_t> number_of(const api::Pod& pod, const std::string& label,
                                      std::int64_t limit) {
  const auto number = read_number(pod.metadata.label(label));
  return number && *number >= 0 && *number < limit ? number : std::nullopt;
}

bool topology_gated(const api::Pod& pod) {
  const auto& gates = pod.spec.scheduling_gates;
  return std::find(gates.begin(), gates.end(), api::gates::topology) != gates.end();
}

const api::PodSetTopologyRequest* request_of(const api::Workload& workload,
                                             const std::string& pod_set) {
  for (const api::PodSet& set : workload.spec.pod_sets) {
    if (set.name == pod_set && set.topology_request) return &*set.topology_request;
  }
  return nullptr;
}

/// Ranks by name of the pod set.
std::map<std::string, Ranks> ranks_of(const api::Workload& workload) {
  std::map<std::string, std::vector<const api::PodSetAssignment*>> groups;
  std::map<std::string, Ranks> ranks;
  for (const auto& assignment : workload.status.admission->pod_set_assignments) {
    ranks[assignment.name] = {0, assignment.count.value_or(0)};
    const auto* request = request_of(workload, assignment.name);
    if (!request || !request->pod_set_group_name) continue;
    groups[*request->pod_set_group_name].push_back(&assignment);
  }
  for (const auto& [name, members] : groups) {
    if (members.size() < 2) continue;
    const api::PodSetAssignment *leader = members[0], *workers = members[1];
    if (leader->count.value_or(0) > workers->count.value_or(0)) std::swap(leader, workers);
    const std::int64_t leaders = leader->count.value_or(0);
    ranks[workers->name] = {leaders, leaders + workers->count.value_or(0)};
  }
  return ranks;
}

std::vector<PodPtr> pods_of(const std::string& pod_set, const std::vector<PodPtr>& pods) {
  const std::string label(api::labels::pod_set);
  std::vector<PodPtr> mine;
  for (const PodPtr& pod : pods) {
    if (pod->metadata.label(label) == pod_set) mine.push_back(pod);
  }
  std::sort(mine.begin(), mine.end(),
            [](const PodPtr& a, const PodPtr& b) { return a->metadata.name < b->metadata.name; });
  return mine;
}

/// One pod set: its places and its pods.
class PodSetPlan {
 public:
  PodSetPlan(const api::PodSetAssignment& assignment, TopologyDomains places,
             std::vector<PodPtr> pods)
      : assignment_(assignment), places_(std::move(places)), pods_(std::move(pods)) {
    for (const TopologyDomain& domain : places_.domains) {
      for (std::int32_t i = 0; i < domain.count; ++i) slots_.push_back(&domain);
    }
  }

  /// Adds the offset that an annotation gives; all pods of a pod set have the same.
  Status shift(Ranks* ranks) const {
    if (pods_.empty()) return ok();
    const std::string key(api::annotations::pod_index_offset);
    const auto& annotations = pods_.front()->metadata.annotations;
    const auto found = annotations.find(key);
    if (found == annotations.end()) return ok();
    const auto offset = read_number(found->second);
    if (!offset || *offset < 0 || *offset > INT32_MAX) {
      return Error(Errc::invalid, "pod " + pods_.front()->metadata.key().str() + ": annotation " +
                                      key + " must be a number, got \"" + found->second + "\"");
    }
    ranks->offset += *offset;
    ranks->limit += *offset;
    return ok();
  }

  /// False when the pods have no usable numbers.
  bool by_rank(const api::PodSetTopologyRequest* request, const Ranks& ranks,
               std::vector<Ungate>* out) const {
    if (!request || !request->pod_index_label) return false;
    std::vector<const PodPtr*> by_rank(slots_.size(), nullptr);
    for (const PodPtr& pod : pods_) {
      const auto rank = rank_of(*pod, *request, ranks);
      if (!rank || *rank >= std::int64_t(slots_.size()) || by_rank[std::size_t(*rank)]) {
        return false;
      }
      const TopologyDomain& place = *slots_[std::size_t(*rank)];
      if (!topology_gated(*pod) && place_of(*pod) != place.values) return false;
      by_rank[std::size_t(*rank)] = &pod;
    }
    for (std::size_t rank = 0; rank < slots_.size(); ++rank) {
      if (by_rank[rank] && topology_gated(**by_rank[rank]))
        send(*by_rank[rank], *slots_[rank], out);
    }
    return true;
  }

  void greedily(std::vector<Ungate>* out) const {
    std::map<std::vector<std::string>, std::int64_t> gone;
    std::vector<PodPtr> waiting;
    for (const PodPtr& pod : pods_) {
      if (topology_gated(*pod)) {
        waiting.push_back(pod);
      } else {
        ++gone[place_of(*pod)];
      }
    }
    std::size_t next = 0;
    for (const TopologyDomain& place : places_.domains) {
      const auto there = gone.find(place.values);
      std::int64_t room = place.count - (there == gone.end() ? 0 : there->second);
      for (; room > 0 && next < waiting.size(); --room) send(waiting[next++], place, out);
    }
  }

 private:
  std::vector<std::string> place_of(const api::Pod& pod) const {
    std::vector<std::string> values;
    for (const std::string& level : places_.levels) {
      const auto found = pod.spec.node_selector.find(level);
      values.push_back(found == pod.spec.node_selector.end() ? std::string() : found->second);
    }
    return values;
  }

  std::optional<std::int64_t> rank_of(const api::Pod& pod,
                                      const api::PodSetTopologyRequest& request,
                                      const Ranks& ranks) const {
    const std::int64_t size = assignment_.count.value_or(0);
    const auto index = number_of(pod, *request.pod_index_label, ranks.limit);
    if (!index) return std::nullopt;
    std::int64_t rank = *index - ranks.offset;
    if (request.sub_group_index_label) {
      const std::int64_t groups = request.sub_group_count.value_or(0);
      if (groups <= 0) return std::nullopt;
      const auto group = number_of(pod, *request.sub_group_index_label, groups);
      const std::int64_t group_size = size / groups;
      if (!group || *index >= group_size) return std::nullopt;
      rank += *group * group_size;
    }
    return rank >= 0 && rank < size ? std::optional(rank) : std::nullopt;
  }

  void send(const PodPtr& pod, const TopologyDomain& place, std::vector<Ungate>* out) const {
    Ungate ungate{pod, {}};
    for (std::size_t i = 0; i < places_.levels.size(); ++i) {
      ungate.node_selector[places_.levels[i]] = place.values[i];
    }
    out->push_back(std::move(ungate));
  }

  const api::PodSetAssignment& assignment_;
  const TopologyDomains places_;
  const std::vector<PodPtr> pods_;
  std::vector<const TopologyDomain*> slots_;  ///< one for each pod, by rank
};

/// Drops the pods whose place is on a lost node.
void leave_lost_nodes(const std::vector<std::string>& lost, std::vector<Ungate>* ungates) {
  const std::string hostname(api::labels::hostname);
  std::erase_if(*ungates, [&](const Ungate& ungate) {
    const auto host = ungate.node_selector.find(hostname);
    return host != ungate.node_selector.end() &&
           std::find(lost.begin(), lost.end(), host->second) != lost.end();
  });
}

}  // namespace

bool has_places(const api::Workload& workload) {
  if (!is_reserved(workload) || !is_admitted(workload)) return false;
  if (is_finished(workload) || is_evicted(workload)) return false;
  const auto& sets = workload.status.admission->pod_set_assignments;
  return std::any_of(sets.begin(), sets.end(),
                     [](const auto& set) { return set.topology_assignment.has_value(); });
}

Result<std::vector<Ungate>> plan_ungating(const api::Workload& workload,
                                          const std::vector<PodPtr>& pods) {
  std::vector<Ungate> all;
  if (!has_places(workload)) return all;
  std::map<std::string, Ranks> ranks = ranks_of(workload);
  for (const auto& assignment : workload.status.admission->pod_set_assignments) {
    if (!assignment.topology_assignment) continue;
    auto places = admission::expand(*assignment.topology_assignment);
    if (!places) return places.error().within("pod set " + assignment.name);
    const PodSetPlan plan(assignment, std::move(*places), pods_of(assignment.name, pods));
    Ranks& mine = ranks[assignment.name];
    if (Status s = plan.shift(&mine); !s) return s.error();
    if (!plan.by_rank(request_of(workload, assignment.name), mine, &all)) plan.greedily(&all);
  }
  leave_lost_nodes(workload.status.unhealthy_nodes, &all);
  return all;
}

}  // namespace regatta::lifecycle
