#pragma once

#include "lib/api/pod.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regatta::api {

/// The condition shape of the older kinds (Pod, Node, Job, CustomResourceDefinition).
struct StatusCondition {
  std::string type;
  ConditionStatus status = ConditionStatus::Unknown;
  std::optional<TimePoint> last_probe_time;
  std::optional<TimePoint> last_transition_time;
  std::string reason;
  std::string message;
  friend bool operator==(const StatusCondition&, const StatusCondition&) = default;
};

using StatusConditions = std::vector<StatusCondition>;

const StatusCondition* find_condition(const StatusConditions& conditions, std::string_view type);
bool is_true(const StatusConditions& conditions, std::string_view type);

struct Namespace {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  std::string phase;  ///< status.phase: Active or Terminating
  friend bool operator==(const Namespace&, const Namespace&) = default;
};

struct NodeSpec {
  bool unschedulable = false;
  std::vector<Taint> taints;
  friend bool operator==(const NodeSpec&, const NodeSpec&) = default;
};

struct NodeStatus {
  ResourceList capacity;
  ResourceList allocatable;
  StatusConditions conditions;
  friend bool operator==(const NodeStatus&, const NodeStatus&) = default;
};

struct Node {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  NodeSpec spec;
  NodeStatus status;
  friend bool operator==(const Node&, const Node&) = default;
};

struct PodStatus {
  std::string phase;
  StatusConditions conditions;
  std::string reason;
  std::string message;
  std::optional<TimePoint> start_time;
  friend bool operator==(const PodStatus&, const PodStatus&) = default;
};

/// What Regatta reads of a Pod. Not lossless: change Pods with patches.
struct Pod {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  PodSpec spec;
  PodStatus status;
  friend bool operator==(const Pod&, const Pod&) = default;
};

/// Values are the decoded bytes, and never belong in a log.
struct Secret {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  std::string type;
  std::map<std::string, std::string> data;
  std::optional<bool> immutable;
  friend bool operator==(const Secret&, const Secret&) = default;
};

struct ConfigMap {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  StringMap data;
  std::optional<bool> immutable;
  friend bool operator==(const ConfigMap&, const ConfigMap&) = default;
};

struct ServiceAccount {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  friend bool operator==(const ServiceAccount&, const ServiceAccount&) = default;
};

struct ObjectReference {
  std::string api_version;
  std::string kind;
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;
  std::string field_path;
  friend bool operator==(const ObjectReference&, const ObjectReference&) = default;
};

/// core/v1 Event.
struct CoreEvent {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  ObjectReference involved_object;
  std::string reason;
  std::string message;
  std::string source_component;
  std::string source_host;
  std::optional<TimePoint> first_timestamp;
  std::optional<TimePoint> last_timestamp;
  std::int32_t count = 0;
  std::string type;  ///< Normal or Warning
  friend bool operator==(const CoreEvent&, const CoreEvent&) = default;
};

struct EventSeries {
  std::int32_t count = 0;
  TimePoint last_observed_time{};
  friend bool operator==(const EventSeries&, const EventSeries&) = default;
};

/// events.k8s.io/v1 Event, the form Regatta writes.
struct Event {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  TimePoint event_time{};
  std::optional<EventSeries> series;
  std::string reporting_controller;
  std::string reporting_instance;
  std::string action;
  std::string reason;
  ObjectReference regarding;
  std::optional<ObjectReference> related;
  std::string note;
  std::string type;  ///< Normal or Warning
  friend bool operator==(const Event&, const Event&) = default;
};

struct LimitRangeItem {
  std::string type;  ///< Container, Pod or PersistentVolumeClaim
  ResourceList max;
  ResourceList min;
  ResourceList default_limit;    ///< "default"
  ResourceList default_request;  ///< "defaultRequest"
  ResourceList max_limit_request_ratio;
  friend bool operator==(const LimitRangeItem&, const LimitRangeItem&) = default;
};

struct LimitRange {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  std::vector<LimitRangeItem> limits;  ///< spec.limits
  friend bool operator==(const LimitRange&, const LimitRange&) = default;
};

/// scheduling.k8s.io/v1.
struct PriorityClass {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  std::int32_t value = 0;
  bool global_default = false;
  std::string description;
  std::string preemption_policy;
  friend bool operator==(const PriorityClass&, const PriorityClass&) = default;
};

/// node.k8s.io/v1.
struct RuntimeClass {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  std::string handler;
  ResourceList overhead;    ///< overhead.podFixed
  StringMap node_selector;  ///< scheduling.nodeSelector
  std::vector<Toleration> tolerations;
  friend bool operator==(const RuntimeClass&, const RuntimeClass&) = default;
};

struct LeaseSpec {
  std::optional<std::string> holder_identity;
  std::optional<std::int32_t> lease_duration_seconds;
  std::optional<TimePoint> acquire_time;
  std::optional<TimePoint> renew_time;
  std::optional<std::int32_t> lease_transitions;
  friend bool operator==(const LeaseSpec&, const LeaseSpec&) = default;
};

/// coordination.k8s.io/v1.
struct Lease {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  LeaseSpec spec;
  friend bool operator==(const Lease&, const Lease&) = default;
};

/// apiextensions.k8s.io/v1: the fields that show whether the API server serves a definition.
struct CustomResourceDefinition {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  StatusConditions conditions;  ///< status.conditions
  friend bool operator==(const CustomResourceDefinition&,
                         const CustomResourceDefinition&) = default;
};

}  // namespace regatta::api
