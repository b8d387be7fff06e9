#include "lib/api/names.h"
#include "lib/api/selected_clusters.h"
#include "whatif/engine/cluster.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace regatta::whatif {
namespace {

void add_quotas(const std::vector<api::ResourceGroup>& groups, Amounts* out) {
  for (const api::ResourceGroup& group : groups) {
    for (const api::FlavorQuotas& flavor : group.flavors) {
      for (const api::ResourceQuota& quota : flavor.resources) {
        (*out)[{flavor.name, quota.name}] +=
            in_units(quota.name, api::resource_amount(quota.name, quota.nominal_quota));
      }
    }
  }
}

bool is_queued(const api::Workload& workload) {
  return !workload.status.admission && !lifecycle::is_finished(workload);
}

}  // namespace

/// Where objects of a kind are kept; null for kinds that nothing looks up.
template <class T>
Cluster::Named<T>* Cluster::objects_of() {
  if constexpr (std::same_as<T, api::Namespace>) return &namespaces_;
  if constexpr (std::same_as<T, api::ResourceFlavor>) return &flavors_;
  if constexpr (std::same_as<T, api::Cohort>) return &cohorts_;
  if constexpr (std::same_as<T, api::MultiKueueConfig>) return &configs_;
  if constexpr (std::same_as<T, api::MultiKueueCluster>) return &multikueue_clusters_;
  if constexpr (std::same_as<T, api::PriorityClass>) return &priority_classes_;
  if constexpr (std::same_as<T, api::WorkloadPriorityClass>) return &workload_classes_;
  if constexpr (std::same_as<T, api::Node>) return &nodes_;
  return nullptr;
}

/// What labels select may have changed. A selector that cannot be read selects nothing.
void Cluster::list_clusters() {
  std::vector<const api::ObjectMeta*> clusters;
  for (const auto& [name, cluster] : multikueue_clusters_) clusters.push_back(&cluster->metadata);
  for (const auto& [name, config] : configs_) {
    if (!api::selects_clusters(*config)) {
      selecting_.erase(name);
      continue;
    }
    auto whole = std::make_shared<api::MultiKueueConfig>(*config);
    if (auto names = api::listed_clusters(*config, clusters)) {
      whole->spec.clusters = std::move(*names);
    }
    selecting_[name] = std::move(whole);
  }
}

template <class T>
void Cluster::put(const T& object, TimePoint now) {
  const std::string& name = object.metadata.name;
  if constexpr (std::same_as<T, api::LocalQueue>) {
    local_queues_[object.metadata.key()] = std::make_shared<const T>(object);
  } else if (Named<T>* named = objects_of<T>()) {
    (*named)[name] = std::make_shared<const T>(object);
  }
  if constexpr (std::same_as<T, api::MultiKueueConfig> || std::same_as<T, api::MultiKueueCluster>) {
    list_clusters();
  }
  if constexpr (requires { state_.upsert(object, now); }) {
    state_.upsert(object, now);
  } else if constexpr (requires { state_.upsert(object).begin(); }) {
    // Objects that give pods defaults may change the requests of these workloads.
    for (const api::ObjectKey& key : state_.upsert(object)) touch(find(key), now);
  } else if constexpr (requires { state_.upsert(object); }) {
    state_.upsert(object);
  }
  if constexpr (std::same_as<T, api::Node>) return look_at_node(name, &object, now);
  refresh_capacity(now);
  touch_all(now);
}

void Cluster::put(const api::ClusterQueue& queue, TimePoint now) {
  cluster_queues_[queue.metadata.name] = std::make_shared<const api::ClusterQueue>(queue);
  state_.upsert(queue, now);
  refresh_capacity(now);
  touch_all(now);
}

/// Every check has a controller in a simulation.
void Cluster::put(api::AdmissionCheck check, TimePoint now) {
  api::set_condition(&check.status.conditions,
                     {std::string(api::conditions::active),
                      api::ConditionStatus::True,
                      check.metadata.generation,
                      {},
                      "Active",
                      "The admission check is active"},
                     now);
  state_.upsert(check);
  const std::string name = check.metadata.name;
  checks_[name] = std::make_shared<const api::AdmissionCheck>(std::move(check));
  touch_all(now);
}

void Cluster::apply(const Object& object, TimePoint now) {
  restless_ = true;
  std::visit([&](const auto& one) { put(one, now); }, object);
}

void Cluster::refresh_capacity(TimePoint now) {
  Amounts capacity;
  for (const auto& [name, queue] : cluster_queues_) {
    add_quotas(queue->spec.resource_groups, &capacity);
  }
  for (const auto& [name, cohort] : cohorts_) add_quotas(cohort->spec.resource_groups, &capacity);
  meters_.set_capacity(capacity, now);
}

/// A change of a queue may affect every workload.
void Cluster::touch_all(TimePoint) {
  for (const std::uint32_t id : active_) dirty_.insert(id);
  restless_ = true;
}

void Cluster::put(const api::Workload& workload, TimePoint now) {
  const api::ObjectKey key = workload.metadata.key();
  if (lifecycle::is_finished(workload)) return;
  if (Course* known = find(key)) {
    known->workload.spec = workload.spec;
    return touch(known, now);
  }
  Course& course = add_course(workload, work_of(workload, settings_.behaviour), now);
  if (const api::OwnerReference* owner = workload.metadata.controller()) {
    unclaimed_[owner->uid] = course.id;
  }
  record_new(&course);
}

/// Uids break ties within one second, so they increase: the object that came first goes first.
std::string Cluster::next_uid() {
  char text[40];
  std::snprintf(text, sizeof text, "%08llx-0000-4000-8000-%012x",
                static_cast<unsigned long long>(++uids_), settings_.index);
  return text;
}

