#include "admission/explain_flavors.h"

#include "lib/api/names.h"

#include <algorithm>

namespace regatta::admission {
namespace {

/// The most flavors that the flavor search judges. Further ones get only their quota lines.
constexpr int tries_max = 256;

struct Together {
  std::vector<std::size_t> pod_sets;  ///< indices
  std::vector<ResourceAmount> requests;
};

std::vector<ResourceAmount> requests_of(const QueueInfo& queue, const PodSetShape& shape,
                                        ResourceId pods) {
  std::vector<ResourceAmount> requests = shape.requests;
  if (queue.group_of(pods) == nullptr) return requests;
  std::erase_if(requests, [&](const ResourceAmount& request) { return request.resource == pods; });
  requests.push_back({pods, shape.count});
  return requests;
}

void add_request(std::vector<ResourceAmount>* sums, const ResourceAmount& request) {
  for (ResourceAmount& sum : *sums) {
    if (sum.resource != request.resource) continue;
    sum.amount = plus(sum.amount, request.amount);
    return;
  }
  sums->push_back(request);
}

/// Pod sets that must share flavors, with the sums of their requests by name of the resource.
std::vector<Together> together(const CycleAccess& access, const QueueInfo& queue,
                               const Shape& shape, ResourceId pods) {
  std::vector<Together> all;
  std::vector<std::string_view> groups;
  for (std::size_t i = 0; i < shape.pod_sets.size(); ++i) {
    const std::string& name = shape.pod_sets[i].group;
    std::size_t at = 0;
    while (at < all.size() && (name.empty() || groups[at] != name)) ++at;
    if (at == all.size()) {
      all.emplace_back();
      groups.emplace_back(name);
    }
    all[at].pod_sets.push_back(i);
    for (const ResourceAmount& request : requests_of(queue, shape.pod_sets[i], pods)) {
      add_request(&all[at].requests, request);
    }
  }
  const Interner& names = access.names().resources;
  for (Together& group : all) {
    std::sort(group.requests.begin(), group.requests.end(), [&](const auto& a, const auto& b) {
      return names.name(a.resource) < names.name(b.resource);
    });
  }
  return all;
}

const PodSetPlan* plan_of(const Assignment& assignment, const PodSetShape& shape) {
  for (const PodSetPlan& plan : assignment.pod_sets) {
    if (plan.shape == &shape) return &plan;
  }
  return nullptr;
}

const FlavorPick* pick_of(const PodSetPlan* plan, ResourceId resource) {
  if (plan == nullptr) return nullptr;
  for (const FlavorPick& pick : plan->picks) {
    if (pick.resource == resource) return &pick;
  }
  return nullptr;
}

FlavorVerdict verdict_of(const FlavorPick& pick) {
  switch (pick.mode) {
    case Mode::fit:
      return pick.borrow > 0 ? FlavorVerdict::borrows : FlavorVerdict::fits;
    case Mode::reclaim:
      return FlavorVerdict::reclaims;
    case Mode::preempt:
      return FlavorVerdict::preempts;
    case Mode::no_candidates:
      return FlavorVerdict::no_candidates;
    case Mode::no_fit:
      break;
  }
  return FlavorVerdict::short_of_quota;
}

/// Absent for notes that say nothing about the flavor itself.
std::optional<FlavorVerdict> verdict_of(const FlavorNote& note) {
  using Kind = FlavorNote::Kind;
  switch (note.kind) {
    case Kind::flavor_not_found:
      return FlavorVerdict::not_found;
    case Kind::topology_only:
      return FlavorVerdict::topology_only;
    case Kind::no_topology:
      return FlavorVerdict::no_topology;
    case Kind::no_topology_level:
      return FlavorVerdict::no_level;
    case Kind::no_topology_known:
    case Kind::no_places:
      return FlavorVerdict::topology_full;
    case Kind::untolerated_taint:
      return FlavorVerdict::untolerated_taint;
    case Kind::node_affinity:
      return FlavorVerdict::affinity_mismatch;
    case Kind::exceeds_max:
      return FlavorVerdict::exceeds_maximum;
    case Kind::insufficient:
      return FlavorVerdict::short_of_quota;
    default:
      return std::nullopt;
  }
}

std::string text_of(const api::Taint& taint) {
  return taint.key + (taint.value.empty() ? "" : "=" + taint.value) + ":" + taint.effect;
}

class Tries {
 public:
  Tries(const ExplainContext& context, const Assignment& found)
      : context_(context),
        access_(context.trial.access()),
        shape_(*context.workload().shape),
        found_(found),
        oracle_(context.trial, context.id, context.queue.id, context.now),
        free_(FlavorAssigner(context.trial, context.id, context.queue.id, oracle_).assign()) {}

