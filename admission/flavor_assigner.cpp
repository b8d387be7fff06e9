#include "admission/flavor_assigner.h"

#include "lib/api/names.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace regatta::admission {
namespace {

Amount amount_of(const std::vector<ResourceAmount>& list, ResourceId resource) {
  for (const ResourceAmount& entry : list) {
    if (entry.resource == resource) return entry.amount;
  }
  return 0;
}

Amount amount_of_fr(const std::vector<FrAmount>& list, FrId fr) {
  for (const FrAmount& entry : list) {
    if (entry.fr == fr) return entry.amount;
  }
  return 0;
}

NoFitReason lesser(std::optional<NoFitReason> a, NoFitReason b) {
  return a ? std::min(*a, b) : b;
}

}  // namespace

std::string_view name_of(NoFitReason reason) {
  switch (reason) {
    case NoFitReason::topology_placement_failed:
      return api::reasons::topology_placement_failed;
    case NoFitReason::waiting_for_quota:
      return api::reasons::waiting_for_quota;
    case NoFitReason::exceeds_max_quota:
      return api::reasons::exceeds_max_quota;
    case NoFitReason::no_matching_flavor:
      return api::reasons::no_matching_flavor;
  }
  return {};
}

AssignmentMode PodSetPlan::mode() const {
  if (!error.empty()) return AssignmentMode::no_fit;
  if (notes.empty()) return AssignmentMode::fit;
  if (picks.empty()) return AssignmentMode::no_fit;
  AssignmentMode worst = AssignmentMode::fit;
  for (const FlavorPick& pick : picks) {
    if (pick.mode == Mode::no_fit) return AssignmentMode::no_fit;
    if (pick.mode != Mode::fit) worst = AssignmentMode::preempt;
  }
  return worst;
}

AssignmentMode Assignment::mode() const {
  if (pod_sets.empty()) return AssignmentMode::no_fit;
  AssignmentMode worst = deferred ? AssignmentMode::deferred_fit : AssignmentMode::fit;
  if (placed) return std::min(worst, *placed);
  for (const PodSetPlan& pod_set : pod_sets) worst = std::min(worst, pod_set.mode());
  return worst;
}

NoFitReason Assignment::reason() const {
  NoFitReason worst = NoFitReason::topology_placement_failed;
  for (const PodSetPlan& pod_set : pod_sets) {
    if (pod_set.mode() == AssignmentMode::no_fit) worst = std::max(worst, pod_set.reason);
  }
  return worst;
}

std::string Assignment::message(const Names& names) const {
  std::string text;
  for (const PodSetPlan& pod_set : pod_sets) {
    if (!pod_set.error.empty()) {
      return "failed to assign flavors to pod set " + pod_set.shape->name + ": " + pod_set.error;
    }
    if (pod_set.notes.empty()) continue;
    std::vector<std::string> reasons;
    reasons.reserve(pod_set.notes.size());
    for (const FlavorNote& note : pod_set.notes) reasons.push_back(render(note, names));
    std::sort(reasons.begin(), reasons.end());
    if (!text.empty()) text += "; ";
    text += "couldn't assign flavors to pod set " + pod_set.shape->name + ": ";
    for (std::size_t i = 0; i < reasons.size(); ++i) text += (i > 0 ? ", " : "") + reasons[i];
  }
  return text;
}

std::vector<FrId> Assignment::frs_to_preempt(Names* names) const {
  std::vector<FrId> frs;
  for (const PodSetPlan& pod_set : pod_sets) {
    for (const FlavorPick& pick : pod_set.picks) {
      if (pick.mode != Mode::fit) frs.push_back(names->pair(pick.flavor, pick.resource));
    }
  }
  std::sort(frs.begin(), frs.end());
  frs.erase(std::unique(frs.begin(), frs.end()), frs.end());
  return frs;
}

std::unique_ptr<Reservation> Assignment::reserve(QueueId queue, TimePoint now) const {
  auto reservation = std::make_unique<Reservation>();
  reservation->queue = queue;
  reservation->reserved_at = now;
  reservation->usage = held.empty() ? usage : held;
  reservation->pod_sets.reserve(pod_sets.size());
  for (const PodSetPlan& plan : pod_sets) {
    PodSetReservation& pod_set = reservation->pod_sets.emplace_back();
    pod_set.name = plan.shape->name;
    pod_set.count = plan.count;
    if (plan.places) pod_set.places.push_back(*plan.places);
    if (plan.topology_delayed) pod_set.delayed_topology = "Pending";
    for (const FlavorPick& pick : plan.picks) {
      pod_set.flavors.push_back({pick.resource, pick.flavor});
      pod_set.usage.push_back({pick.resource, amount_of(plan.requests, pick.resource)});
    }
  }
  return reservation;
}

