#include "admission/testing/random_world.h"

#include "lib/api/names.h"
#include "lib/base/testing.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace regatta::admission::testing {
namespace {

constexpr TimePoint epoch{std::chrono::hours(24 * 365 * 56)};
constexpr std::array<const char*, 2> resource_names{"cpu", "memory"};

class Drawer {
 public:
  Drawer(Rng* rng, const Draw& draw) : rng_(*rng), draw_(draw) {}

  Inputs inputs() {
    if (draw_.fair_sharing) {
      FairSharingConfig& fair = in_.config.fair_sharing.emplace();
      if (rng_.chance(0.3)) fair.strategies.pop_back();
    }
    in_.config.reactivation_delay = std::chrono::milliseconds(0);
    resources_ = draw_.resources > 0 ? draw_.resources : number(1, 2);
    for (const char* name : {"red", "blue"}) {
      in_.flavors.emplace_back().metadata.name = name;
    }
    add_cohorts();
    for (int i = 0; i < draw_.queues; ++i) add_queue(i);
    for (int i = 0; i < draw_.workloads; ++i) add_workload(i);
    return std::move(in_);
  }

 private:
  int number(int low, int high) { return static_cast<int>(rng_.between(low, high)); }

  api::Quantity amount(int high) {
    if (draw_.unlimited && rng_.chance(0.03)) {
      return api::Quantity(std::numeric_limits<std::int64_t>::max());
    }
    return api::Quantity(number(0, high));
  }

  std::vector<api::ResourceGroup> quota(int high, bool in_cohort, bool is_cohort) {
    api::ResourceGroup group;
    for (int r = 0; r < resources_; ++r) group.covered_resources.emplace_back(resource_names.at(r));
    std::vector<std::string> flavors{"red", "blue"};
    if (rng_.chance(0.5)) std::swap(flavors[0], flavors[1]);
    if (rng_.chance(0.5)) flavors.pop_back();
    for (const std::string& flavor : flavors) {
      api::FlavorQuotas& quotas = group.flavors.emplace_back();
      quotas.name = flavor;
      for (int r = 0; r < resources_; ++r) {
        api::ResourceQuota& one = quotas.resources.emplace_back();
        one.name = resource_names.at(r);
        one.nominal_quota = amount(high);
        if (in_cohort && rng_.chance(0.3)) one.borrowing_limit = amount(high);
        if (!in_cohort || !rng_.chance(0.3)) continue;
        one.lending_limit = amount(high);
        if (!is_cohort && one.nominal_quota < *one.lending_limit) {
          one.lending_limit = one.nominal_quota;
        }
      }
    }
    return {group};
  }

  std::optional<api::FairSharing> weight() {
    if (!rng_.chance(0.4)) return std::nullopt;
    api::FairSharing sharing;
    sharing.weight = api::Quantity(number(0, 3));
    return sharing;
  }

  void add_cohorts() {
    const int count = number(0, 6);
    for (int i = 0; i < count; ++i) {
      api::Cohort& cohort = in_.cohorts.emplace_back();
      cohort.metadata.name = "cohort-" + std::to_string(i);
      const bool child = i > 0 && rng_.chance(0.7);
      if (child) cohort.spec.parent_name = "cohort-" + std::to_string(number(0, i - 1));
      if (rng_.chance(0.4)) cohort.spec.resource_groups = quota(8, child, true);
      cohort.spec.fair_sharing = weight();
    }
  }

  void add_queue(int i) {
    api::ClusterQueue& queue = in_.queues.emplace_back();
    queue.metadata.name = "queue-" + std::to_string(i);
    queue.spec.namespace_selector.emplace();
    const bool in_cohort = rng_.chance(0.9);
    if (in_cohort) {
      const int cohorts = static_cast<int>(in_.cohorts.size());
      queue.spec.cohort_name = cohorts == 0 || rng_.chance(0.1)
                                   ? std::string("implicit")
                                   : "cohort-" + std::to_string(number(0, cohorts - 1));
    }
    queue.spec.resource_groups = quota(10, in_cohort, false);
    queue.spec.fair_sharing = weight();
    if (rng_.chance(0.3)) queue.spec.queueing_strategy = api::QueueingStrategy::StrictFIFO;
    if (draw_.preemption) add_policies(&queue.spec);
    api::LocalQueue& local = in_.local_queues.emplace_back();
    local.metadata.ns = "dev";
    local.metadata.name = queue.metadata.name;
    local.spec.cluster_queue = queue.metadata.name;
  }

