#include "whatif/scenario/run.h"

#include "admission/state.h"
#include "lib/api/names.h"

#include <algorithm>
#include <set>

namespace regatta::whatif {
namespace {

void set(api::Workload* workload, std::string_view type, api::ConditionStatus status,
         std::string_view reason, const std::string& message, TimePoint now) {
  api::Condition condition;
  condition.type = type;
  condition.status = status;
  condition.reason = reason;
  condition.message = message;
  api::set_condition(&workload->status.conditions, std::move(condition), now);
}

class Player {
 public:
  explicit Player(const Scenario& scenario)
      : scenario_(scenario), state_(scenario.config), now_(scenario.now) {}

  Result<std::vector<ObservedStep>> play() {
    load();
    std::vector<ObservedStep> out;
    for (const ScenarioStep& step : scenario_.steps) {
      for (std::size_t i = 0; i < step.events.size(); ++i) {
        if (const Status applied = apply(step.events[i]); !applied) {
          return Error(Errc::invalid, "steps[" + std::to_string(out.size()) + "].events[" +
                                          std::to_string(i) + "]: " + applied.error().what());
        }
      }
      state_.flush(now_);
      ObservedStep observed;
      observed.decisions = admission::run_cycle(state_, now_);
      settle(observed.decisions);
      observe(&observed);
      out.push_back(std::move(observed));
      now_ += std::chrono::seconds(1);
    }
    return out;
  }

 private:
  void load() {
    for (std::size_t kind = 0; kind < std::variant_size_v<ScenarioObject>; ++kind) {
      for (const ScenarioObject& object : scenario_.objects) {
        if (object.index() == kind) put(object);
      }
    }
    state_.flush(now_);
  }

  void put(const ScenarioObject& object) {
    std::visit([this](const auto& one) { put_one(one); }, object);
  }

  template <class T>
  void put_one(const T& object) {
    if constexpr (std::same_as<T, api::Cohort>) cohorts_.insert(object.metadata.name);
    if constexpr (std::same_as<T, api::Workload>) workloads_[object.metadata.key().str()] = object;
    if constexpr (requires { state_.upsert(object, now_); }) {
      state_.upsert(object, now_);
    } else if constexpr (requires { state_.upsert(object); }) {
      state_.upsert(object);
    }
  }

  Result<api::Workload*> find(const std::string& key) {
    const auto it = workloads_.find(key);
    if (it == workloads_.end()) return Error(Errc::invalid, "there is no Workload " + key);
    return &it->second;
  }

  Status apply(const ScenarioEvent& event) {
    if (const auto* made = std::get_if<PutObject>(&event)) {
      // In a scenario any update of a Node counts, as if everything about it had changed.
      if (const auto* node = std::get_if<api::Node>(&made->object)) {
        state_.erase_node(node->metadata.name, now_);
      }
      put(made->object);
      return ok();
    }
    const auto key = std::visit(
        [](const auto& one) -> std::string {
          if constexpr (requires { one.workload; }) return one.workload;
          return "";
        },
        event);
    const auto found = find(key);
    if (!found) return found.error();
    api::Workload& workload = **found;
    if (std::holds_alternative<DeleteWorkload>(event)) {
      state_.erase_workload(workload.metadata.key(), now_);
      workloads_.erase(key);
      return ok();
    }
    if (std::holds_alternative<FinishWorkload>(event)) {
      set(&workload, api::conditions::finished, api::ConditionStatus::True, "Succeeded", "", now_);
    } else if (const auto* priority = std::get_if<SetPriority>(&event)) {
      workload.spec.priority = priority->value;
    } else if (const auto* change = std::get_if<SetReclaimable>(&event)) {
      reclaim(&workload, *change);
    }
    state_.upsert(workload, now_);
    return ok();
  }