  std::vector<PodSetTry> run() {
    const ResourceId pods = access_.names().resources.intern(api::pods_resource);
    std::vector<PodSetTry> tries;
    for (const Together& group : together(access_, context_.queue, shape_, pods)) {
      tries.push_back(try_pod_sets(group));
      for (const std::size_t index : group.pod_sets) count_before(index);
    }
    return tries;
  }

 private:
  const std::string& name(ResourceId resource) const {
    return access_.names().resources.name(resource);
  }

  PodSetTry try_pod_sets(const Together& group) {
    PodSetTry out;
    for (const std::size_t index : group.pod_sets) {
      out.pod_sets.push_back(shape_.pod_sets[index].name);
      out.count += shape_.pod_sets[index].count;
    }
    std::vector<const QueueInfo::Group*> seen;
    for (const ResourceAmount& request : group.requests) {
      const QueueInfo::Group* resources = context_.queue.group_of(request.resource);
      if (resources == nullptr) {
        const bool ignored = request.amount == 0 || access_.config().ignore_undeclared_resources;
        if (!ignored) out.uncovered.push_back(name(request.resource));
      } else if (std::find(seen.begin(), seen.end(), resources) == seen.end()) {
        seen.push_back(resources);
        out.groups.push_back(try_group(*resources, group));
      }
    }
    return out;
  }

  GroupTry try_group(const QueueInfo::Group& resources, const Together& group) {
    std::vector<ResourceAmount> requests;
    for (const ResourceAmount& request : group.requests) {
      if (context_.queue.group_of(request.resource) == &resources) requests.push_back(request);
    }
    GroupTry out;
    for (const ResourceAmount& request : requests) out.resources.push_back(name(request.resource));
    for (const FlavorId flavor : resources.flavors) {
      out.flavors.push_back(try_flavor(flavor, group, requests));
    }
    return out;
  }

  FlavorTry try_flavor(FlavorId flavor, const Together& group,
                       const std::vector<ResourceAmount>& requests) {
    FlavorTry out;
    out.flavor = access_.names().flavors.name(flavor);
    const PodSetShape& first = shape_.pod_sets[group.pod_sets.front()];
    const FlavorPick* chosen = pick_of(plan_of(found_, first), requests.front().resource);
    out.chosen = chosen != nullptr && chosen->flavor == flavor;
    std::vector<Demand> demands;
    for (const ResourceAmount& request : requests) {
      out.lines.push_back(line(flavor, request));
      const QuotaLine& made = out.lines.back();
      demands.push_back(
          {access_.names().pair(flavor, request.resource), plus(made.before, made.requested)});
    }
    judge(&out, flavor, group, requests);
    tell_holders(&out, flavor, demands);
    return out;
  }

  QuotaLine line(FlavorId flavor, const ResourceAmount& request) {
    const QuotaForest& forest = context_.trial.forest();
    const NodeId node = context_.queue.node;
    const FrId fr = access_.names().pair(flavor, request.resource);
    QuotaLine out;
    out.resource = name(request.resource);
    out.requested = request.amount;
    for (const FrAmount& taken : before_) {
      if (taken.fr == fr) out.before = taken.amount;
    }
    out.nominal = forest.nominal(node, fr);
    out.used = forest.usage(node, fr);
    out.available = forest.available(node, fr);
    out.maximum = forest.potential_available(node, fr);
    const Amount unused = std::max<Amount>(0, minus(out.nominal, out.used));
    out.borrowable = std::max<Amount>(0, minus(out.available, unused));
    out.lent = std::max<Amount>(0, minus(unused, out.available));
    out.missing = std::max<Amount>(0, minus(plus(out.before, out.requested), out.available));
    const Amount wanted = plus(out.before, out.requested);
    const QuotaForest::Headroom room = forest.headroom(node, fr);
    out.raise = out.missing > 0 ? minus(wanted, room.now) : 0;
    out.limited = out.missing > 0 && wanted <= room.with_any_borrowing;
    return out;
  }

  /// Lets the flavor search try only this flavor.
  void judge(FlavorTry* out, FlavorId flavor, const Together& group,
             const std::vector<ResourceAmount>& requests) {
    if (++tried_ > tries_max) return;
    Assignment pinned;
    pinned.pod_sets.resize(shape_.pod_sets.size());
    for (const std::size_t index : group.pod_sets) {
      for (const ResourceAmount& request : requests) {
        pinned.pod_sets[index].picks.push_back({request.resource, flavor, Mode::fit, 0, -1});
      }
    }
    FlavorAssigner assigner(context_.trial, context_.id, context_.queue.id, oracle_);
    assigner.pin(&pinned);
    const Assignment answer = assigner.assign();
    const PodSetPlan* plan = plan_of(answer, shape_.pod_sets[group.pod_sets.front()]);
    if (plan == nullptr) return;
    judge_notes(out, flavor, group, *plan);
    if (out->verdict == FlavorVerdict::topology_full) return;
    std::optional<Mode> worst;
    for (const ResourceAmount& request : requests) {
      const FlavorPick* pick = pick_of(plan, request.resource);
      if (pick == nullptr || pick->flavor != flavor || (worst && *worst <= pick->mode)) continue;
      worst = pick->mode;
      out->verdict = verdict_of(*pick);
    }
  }

