#include "admission/testing/scenario.h"

#include "admission/cycle.h"
#include "lib/api/codec.h"
#include "lib/api/names.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <iterator>
#include <set>

namespace regatta::admission {
namespace {

using Workloads = std::map<std::string, api::Workload>;

template <class T>
T read(const Json& json) {
  auto object = api::from_json<T>(json);
  if (!object) throw std::runtime_error(object.error().what());
  return std::move(*object);
}

Config read_config(const Json& json) {
  Config config;
  if (const Json& sharing = json.at("fairSharing"); !sharing.is_null()) {
    FairSharingConfig fair;
    const Json list = sharing.value("preemptionStrategies", Json::array());
    if (list.is_array() && !list.empty()) fair.strategies.clear();
    for (const Json& name : list) {
      fair.strategies.push_back(name.get<std::string>() == "LessThanInitialShare"
                                    ? PreemptionStrategy::LessThanInitialShare
                                    : PreemptionStrategy::LessThanOrEqualToFinalShare);
    }
    config.fair_sharing = fair;
  }
  const Json gates = json.value("featureGates", Json::object());
  config.priority_sorting_within_cohort = gates.value("PrioritySortingWithinCohort", true);
  config.equivalence_hashing = gates.value("SchedulingEquivalenceHashing", true);
  config.ignore_undeclared_resources =
      json.value("quotaCheckStrategy", std::string()) == "IgnoreUndeclared";
  config.reactivate_on_any_release = false;
  config.reactivation_delay = std::chrono::milliseconds(0);
  return config;
}

void set(api::Workload* workload, std::string_view type, api::ConditionStatus status,
         std::string_view reason, std::string message, TimePoint now) {
  api::Condition condition;
  condition.type = type;
  condition.status = status;
  condition.reason = reason;
  condition.message = std::move(message);
  api::set_condition(&workload->status.conditions, std::move(condition), now);
}

std::set<std::string> names_of(const Json& list) {
  std::set<std::string> names;
  for (const Json& name : list) names.insert(name.get<std::string>());
  return names;
}

std::string list(const std::set<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += " " + name;
  return text;
}

class Player {
 public:
  explicit Player(const Json& scenario)
      : scenario_(scenario), state_(read_config(scenario.at("config"))) {
    now_ = *parse_rfc3339(scenario.at("now").get<std::string>());
  }

  ScenarioOutcome play() {
    load();
    int number = 0;
    for (const Json& step : scenario_.at("steps")) {
      for (const Json& event : step.value("events", Json::array())) apply(event);
      state_.flush(now_);
      const std::size_t before = outcome_.mismatches.size();
      step_ = "step " + std::to_string(number++) + ": ";
      const CycleResult result = run_cycle(state_, now_);
      check_decisions(step.at("expect"), result);
      settle(result);
      check_state(step.at("expect"));
      if (outcome_.mismatches.size() > before) break;
      now_ += std::chrono::seconds(1);
    }
    return outcome_;
  }

 private:
  void load() {
    static constexpr const char* order[] = {"Namespace",    "ResourceFlavor", "Cohort",
                                            "ClusterQueue", "LocalQueue",     "Workload"};
    for (const std::string kind : order) {
      for (const Json& object : scenario_.at("objects")) {
        if (object.at("kind").get<std::string>() == kind) create(object);
      }
    }
    state_.flush(now_);
  }

  void create(const Json& object) {
    const std::string kind = object.at("kind").get<std::string>();
    if (kind == "Namespace") state_.upsert(read<api::Namespace>(object));
    if (kind == "ResourceFlavor") state_.upsert(read<api::ResourceFlavor>(object));
    if (kind == "Cohort") {
      const auto cohort = read<api::Cohort>(object);
      cohorts_.insert(cohort.metadata.name);
      state_.upsert(cohort, now_);
    }
    if (kind == "ClusterQueue") state_.upsert(read<api::ClusterQueue>(object), now_);
    if (kind == "LocalQueue") state_.upsert(read<api::LocalQueue>(object), now_);
    if (kind == "Workload") {
      const auto workload = read<api::Workload>(object);
      workloads_[workload.metadata.key().str()] = workload;
      state_.upsert(workload, now_);
    }
  }