Course& Cluster::add_course(api::Workload workload, Work work, TimePoint now) {
  Course& course = courses_.emplace_back();
  course.id = static_cast<std::uint32_t>(courses_.size() - 1);
  course.workload = std::move(workload);
  course.work = work;
  by_key_[course.workload.metadata.key()] = course.id;
  active_.insert(course.id);
  touch(&course, now);
  return course;
}

void Cluster::record_new(Course* course) {
  const api::Workload& workload = course->workload;
  WorkloadRecord record;
  record.cluster = settings_.name;
  record.ns = workload.metadata.ns;
  record.name = workload.metadata.name;
  record.job = course->job.key.name;
  record.local_queue = workload.spec.queue_name;
  record.cluster_queue = state_.reader().cluster_queue_of(workload);
  record.priority = workload.spec.priority.value_or(0);
  for (const api::PodSet& set : workload.spec.pod_sets) {
    for (const auto& [resource, amount] : api::pod_request_amounts(set.pod_template.spec())) {
      record.requests[resource] += in_units(resource, amount) * set.count;
    }
  }
  if (workload.metadata.creation_timestamp)
    record.created_at = *workload.metadata.creation_timestamp;
  course->record = records_->workloads.size();
  records_->workloads.push_back(std::move(record));
}

Status Cluster::erase_job(const api::ObjectKey& key, TimePoint now) {
  const auto found = by_job_.find(job_named(key));
  if (found == by_job_.end()) {
    return Error(Errc::not_found, "there is no Job " + key.str() + " to delete");
  }
  Course* course = &courses_[found->second];
  course->deleting = true;
  if (is_queued(course->workload)) {
    retire(course, Outcome::deleted, now);
  } else if (course->phase == CoursePhase::running && !course->dispatched) {
    begin_stop(course, now);
  } else if (course->phase != CoursePhase::stopping) {
    retire(course, Outcome::deleted, now);
  }
  return ok();
}

bool Cluster::erase_queue_object(const ObjectName& name, TimePoint now) {
  const std::string& text = name.key.name;
  if (name.kind == "ClusterQueue") {
    cluster_queues_.erase(text);
    state_.erase_cluster_queue(text, now);
    meters_.observe(state_.reader(), text, now);
  } else if (name.kind == "Cohort") {
    cohorts_.erase(text);
    state_.erase_cohort(text, now);
  } else if (name.kind == "LocalQueue") {
    local_queues_.erase(name.key);
    state_.erase_local_queue(name.key);
  } else if (name.kind == "ResourceFlavor") {
    flavors_.erase(text);
    state_.erase_flavor(text);
  } else if (name.kind == "Topology") {
    state_.erase_topology(text);
  } else if (name.kind == "Namespace") {
    namespaces_.erase(text);
    state_.erase_namespace(text);
  } else if (name.kind == "AdmissionCheck") {
    checks_.erase(text);
    state_.erase_check(text);
  } else if (name.kind == "Node") {
    nodes_.erase(text);
    state_.erase_node(text, now);
    look_at_node(text, nullptr, now);
  } else {
    return false;
  }
  return true;
}

Status Cluster::erase(const ObjectName& name, TimePoint now) {
  restless_ = true;
  if (name.kind == "Job") return erase_job(name.key, now);
  if (name.kind == "Workload") {
    Course* course = find(name.key);
    if (!course) {
      return Error(Errc::not_found, "there is no Workload " + name.key.str() + " to delete");
    }
    if (course->job.kind) return erase_job(course->job.key, now);
    course->deleting = true;
    if (course->phase == CoursePhase::running) {
      begin_stop(course, now);
    } else {
      retire(course, Outcome::deleted, now);
    }
    return ok();
  }
  if (!erase_queue_object(name, now)) {
    return Error(Errc::invalid, name.kind + " " + name.key.str() + " cannot be deleted here");
  }
  refresh_capacity(now);
  touch_all(now);
  return ok();
}

Status Cluster::scale(const ScaleQuota& change, TimePoint now) {
  const auto found = cluster_queues_.find(change.cluster_queue);
  if (found == cluster_queues_.end()) {
    return Error(Errc::not_found, "there is no ClusterQueue " + change.cluster_queue);
  }
  api::ClusterQueue queue = *found->second;
  for (api::ResourceGroup& group : queue.spec.resource_groups) {
    for (api::FlavorQuotas& flavor : group.flavors) {
      for (api::ResourceQuota& quota : flavor.resources) {
        if (flavor.name != change.flavor || quota.name != change.resource) continue;
        quota.nominal_quota = change.nominal_quota;
        put(queue, now);
        return ok();
      }
    }
  }
  return Error(Errc::not_found, "ClusterQueue " + change.cluster_queue + " has no quota of " +
                                    change.resource + " of flavor " + change.flavor);
}

Status Cluster::set_node_ready(const SetNodeReady& change, TimePoint now) {
  const auto found = nodes_.find(change.node);
  if (found == nodes_.end()) return Error(Errc::not_found, "there is no Node " + change.node);
  api::Node node = *found->second;
  std::erase_if(node.status.conditions, [](const auto& c) { return c.type == "Ready"; });
  api::StatusCondition ready;
  ready.type = "Ready";
  ready.status = change.ready ? api::ConditionStatus::True : api::ConditionStatus::False;
  ready.last_transition_time = now;
  node.status.conditions.push_back(std::move(ready));
  put(node, now);
  return ok();
}

}  // namespace regatta::whatif