  void judge_notes(FlavorTry* out, FlavorId flavor, const Together& group,
                   const PodSetPlan& plan) const {
    for (const FlavorNote& note : plan.notes) {
      const auto verdict = verdict_of(note);
      if (note.flavor != flavor || !verdict) continue;
      if (out->verdict != FlavorVerdict::exceeds_maximum) out->verdict = *verdict;
      if (note.taint != nullptr) out->detail = text_of(*note.taint);
      if (!note.text.empty()) out->detail = note.text;
      if (note.kind == FlavorNote::Kind::no_topology_level) {
        out->detail = levels_of(flavor);
      }
      if (note.kind == FlavorNote::Kind::no_topology_known) {
        out->detail = "nothing is known of the nodes of its topology";
      }
      if (*verdict != FlavorVerdict::affinity_mismatch) continue;
      const FlavorInfo* info = access_.flavor(flavor);
      for (const std::size_t index : group.pod_sets) {
        if (info == nullptr || !out->detail.empty()) break;
        out->detail = affinity_mismatch(info->spec.node_labels, shape_.pod_sets[index]);
      }
    }
  }

  std::string levels_of(FlavorId flavor) const {
    const TopologyTree* tree = access_.topologies().tree(flavor);
    std::string text;
    if (tree == nullptr) return text;
    for (const std::string& key : tree->level_keys) text += (text.empty() ? "" : ", ") + key;
    return text;
  }

  void tell_holders(FlavorTry* out, FlavorId flavor, const std::vector<Demand>& demands) const {
    const auto missing = [](const QuotaLine& line) { return line.missing > 0; };
    const auto hopeless = [](const QuotaLine& line) {
      return plus(line.before, line.requested) > line.maximum;
    };
    if (std::none_of(out->lines.begin(), out->lines.end(), missing)) return;
    out->chances = chances_of(context_, demands);
    if (std::any_of(out->lines.begin(), out->lines.end(), hopeless)) return;
    for (const WorkloadId id : enough_when_gone(context_, demands)) {
      out->enough_when_gone.push_back(holder_of(access_, id, flavor));
    }
  }

  /// Counts what a pod set takes before the next ones get flavors.
  void count_before(std::size_t index) {
    const PodSetPlan* plan = plan_of(free_, shape_.pod_sets[index]);
    if (plan == nullptr) return;
    for (const FlavorPick& pick : plan->picks) {
      for (const ResourceAmount& request : plan->requests) {
        if (request.resource != pick.resource) continue;
        add_amount(&before_, access_.names().pair(pick.flavor, pick.resource), request.amount);
      }
    }
  }

  const ExplainContext& context_;
  CycleAccess& access_;
  const Shape& shape_;
  const Assignment& found_;
  SimulatedPreemption oracle_;
  Assignment free_;  ///< what all its pods would get if all flavors were allowed
  std::vector<FrAmount> before_;
  int tried_ = 0;
};

std::string values_of(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
  return text;
}

}  // namespace

std::vector<PodSetTry> try_flavors(const ExplainContext& context, const Assignment& found) {
  return Tries(context, found).run();
}

std::string affinity_mismatch(const api::StringMap& labels, const PodSetShape& pod_set) {
  for (const auto& [key, value] : pod_set.node_selector) {
    const auto label = labels.find(key);
    if (label == labels.end() || label->second == value) continue;
    return "its nodes have " + key + "=" + label->second + ", the pods ask for " + key + "=" +
           value;
  }
  if (!pod_set.node_affinity) return {};
  for (const api::NodeSelectorTerm& term : *pod_set.node_affinity) {
    for (const api::LabelSelectorRequirement& wanted : term.match_expressions) {
      const auto label = labels.find(wanted.key);
      api::NodeSelectorTerm alone;
      alone.match_expressions = {wanted};
      if (label == labels.end() || api::matches(alone, labels, {})) continue;
      return "its nodes have " + wanted.key + "=" + label->second + ", the pods ask for " +
             wanted.key + " " + wanted.op +
             (wanted.values.empty() ? "" : " [" + values_of(wanted.values) + "]");
    }
  }
  return {};
}

}  // namespace regatta::admission
