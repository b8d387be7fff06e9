#include "lib/api/core.h"
#include "lib/api/pod_fields.h"
#include "lib/base/base64.h"

namespace regatta::api {

const StatusCondition* find_condition(const StatusConditions& conditions, std::string_view type) {
  for (const StatusCondition& condition : conditions) {
    if (condition.type == type) return &condition;
  }
  return nullptr;
}

bool is_true(const StatusConditions& conditions, std::string_view type) {
  const StatusCondition* found = find_condition(conditions, type);
  return found && found->status == ConditionStatus::True;
}

template <class V, Is<Namespace> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v.inside("status", [&](auto& status) { status("phase", o.phase); });
}

template <class V, Is<NodeSpec> T>
void fields(V& v, T& o) {
  if constexpr (std::same_as<V, FieldWriter>) {
    if (o.unschedulable) v("unschedulable", o.unschedulable);
  } else {
    v("unschedulable", o.unschedulable);
  }
  v("taints", o.taints);
}

template <class V, Is<NodeStatus> T>
void fields(V& v, T& o) {
  v("capacity", o.capacity);
  v("allocatable", o.allocatable);
  v("conditions", o.conditions);
}

template <class V, Is<Node> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v("spec", o.spec);
  v("status", o.status);
}

template <class V, Is<PodStatus> T>
void fields(V& v, T& o) {
  v("phase", o.phase);
  v("conditions", o.conditions);
  v("reason", o.reason);
  v("message", o.message);
  v("startTime", o.start_time);
}

template <class V, Is<Pod> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v("spec", o.spec);
  v("status", o.status);
}

template <class V, Is<Secret> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v("type", o.type);
  v("immutable", o.immutable);
  StringMap encoded;
  if constexpr (std::same_as<V, FieldReader>) {
    v("data", encoded);
    for (auto& [key, text] : encoded) {
      Result<std::string> bytes = base64_decode(text);
      if (!bytes) return v.refuse("data", key, bytes.error().what());
      o.data.emplace(key, std::move(*bytes));
    }
  } else {
    for (const auto& [key, bytes] : o.data) encoded.emplace(key, base64_encode(bytes));
    v("data", encoded);
  }
}

template <class V, Is<ConfigMap> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v("data", o.data);
  v("immutable", o.immutable);
}

template <class V, Is<ServiceAccount> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
}

template <class V, Is<LimitRangeItem> T>
void fields(V& v, T& o) {
  v("type", o.type);
  v("max", o.max);
  v("min", o.min);
  v("default", o.default_limit);
  v("defaultRequest", o.default_request);
  v("maxLimitRequestRatio", o.max_limit_request_ratio);
}

template <class V, Is<LimitRange> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v.inside("spec", [&](auto& spec) { spec("limits", o.limits); });
}

template <class V, Is<PriorityClass> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v("value", o.value);
  v("globalDefault", o.global_default);
  v("description", o.description);
  v("preemptionPolicy", o.preemption_policy);
}

template <class V, Is<RuntimeClass> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v.always("handler", o.handler);
  v.inside("overhead", [&](auto& overhead) { overhead("podFixed", o.overhead); });
  v.inside("scheduling", [&](auto& scheduling) {
    scheduling("nodeSelector", o.node_selector);
    scheduling("tolerations", o.tolerations);
  });
}

template <class V, Is<LeaseSpec> T>
void fields(V& v, T& o) {
  v("holderIdentity", o.holder_identity);
  v("leaseDurationSeconds", o.lease_duration_seconds);
  v.micro("acquireTime", o.acquire_time);
  v.micro("renewTime", o.renew_time);
  v("leaseTransitions", o.lease_transitions);
}

template <class V, Is<Lease> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v("spec", o.spec);
}

template <class V, Is<CustomResourceDefinition> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v.inside("status", [&](auto& status) { status("conditions", o.conditions); });
}

REGATTA_API_CODEC(Namespace);
REGATTA_API_CODEC(Node);
REGATTA_API_CODEC(Pod);
REGATTA_API_CODEC(Secret);
REGATTA_API_CODEC(ConfigMap);
REGATTA_API_CODEC(ServiceAccount);
REGATTA_API_CODEC(LimitRange);
REGATTA_API_CODEC(PriorityClass);
REGATTA_API_CODEC(RuntimeClass);
REGATTA_API_CODEC(Lease);
REGATTA_API_CODEC(CustomResourceDefinition);

}  // namespace regatta::api