FlavorAssigner::FlavorAssigner(Trial& trial, WorkloadId workload, QueueId queue,
                               PreemptionOracle& oracle)
    : trial_(trial),
      workload_(trial.access().workloads()[workload]),
      queue_(trial.access().queue(queue)),
      oracle_(oracle),
      progress_(workload_.progress.get()) {}

Assignment FlavorAssigner::assign(const std::vector<std::int32_t>& counts) {
  CycleAccess& access = trial_.access();
  Assignment assignment;
  const auto& shapes = workload_.shape->pod_sets;
  assignment.progress.cycle = access.cycle();
  assignment.progress.generation = trial_.forest().node(queue_.node).generation;
  assignment.progress.shape = workload_.shape->id;
  assignment.progress.priority = workload_.priority;
  assignment.progress.tried.resize(shapes.size());
  const ResourceId pods = access.names().resources.intern(api::pods_resource);
  std::vector<PodSetPlan> plans;
  plans.reserve(shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    PodSetPlan& plan = plans.emplace_back();
    plan.shape = &shapes[i];
    plan.count = counts.empty() || shapes[i].count == 0 ? shapes[i].count : counts[i];
    plan.requests = shapes[i].requests;
    if (plan.count != shapes[i].count && shapes[i].count > 0) {
      for (ResourceAmount& request : plan.requests) {
        request.amount = times(request.amount / shapes[i].count, plan.count);
      }
    }
    if (queue_.group_of(pods) != nullptr) {
      std::erase_if(plan.requests, [&](const auto& request) { return request.resource == pods; });
      plan.requests.push_back({pods, plan.count});
    }
  }
  assignment.pod_sets = std::move(plans);
  const std::vector<Group> groups = group_pod_sets(assignment);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (assign_group(groups[i], &assignment)) continue;
    // The search did not reach later pod sets: they do not count in the outcome.
    std::vector<PodSetPlan> seen;
    for (std::size_t p = 0; p < shapes.size(); ++p) {
      for (std::size_t g = 0; g <= i; ++g) {
        const auto& members = groups[g].pod_sets;
        if (std::find(members.begin(), members.end(), p) == members.end()) continue;
        seen.push_back(std::move(assignment.pod_sets[p]));
      }
    }
    assignment.pod_sets = std::move(seen);
    return assignment;
  }
  place(&assignment);
  return assignment;
}

std::vector<FlavorAssigner::Group> FlavorAssigner::group_pod_sets(
    const Assignment& assignment) const {
  const Names& names = trial_.access().names();
  std::vector<Group> groups;
  std::vector<std::string_view> group_names;
  for (std::size_t i = 0; i < assignment.pod_sets.size(); ++i) {
    const PodSetPlan& plan = assignment.pod_sets[i];
    const std::string& name = plan.shape->group;
    std::size_t at = 0;
    while (at < groups.size() && (name.empty() || group_names[at] != name)) ++at;
    if (at == groups.size()) {
      groups.emplace_back();
      group_names.push_back(name);
    }
    groups[at].pod_sets.push_back(i);
    for (const ResourceAmount& request : plan.requests) {
      auto& sums = groups[at].requests;
      const auto same = [&](const auto& sum) { return sum.resource == request.resource; };
      const auto it = std::find_if(sums.begin(), sums.end(), same);
      if (it == sums.end()) {
        sums.push_back(request);
      } else {
        it->amount = plus(it->amount, request.amount);
      }
    }
  }
  for (Group& group : groups) {
    std::sort(group.requests.begin(), group.requests.end(),
              [&](const auto& a, const auto& b) { return names.before(a.resource, b.resource); });
  }
  return groups;
}