  void add_policies(api::ClusterQueueSpec* spec) {
    spec->preemption.within_cluster_queue = static_cast<api::WithinQueuePolicy>(number(0, 2));
    spec->preemption.reclaim_within_cohort = static_cast<api::ReclaimPolicy>(number(0, 2));
    if (spec->preemption.reclaim_within_cohort != api::ReclaimPolicy::Never && rng_.chance(0.4)) {
      spec->preemption.borrow_within_cohort.policy = api::BorrowPolicy::LowerPriority;
      if (rng_.chance(0.5)) spec->preemption.borrow_within_cohort.max_priority_threshold = 1;
    }
    if (rng_.chance(0.4)) {
      spec->flavor_fungibility.when_can_borrow = api::FlavorFungibilityPolicy::TryNextFlavor;
    }
    if (rng_.chance(0.4)) {
      spec->flavor_fungibility.when_can_preempt = api::FlavorFungibilityPolicy::MayStopSearch;
    }
  }

  void add_workload(int i) {
    api::Workload& workload = in_.workloads.emplace_back();
    workload.metadata.ns = "dev";
    workload.metadata.name = "job-" + std::to_string(i);
    workload.metadata.uid = rng_.uuid();
    workload.metadata.creation_timestamp = epoch + std::chrono::seconds(number(0, 20));
    workload.spec.queue_name = "queue-" + std::to_string(number(0, draw_.queues - 1));
    workload.spec.priority = number(0, 3);
    const int pod_sets = rng_.chance(0.2) ? 2 : 1;
    for (int p = 0; p < pod_sets; ++p) {
      api::PodSet& pod_set = workload.spec.pod_sets.emplace_back();
      pod_set.name = "set-" + std::to_string(p);
      pod_set.count = number(1, 3);
      const bool partial = draw_.partial_admission && rng_.chance(0.2);
      if (p == 0 && partial) pod_set.min_count = 1;
      Json pod;
      Json& requests = pod["spec"]["containers"][0]["resources"]["requests"];
      pod["spec"]["containers"][0]["name"] = "c";
      for (int r = 0; r < resources_; ++r) requests[resource_names.at(r)] = number(0, 3);
      pod_set.pod_template = *api::PodTemplate::from(pod);
    }
  }

  Rng& rng_;
  const Draw& draw_;
  Inputs in_;
  int resources_ = 1;
};

void set(api::Workload* workload, std::string_view type, bool value, std::string_view reason,
         TimePoint now) {
  api::Condition condition;
  condition.type = type;
  condition.status = value ? api::ConditionStatus::True : api::ConditionStatus::False;
  condition.reason = reason;
  api::set_condition(&workload->status.conditions, condition, now);
}

template <class T>
std::vector<T> shuffled(std::vector<T> list, Rng* rng) {
  for (std::size_t i = list.size(); i > 1; --i) {
    const auto other = static_cast<std::size_t>(rng->between(0, static_cast<std::int64_t>(i) - 1));
    std::swap(list[i - 1], list[other]);
  }
  return list;
}

}  // namespace

std::vector<std::uint64_t> seeds(std::uint64_t count) {
  if (const char* one = std::getenv("REGATTA_SEED")) return {std::strtoull(one, nullptr, 10)};
  std::vector<std::uint64_t> all;
  for (std::uint64_t seed = 1; seed <= tries(count); ++seed) all.push_back(seed);
  return all;
}

bool one_seed() {
  return std::getenv("REGATTA_SEED") != nullptr;
}

Inputs draw_inputs(Rng* rng, const Draw& draw) {
  return Drawer(rng, draw).inputs();
}