  void apply(const Json& event) {
    const auto text = [&](const char* key) { return event.at(key).get<std::string>(); };
    if (event.contains("create")) return create(event.at("create"));
    if (event.contains("update")) return create(event.at("update"));
    if (event.contains("delete")) {
      const auto it = workloads_.find(text("delete"));
      state_.erase_workload(it->second.metadata.key(), now_);
      workloads_.erase(it);
      return;
    }
    api::Workload* changed = nullptr;
    if (event.contains("finish")) {
      changed = &workloads_.at(text("finish"));
      set(changed, api::conditions::finished, api::ConditionStatus::True, "Succeeded", "", now_);
    } else if (event.contains("priority")) {
      const Json& what = event.at("priority");
      changed = &workloads_.at(what.at("workload").get<std::string>());
      changed->spec.priority = what.at("value").get<std::int32_t>();
    } else {
      const Json& what = event.at("reclaim");
      changed = &workloads_.at(what.at("workload").get<std::string>());
      reclaim(changed, what.at("podSet").get<std::string>(), what.at("count").get<std::int32_t>());
    }
    state_.upsert(*changed, now_);
  }

  static void reclaim(api::Workload* workload, const std::string& pod_set, std::int32_t count) {
    for (auto& entry : workload->status.reclaimable_pods) {
      if (entry.name == pod_set) {
        entry.count = count;
        return;
      }
    }
    workload->status.reclaimable_pods.push_back({pod_set, count});
  }

  void mismatch(const std::string& text) { outcome_.mismatches.push_back(step_ + text); }

  void check_set(const char* what, const std::set<std::string>& expected,
                 const std::set<std::string>& actual) {
    if (expected == actual) return;
    mismatch(std::string(what) + " expected" + list(expected) + ", got" + list(actual));
  }

  static std::set<std::string> keys(const Json& object) {
    std::set<std::string> names;
    for (const auto& [name, value] : object.items()) names.insert(name);
    return names;
  }

  void check_decisions(const Json& expect, const CycleResult& result) {
    if (expect.at("cycle").get<bool>() != result.ran) mismatch("cycle");
    std::set<std::string> admitted;
    for (const auto& decision : result.admitted) admitted.insert(decision.key.str());
    check_set("admitted", keys(expect.at("admitted")), admitted);
    for (const auto& decision : result.admitted) {
      const auto it = expect.at("admitted").find(decision.key.str());
      if (it != expect.at("admitted").end()) check_admission(*it, decision);
    }
    std::set<std::string> preempted;
    for (const auto& decision : result.preempted) {
      preempted.insert(decision.key.str() + "=" + decision.reason + "/" + decision.preemptor.str());
    }
    std::set<std::string> expected;
    for (const auto& [key, value] : expect.at("preempted").items()) {
      expected.insert(key + "=" + value.at("reason").get<std::string>() + "/" +
                      value.at("by").get<std::string>());
    }
    check_set("preempted", expected, preempted);
    check_pending(expect.at("pending"), result);
  }

  void check_pending(const Json& expect, const CycleResult& result) {
    std::set<std::string> expected;
    std::set<std::string> pending;
    for (const auto& [key, value] : expect.items()) {
      expected.insert(key + "=" + value.at("reason").get<std::string>());
    }
    for (const auto& decision : result.pending) {
      pending.insert(decision.key.str() + "=" + decision.reason);
    }
    check_set("pending", expected, pending);
    for (const auto& decision : result.pending) {
      const auto it = expect.find(decision.key.str());
      if (it == expect.end()) continue;
      std::set<std::string> texts = names_of(it->value("messageAlternatives", Json::array()));
      texts.insert(it->at("message").get<std::string>());
      ++outcome_.messages;
      if (texts.contains(decision.message)) {
        ++outcome_.messages_matched;
      } else {
        outcome_.message_mismatches.push_back(step_ + decision.key.str() + "\n  expected: " +
                                              *texts.begin() + "\n  got:      " + decision.message);
      }
    }
  }