bool FlavorAssigner::assign_group(const Group& group, Assignment* assignment) {
  CycleAccess& access = trial_.access();
  std::vector<FlavorPick> picks;
  std::vector<FlavorNote> notes;
  std::optional<NoFitReason> reason;
  std::vector<std::pair<FlavorId, NoFitReason>> passed_over;
  std::vector<FlavorAttempt> attempts;
  bool failed = false;
  for (const ResourceAmount& request : group.requests) {
    const QueueInfo::Group* resources = queue_.group_of(request.resource);
    if (resources == nullptr) {
      if (request.amount == 0 || access.config().ignore_undeclared_resources) continue;
      FlavorNote note;
      note.kind = FlavorNote::Kind::unavailable_resource;
      note.resource = request.resource;
      notes = {note};
      failed = true;
      break;
    }
    const auto same = [&](const FlavorPick& pick) { return pick.resource == request.resource; };
    if (std::any_of(picks.begin(), picks.end(), same)) continue;
    Search search = find_flavor(*resources, group, request.resource, *assignment);
    // Flavors that were passed over count even where a later one fits.
    if (search.reason) reason = std::max(reason.value_or(*search.reason), *search.reason);
    if (search.picks.empty()) {
      notes = std::move(search.notes);
      failed = true;
      break;
    }
    if (search.reason) passed_over.emplace_back(search.picks.front().flavor, *search.reason);
    picks.insert(picks.end(), search.picks.begin(), search.picks.end());
    notes.insert(notes.end(), search.notes.begin(), search.notes.end());
    std::ranges::move(search.attempts, std::back_inserter(attempts));
  }
  if (failed) picks.clear();
  for (const std::size_t index : group.pod_sets) {
    PodSetPlan& plan = assignment->pod_sets[index];
    plan.notes = notes;
    plan.reason = reason.value_or(NoFitReason::no_matching_flavor);
    plan.passed_over = passed_over;
    plan.attempts = attempts;
    for (const FlavorPick& pick : picks) {
      const auto same = [&](const auto& request) { return request.resource == pick.resource; };
      if (std::none_of(plan.requests.begin(), plan.requests.end(), same)) continue;
      plan.picks.push_back(pick);
      assignment->borrowing = std::max(assignment->borrowing, pick.borrow);
      assignment->progress.tried[index][pick.resource] = pick.tried;
      const FrId fr = access.names().pair(pick.flavor, pick.resource);
      const Amount amount = amount_of(plan.requests, pick.resource);
      const PodSetReservation* before = replaced_pod_set(index);
      add_amount(
          &assignment->usage, fr,
          before == nullptr ? amount : minus(amount, amount_of(before->usage, pick.resource)));
      if (replaced_ != nullptr) add_amount(&assignment->held, fr, amount);
    }
  }
  share_topology_flavors(group, picks, assignment);
  return !picks.empty() || group.requests.empty();
}

std::size_t FlavorAssigner::first_to_try(std::size_t pod_set, ResourceId resource) const {
  if (progress_ == nullptr || pod_set >= progress_->tried.size()) return 0;
  const auto& tried = progress_->tried[pod_set];
  const auto it = tried.find(resource);
  return it == tried.end() ? 0 : static_cast<std::size_t>(it->second + 1);
}

FlavorAssigner::Search FlavorAssigner::find_flavor(const QueueInfo::Group& resources,
                                                   const Group& group, ResourceId first,
                                                   const Assignment& assignment) {
  std::vector<ResourceAmount> requests;
  for (const ResourceAmount& request : group.requests) {
    const auto& covered = resources.resources;
    if (std::find(covered.begin(), covered.end(), request.resource) != covered.end()) {
      requests.push_back(request);
    }
  }
  Search search;
  Quality best;
  std::vector<Look> looks;
  const std::size_t count = resources.flavors.size();
  std::size_t index = first_to_try(group.pod_sets.front(), first);
  int attempted = -1;
  for (; index < count; ++index) {
    const FlavorId flavor = resources.flavors[index];
    attempted = static_cast<int>(index);
    const std::size_t noted = search.notes.size();
    if (pinned_elsewhere(group, first, flavor)) {
      FlavorNote note;
      note.kind = FlavorNote::Kind::not_nominated;
      note.flavor = flavor;
      note.resource = first;
      search.notes.push_back(note);
      continue;
    }
    if (!suits(flavor, resources, group, &search.notes)) {
      search.reason = lesser(search.reason, NoFitReason::no_matching_flavor);
      looks.push_back({flavor, {}, noted});
      continue;
    }
    Tried tried = try_flavor(flavor, {group, requests, assignment}, &search);
    const Quality quality = tried.quality;
    if (quality.mode != Mode::fit || tried.most_borrowed > 0) {
      looks.push_back({flavor, {quality.mode, tried.most_borrowed}, noted});
    }
    if (quality.mode == Mode::no_fit) search.reason = lesser(search.reason, tried.reason);
    const bool fungible = trial_.access().config().flavor_fungibility;
    const bool enough = fungible ? !try_next(quality) : quality.mode == Mode::fit;
    const bool better = fungible ? preferred(quality, best) : quality.mode > best.mode;
    if (enough || better) {
      best = quality;
      search.picks = std::move(tried.picks);
    }
    if (enough) break;
  }
  const int tried = attempted == static_cast<int>(count) - 1 ? -1 : attempted;
  for (FlavorPick& pick : search.picks) pick.tried = tried;
  if (best.mode == Mode::fit) {
    search.attempts = attempts_of(looks, std::exchange(search.notes, {}));
  }
  return search;
}

