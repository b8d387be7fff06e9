#include "lab/conformance/queue_world.h"

#include "lib/base/json_access.h"
#include "whatif/scenario/scenario.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace regatta::lab {
namespace {

/// After every time that a scenario states.
constexpr TimePoint scenario_time{std::chrono::hours(24) * 20'700};

admission::Config config_of(const Json& scenario) {
  Json config = Json::object();
  const Json& given = object_or_empty(scenario, {"config"});
  if (const Json& sharing = at_or_null(given, "fairSharing");
      !sharing.is_null() && sharing != false)
    config["fairSharing"] = sharing.is_object() ? sharing : Json::object();
  for (const auto& [name, value] : object_or_empty(scenario, {"featureGates"}).items()) {
    const Json one{{"featureGates", Json{{name, value}}}};
    if (whatif::read_scenario_config(one)) config["featureGates"][name] = value;
  }
  auto read = whatif::read_scenario_config(config);
  return read ? std::move(*read) : admission::Config{};
}

/// Whether a head with that reason goes straight back into the heap.
bool goes_back(std::string_view reason, const admission::QueueInfo& queue) {
  if (queue.spec.queueing_strategy == api::QueueingStrategy::StrictFIFO) {
    return reason != "NamespaceMismatch";
  }
  constexpr std::string_view immediate[] = {"FailedAfterNomination", "PendingPreemption",
                                            "PendingMigration", "PreemptionFailed"};
  return std::find(std::begin(immediate), std::end(immediate), reason) != std::end(immediate);
}

api::ObjectKey key_of(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return {"", text};
  return {text.substr(0, slash), text.substr(slash + 1)};
}

api::ObjectKey key_in(const Json& metadata) {
  return {text_at(metadata, "namespace"), text_at(metadata, "name")};
}

Error unknown(const std::string& what) {
  return Error(Errc::invalid, what);
}

}  // namespace

QueueWorld::QueueWorld(const Json& scenario)
    : now_(scenario_time),
      config_(config_of(scenario)),
      state_(std::make_unique<admission::State>(config_)) {}

void QueueWorld::take_over() {
  if (!std::exchange(cohort_deleted_, false)) return;
  state_ = std::make_unique<admission::State>(config_);
  heads_.clear();
  for (const auto& [name, object] : objects_) (void)put_kind(name.first, object);
}

Status QueueWorld::load(const Json& objects) {
  for (const Json& object : objects) {
    if (const Status put_it = put(object); !put_it) return put_it;
  }
  return ok();
}

template <class T>
Status QueueWorld::put_one(const Json& object) {
  auto read = api::from_json<T>(object);
  if (!read) return read.error();
  const api::ObjectKey key = read->metadata.key();
  if constexpr (requires { state_->upsert(*read, now_); }) {
    state_->upsert(*read, now_);
  } else {
    state_->upsert(*read);
  }
  if constexpr (std::same_as<T, api::Workload>) workloads_[key] = std::move(*read);
  if constexpr (std::same_as<T, api::LocalQueue>) local_queues_[key] = std::move(*read);
  if constexpr (std::same_as<T, api::ClusterQueue>) cluster_queues_[key.name] = std::move(*read);
  if constexpr (std::same_as<T, api::Cohort>) cohorts_[key.name] = std::move(*read);
  return ok();
}

Status QueueWorld::put(const Json& object) {
  const std::string& kind = text_at(object, "kind");
  const Status put_it = put_kind(kind, object);
  if (put_it) objects_[{kind, key_in(object_or_empty(object, {"metadata"}))}] = object;
  return put_it;
}

Status QueueWorld::put_kind(const std::string& kind, const Json& object) {
  if (kind == "Namespace") return put_one<api::Namespace>(object);
  if (kind == "ResourceFlavor") return put_one<api::ResourceFlavor>(object);
  if (kind == "AdmissionCheck") return put_one<api::AdmissionCheck>(object);
  if (kind == "Topology") return put_one<api::Topology>(object);
  if (kind == "Cohort") return put_one<api::Cohort>(object);
  if (kind == "ClusterQueue") return put_one<api::ClusterQueue>(object);
  if (kind == "LocalQueue") return put_one<api::LocalQueue>(object);
  if (kind == "Workload") return put_one<api::Workload>(object);
  if (kind == "Node") return put_one<api::Node>(object);
  if (kind == "Pod") return put_one<api::Pod>(object);
  return unknown("objects of kind " + kind + " have no effect here");
}

Status QueueWorld::erase(const Json& what) {
  const std::string& kind = text_at(what, "kind");
  const std::string& name = text_at(what, "name");
  const api::ObjectKey key = key_in(what);
  objects_.erase({kind, key});
  if (kind == "Workload") {
    state_->erase_workload(key, now_);
    workloads_.erase(key);
  } else if (kind == "LocalQueue") {
    state_->erase_local_queue(key);
    local_queues_.erase(key);
  } else if (kind == "ClusterQueue") {
    state_->erase_cluster_queue(name, now_);
    cluster_queues_.erase(name);
  } else if (kind == "Cohort") {
    state_->erase_cohort(name, now_);
    cohort_deleted_ = true;
    cohorts_.erase(name);
  } else if (kind == "ResourceFlavor") {
    state_->erase_flavor(name);
  } else if (kind == "AdmissionCheck") {
    state_->erase_check(name);
  } else if (kind == "Namespace") {
    state_->erase_namespace(name);
  } else {
    return unknown("objects of kind " + kind + " have no effect here");
  }
  return ok();
}

Status QueueWorld::requeue(const Json& what) {
  admission::CycleAccess access(*state_);
  const admission::WorkloadId id = access.workloads().find(key_of(text_at(what, "workload")));
  const auto head = std::find(heads_.begin(), heads_.end(), id);
  if (head == heads_.end()) return ok();  // it left while the cycle ran
  heads_.erase(head);
  const admission::WorkloadEntry& entry = access.workloads()[id];
  if (entry.place != admission::Place::in_cycle) return ok();
  const admission::LocalQueueInfo& local = access.local_queue(entry.local_queue);
  if (local.queue == admission::no_id) return ok();
  const std::string& reason = text_at(what, "reason");
  const bool alike = reason == "NoFit" || reason == "PreemptionNoCandidates";
  access.requeue(id, goes_back(reason, access.queue(local.queue)), alike, now_, reason);
  if (reason == "PendingPreemption" || reason == "PendingMigration") access.make_sticky(id);
  return ok();
}

Status QueueWorld::apply(const Json& event) {
  if (!event.is_object() || event.size() != 1) return unknown("an event has exactly one key");
  const std::string& what = event.begin().key();
  const Json& value = event.begin().value();
  if (what == "create" || what == "update") return put(value);
  if (what == "delete") return erase(value);
  if (what == "requeue") return requeue(value);
  if (what == "flush") {
    state_->flush(now_);
    return ok();
  }
  if (what == "takeHeads") {
    for (const admission::WorkloadId id : admission::CycleAccess(*state_).pop_heads()) {
      heads_.push_back(id);
    }
    return ok();
  }
  return unknown("unknown event " + what);
}

}  // namespace regatta::lab