  static void reclaim(api::Workload* workload, const SetReclaimable& change) {
    for (auto& entry : workload->status.reclaimable_pods) {
      if (entry.name != change.pod_set) continue;
      entry.count = change.count;
      return;
    }
    workload->status.reclaimable_pods.push_back({change.pod_set, change.count});
  }

  /// Does what the controllers would do before the next cycle.
  void settle(const admission::CycleResult& result) {
    std::set<std::string> changed;
    for (const auto& decision : result.admitted) {
      api::Workload& workload = workloads_.at(decision.key.str());
      workload.status.admission = decision.admission;
      changed.insert(decision.key.str());
      for (const auto type : {api::conditions::evicted, api::conditions::preempted}) {
        if (!api::is_true(workload.status.conditions, type)) continue;
        set(&workload, type, api::ConditionStatus::False, "QuotaReserved", "", now_);
      }
      for (const auto type : {api::conditions::quota_reserved, api::conditions::admitted}) {
        set(&workload, type, api::ConditionStatus::True, type, "", now_);
      }
    }
    for (const auto& decision : result.pending) {
      set(&workloads_.at(decision.key.str()), api::conditions::quota_reserved,
          api::ConditionStatus::False, decision.reason, decision.message, now_);
      changed.insert(decision.key.str());
    }
    std::set<std::string> victims;
    for (const auto& decision : result.preempted) {
      api::Workload& workload = workloads_.at(decision.key.str());
      set(&workload, api::conditions::evicted, api::ConditionStatus::True, "Preempted", "", now_);
      set(&workload, api::conditions::preempted, api::ConditionStatus::True, decision.reason, "",
          now_);
      victims.insert(decision.key.str());
      changed.insert(decision.key.str());
    }
    for (const auto& key : changed) state_.upsert(workloads_.at(key), now_);
    for (const auto& key : victims) release(&workloads_.at(key));
    state_.flush(now_);
  }

  void release(api::Workload* workload) {
    set(workload, api::conditions::requeued, api::ConditionStatus::True, "Preempted", "", now_);
    set(workload, api::conditions::quota_reserved, api::ConditionStatus::False, "PendingEvaluation",
        "", now_);
    set(workload, api::conditions::admitted, api::ConditionStatus::False, "NoReservation", "",
        now_);
    workload->status.admission.reset();
    state_.upsert(*workload, now_);
  }

  void observe(ObservedStep* out) {
    const admission::StatusReader reader = state_.reader();
    for (const std::string& name : reader.cluster_queues()) {
      const admission::QueueInfo& queue = *reader.find_queue(name);
      for (const auto& key : queue.pending.waiting_keys()) out->queued.push_back(key.str());
      for (const auto& key : queue.pending.inadmissible_keys()) {
        out->inadmissible.push_back(key.str());
      }
      for (const admission::FrId fr : queue.frs) {
        const admission::Amount amount = reader.forest().usage(queue.node, fr);
        if (amount == 0) continue;
        const std::string& resource = reader.names().resource_name(fr);
        out->usage[name][reader.names().flavor_name(fr) + "/" + resource] =
            api::resource_quantity(resource, amount);
      }
    }
    std::sort(out->queued.begin(), out->queued.end());
    std::sort(out->inadmissible.begin(), out->inadmissible.end());
    out->fair_sharing = scenario_.config.fair_sharing.has_value();
    if (!out->fair_sharing) return;
    for (const std::string& name : reader.cluster_queues()) {
      out->shares["ClusterQueue/" + name] = reader.share_of_queue(name);
    }
    for (const auto& name : cohorts_) out->shares["Cohort/" + name] = reader.share_of_cohort(name);
  }

  const Scenario& scenario_;
  admission::State state_;
  TimePoint now_;
  std::map<std::string, api::Workload> workloads_;
  std::set<std::string> cohorts_;
};

}  // namespace

Result<std::vector<ObservedStep>> run_scenario(const Scenario& scenario) {
  return Player(scenario).play();
}

}  // namespace regatta::whatif