std::vector<FlavorAttempt> FlavorAssigner::attempts_of(const std::vector<Look>& looks,
                                                       std::vector<FlavorNote> notes) {
  std::vector<FlavorAttempt> attempts;
  attempts.reserve(looks.size());
  for (std::size_t i = 0; i < looks.size(); ++i) {
    const std::size_t end = i + 1 < looks.size() ? looks[i + 1].notes_begin : notes.size();
    FlavorAttempt& attempt = attempts.emplace_back();
    attempt.flavor = looks[i].flavor;
    attempt.mode = looks[i].quality.mode;
    attempt.borrow = looks[i].quality.borrow;
    for (std::size_t n = looks[i].notes_begin; n < end; ++n) {
      // Flavors that were only skipped have notes too.
      if (notes[n].flavor == attempt.flavor) attempt.notes.push_back(std::move(notes[n]));
    }
  }
  return attempts;
}

bool FlavorAssigner::pinned_elsewhere(const Group& group, ResourceId resource,
                                      FlavorId flavor) const {
  if (pinned_ == nullptr) return false;
  return std::none_of(group.pod_sets.begin(), group.pod_sets.end(), [&](std::size_t pod_set) {
    if (pod_set >= pinned_->pod_sets.size()) return false;
    const auto& picks = pinned_->pod_sets[pod_set].picks;
    return std::any_of(picks.begin(), picks.end(), [&](const FlavorPick& pick) {
      return pick.resource == resource && pick.flavor == flavor;
    });
  });
}

bool FlavorAssigner::suits(FlavorId flavor, const QueueInfo::Group& resources, const Group& group,
                           std::vector<FlavorNote>* notes) const {
  const FlavorInfo* info = trial_.access().flavor(flavor);
  FlavorNote note;
  note.flavor = flavor;
  if (info == nullptr) {
    notes->push_back(note);
    return false;
  }
  for (const std::size_t index : group.pod_sets) {
    const PodSetShape& shape = workload_.shape->pod_sets[index];
    if (topology_suits(*info, resources, shape, &note) && flavor_suits(*info, shape, &note)) {
      continue;
    }
    notes->push_back(note);
    return false;
  }
  return true;
}

const PodSetReservation* FlavorAssigner::replaced_pod_set(std::size_t index) const {
  if (replaced_ == nullptr) return nullptr;
  const std::string& name = workload_.shape->pod_sets[index].name;
  for (const PodSetReservation& pod_set : replaced_->pod_sets) {
    if (pod_set.name == name) return &pod_set;
  }
  return nullptr;
}

std::optional<Amount> FlavorAssigner::replaced_usage(const Group& group, FlavorId flavor,
                                                     ResourceId resource,
                                                     std::string* other) const {
  Amount total = 0;
  for (const std::size_t index : group.pod_sets) {
    const PodSetReservation* before = replaced_pod_set(index);
    if (before == nullptr) continue;
    for (const ResourceFlavorChoice& choice : before->flavors) {
      if (choice.resource != resource || choice.flavor == flavor) continue;
      *other = trial_.access().names().flavors.name(choice.flavor);
      return std::nullopt;
    }
    total = plus(total, amount_of(before->usage, resource));
  }
  return total;
}