  void check_admission(const Json& expect, const AdmittedWorkload& decision) {
    if (expect.at("clusterQueue").get<std::string>() != decision.cluster_queue) {
      mismatch(decision.key.str() + " in ClusterQueue " + decision.cluster_queue);
    }
    const Json& sets = expect.at("podSetAssignments");
    const auto& given = decision.admission.pod_set_assignments;
    bool same = sets.size() == given.size();
    for (std::size_t i = 0; same && i < given.size(); ++i) {
      same = sets[i].at("name").get<std::string>() == given[i].name &&
             sets[i].at("count").get<std::int32_t>() == given[i].count &&
             sets[i].value("flavors", Json::object()).get<api::StringMap>() == given[i].flavors;
      api::ResourceList usage;
      const Json amounts = sets[i].value("resourceUsage", Json::object());
      for (const auto& [name, text] : amounts.items()) {
        usage[name] = *api::Quantity::parse(text.get<std::string>());
      }
      same = same && usage == given[i].resource_usage;
    }
    if (!same) mismatch("assignment of " + decision.key.str() + ", expected " + dump_json(sets));
  }

  /// What the controllers would have done before the next cycle.
  void settle(const CycleResult& result) {
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

  void check_state(const Json& expect) {
    std::set<std::string> queued;
    std::set<std::string> inadmissible;
    std::set<std::string> usage;
    for (const std::string& name : state_.cluster_queues()) {
      const QueueInfo& queue = *state_.find_queue(name);
      for (const auto& key : queue.pending.waiting_keys()) queued.insert(key.str());
      for (const auto& key : queue.pending.inadmissible_keys()) inadmissible.insert(key.str());
      for (const FrId fr : queue.frs) {
        const Amount amount = state_.forest().usage(queue.node, fr);
        if (amount == 0) continue;
        usage.insert(name + ":" + state_.names().flavor_name(fr) + "/" +
                     state_.names().resource_name(fr) + "=" + std::to_string(amount));
      }
    }
    check_set("queued", names_of(expect.at("queued")), queued);
    check_set("inadmissible", names_of(expect.at("inadmissible")), inadmissible);
    std::set<std::string> expected;
    for (const auto& [name, amounts] : expect.at("usage").items()) {
      for (const auto& [fr, text] : amounts.items()) {
        const std::string resource = fr.substr(fr.find('/') + 1);
        const auto quantity = *api::Quantity::parse(text.get<std::string>());
        expected.insert(name + ":" + fr + "=" +
                        std::to_string(api::resource_amount(resource, quantity)));
      }
    }
    check_set("usage", expected, usage);
    check_shares(expect.value("shares", Json::object()));
  }

  void check_shares(const Json& expect) {
    for (const auto& [name, value] : expect.items()) {
      const bool queue = name.starts_with("ClusterQueue/");
      const std::string object = name.substr(name.find('/') + 1);
      const double share = queue ? state_.share_of_queue(object) : state_.share_of_cohort(object);
      const double wanted = std::stod(value.get<std::string>());
      if (share != wanted) {
        mismatch("share of " + name + " expected " + value.get<std::string>() + ", got " +
                 std::to_string(share));
      }
    }
  }

  const Json& scenario_;
  State state_;
  TimePoint now_{};
  Workloads workloads_;
  std::set<std::string> cohorts_;
  std::string step_;
  ScenarioOutcome outcome_;
};

}  // namespace

ScenarioOutcome run_scenario_file(const std::string& path) {
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto scenario = parse_json(text);
  if (!scenario) return {{"not JSON: " + scenario.error().what()}, {}, 0, 0, false};
  for (const Json& object : scenario->at("objects")) {
    if (object.at("kind").get<std::string>() == "Topology") return {{}, {}, 0, 0, true};
  }
  return Player(*scenario).play();
}

}  // namespace regatta::admission