Player::Player(const Inputs& inputs, std::uint64_t shuffle)
    : state_(inputs.config), now_(epoch + std::chrono::minutes(1)) {
  Rng rng(shuffle);
  api::Namespace ns;
  ns.metadata.name = "dev";
  state_.upsert(ns);
  for (const auto& object : shuffled(inputs.workloads, &rng)) submit(object);
  for (const auto& object : shuffled(inputs.queues, &rng)) state_.upsert(object, now_);
  for (const auto& object : shuffled(inputs.cohorts, &rng)) state_.upsert(object, now_);
  for (const auto& object : shuffled(inputs.local_queues, &rng)) state_.upsert(object, now_);
  for (const auto& object : shuffled(inputs.flavors, &rng)) state_.upsert(object);
}

void Player::submit(const api::Workload& workload) {
  workloads_[workload.metadata.key()] = workload;
  state_.upsert(workload, now_);
}

void Player::finish(const api::ObjectKey& key) {
  workloads_.erase(key);
  state_.erase_workload(key, now_);
}

std::vector<api::ObjectKey> Player::running() const {
  std::vector<api::ObjectKey> keys;
  for (const auto& [key, workload] : workloads_) {
    if (workload.status.admission) keys.push_back(key);
  }
  return keys;
}

CycleResult Player::cycle() {
  now_ += std::chrono::seconds(1);
  ++cycles_;
  stop_evicted();
  state_.flush(now_);
  CycleResult result = run_cycle(state_, now_);
  for (const AdmittedWorkload& decision : result.admitted) admit(decision);
  for (const PreemptedWorkload& decision : result.preempted) evict(decision);
  write_log(result);
  return result;
}

void Player::admit(const AdmittedWorkload& decision) {
  api::Workload& workload = workloads_.at(decision.key);
  workload.status.admission = decision.admission;
  set(&workload, api::conditions::evicted, false, "QuotaReserved", now_);
  set(&workload, api::conditions::quota_reserved, true, "QuotaReserved", now_);
  set(&workload, api::conditions::admitted, true, "Admitted", now_);
  state_.upsert(workload, now_);
}

void Player::evict(const PreemptedWorkload& decision) {
  api::Workload& workload = workloads_.at(decision.key);
  set(&workload, api::conditions::evicted, true, "Preempted", now_);
  state_.upsert(workload, now_);
  stopping_.push_back({cycles_ + static_cast<std::uint64_t>(grace_) + 1, decision.key});
}

void Player::stop_evicted() {
  while (!stopping_.empty() && stopping_.front().at <= cycles_) {
    const api::ObjectKey key = stopping_.front().key;
    stopping_.pop_front();
    const auto it = workloads_.find(key);
    if (it == workloads_.end()) continue;
    it->second.status.admission.reset();
    set(&it->second, api::conditions::quota_reserved, false, "Pending", now_);
    set(&it->second, api::conditions::admitted, false, "NoReservation", now_);
    state_.upsert(it->second, now_);
  }
}

void Player::write_log(const CycleResult& result) {
  log_ += "cycle " + std::to_string(result.cycle) + "\n";
  for (const AdmittedWorkload& decision : result.admitted) {
    log_ += "  admitted " + decision.key.name + " in " + decision.cluster_queue;
    for (const auto& pod_set : decision.admission.pod_set_assignments) {
      log_ += " " + pod_set.name + " x" + std::to_string(pod_set.count.value_or(0));
      for (const auto& [resource, flavor] : pod_set.flavors) log_ += " " + resource + "=" + flavor;
    }
    log_ += "\n";
  }
  for (const PreemptedWorkload& decision : result.preempted) {
    log_ += "  preempted " + decision.key.name + " for " + decision.preemptor->key.name + " " +
            std::string(decision.reason) + " " + decision.preemptee_path + "\n";
  }
  for (const PendingWorkload& decision : result.pending) {
    log_ += "  pending " + decision.key.name + " " + decision.reason + " " + decision.message +
            (decision.immediate ? " again\n" : "\n");
  }
}

}  // namespace regatta::admission::testing