FlavorAssigner::Tried FlavorAssigner::try_flavor(FlavorId flavor, const Wanted& wanted,
                                                 Search* search) {
  Names& names = trial_.access().names();
  Tried out;
  out.quality = {Mode::fit, 0};
  for (const ResourceAmount& request : wanted.requests) {
    const FrId fr = names.pair(flavor, request.resource);
    const Amount before = amount_of_fr(wanted.assignment.usage, fr);
    FlavorNote note;
    const auto replaced = replaced_usage(wanted.group, flavor, request.resource, &note.text);
    Quality quality;
    if (replaced) {
      quality = check_quota(fr, before, minus(request.amount, *replaced), search, &out.reason);
    } else {
      note.kind = FlavorNote::Kind::other_slice;
      note.flavor = flavor;
      search->notes.push_back(std::move(note));
      out.reason = NoFitReason::no_matching_flavor;
    }
    out.most_borrowed = std::max(out.most_borrowed, quality.borrow);
    if (preferred(out.quality, quality)) out.quality = quality;
    out.picks.push_back({request.resource, flavor, quality.mode, quality.borrow, -1});
  }
  if (out.quality.mode == Mode::no_fit) out.picks.clear();
  return out;
}

FlavorAssigner::Quality FlavorAssigner::check_quota(FrId fr, Amount before, Amount request,
                                                    Search* search, NoFitReason* reason) {
  const CycleAccess& access = trial_.access();
  const QuotaForest& forest = trial_.forest();
  const Amount value = plus(before, request);
  FlavorNote note;
  note.flavor = access.names().flavor_of(fr);
  note.resource = access.names().resource_of(fr);
  const Amount maximum = forest.potential_available(queue_.node, fr);
  if (value > maximum) {
    note.kind = FlavorNote::Kind::exceeds_max;
    note.before = before;
    note.amount = request;
    note.maximum = maximum;
    search->notes.push_back(note);
    *reason = std::max(*reason, NoFitReason::exceeds_max_quota);
    return {Mode::no_fit, 0};
  }
  const auto subtree = forest.lowest_fitting_subtree(queue_.node, fr, value);
  const Amount available = forest.available(queue_.node, fr);
  if (value <= available) return {Mode::fit, subtree.height};
  note.kind = FlavorNote::Kind::insufficient;
  note.amount = minus(value, available);
  search->notes.push_back(note);
  *reason = std::max(*reason, NoFitReason::waiting_for_quota);
  const api::ClusterQueuePreemption& preemption = queue_.spec.preemption;
  const bool while_borrowing = preemption.borrow_within_cohort.policy != api::BorrowPolicy::Never ||
                               (access.config().fair_sharing &&
                                preemption.reclaim_within_cohort != api::ReclaimPolicy::Never);
  if (forest.nominal(queue_.node, fr) < value && !subtree.may_reclaim && !while_borrowing) {
    return {Mode::no_fit, subtree.height};
  }
  const auto answer = oracle_.simulate(fr, value);
  return {answer.mode, answer.borrow};
}

bool FlavorAssigner::preferred(Quality a, Quality b) const {
  if (a.mode == Mode::no_fit) return false;
  if (b.mode == Mode::no_fit) return true;
  if ((a.mode == Mode::no_candidates) != (b.mode == Mode::no_candidates)) {
    return b.mode == Mode::no_candidates;
  }
  const bool borrowing_last = queue_.spec.flavor_fungibility.preference ==
                              api::FungibilityPreference::PreemptionOverBorrowing;
  if (borrowing_last) {
    if (a.borrow != b.borrow) return a.borrow < b.borrow;
    return a.mode > b.mode;
  }
  if (a.mode != b.mode) return a.mode > b.mode;
  return a.borrow < b.borrow;
}

bool FlavorAssigner::try_next(Quality quality) const {
  const api::FlavorFungibility& policy = queue_.spec.flavor_fungibility;
  if (quality.mode == Mode::no_fit || quality.mode == Mode::no_candidates) return true;
  const bool preempts = quality.mode == Mode::preempt || quality.mode == Mode::reclaim;
  if (preempts && policy.when_can_preempt == api::FlavorFungibilityPolicy::TryNextFlavor) {
    return true;
  }
  return quality.borrow > 0 &&
         policy.when_can_borrow == api::FlavorFungibilityPolicy::TryNextFlavor;
}

}  // namespace regatta::admission
