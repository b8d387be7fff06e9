#pragma once

// Fields of the pod shapes, for codecs of this folder; see fields.h.

#include "lib/api/fields.h"
#include "lib/api/pod.h"

namespace regatta::api {

template <class V, Is<ResourceRequirements> T>
void fields(V& v, T& o) {
  v("requests", o.requests);
  v("limits", o.limits);
}

template <class V, Is<Container> T>
void fields(V& v, T& o) {
  v("name", o.name);
  v("image", o.image);
  v("restartPolicy", o.restart_policy);
  v("resources", o.resources);
}

template <class V, Is<NodeSelectorTerm> T>
void fields(V& v, T& o) {
  v("matchExpressions", o.match_expressions);
  v("matchFields", o.match_fields);
}

template <class V, Is<PreferredSchedulingTerm> T>
void fields(V& v, T& o) {
  v("weight", o.weight);
  v("preference", o.preference);
}

template <class V, Is<NodeAffinity> T>
void fields(V& v, T& o) {
  if constexpr (std::same_as<V, FieldReader>) {
    v.inside("requiredDuringSchedulingIgnoredDuringExecution",
             [&](auto& required) { required("nodeSelectorTerms", o.required.emplace()); });
  } else if (o.required) {
    v.inside("requiredDuringSchedulingIgnoredDuringExecution",
             [&](auto& required) { required.always("nodeSelectorTerms", *o.required); });
  }
  v("preferredDuringSchedulingIgnoredDuringExecution", o.preferred);
}

template <class V, Is<PodSpec> T>
void fields(V& v, T& o) {
  v("containers", o.containers);
  v("initContainers", o.init_containers);
  v("resources", o.resources);
  v("overhead", o.overhead);
  v("nodeSelector", o.node_selector);
  v.inside("affinity", [&](auto& affinity) { affinity("nodeAffinity", o.node_affinity); });
  v("tolerations", o.tolerations);
  v("priorityClassName", o.priority_class_name);
  v("priority", o.priority);
  v("runtimeClassName", o.runtime_class_name);
  v("schedulerName", o.scheduler_name);
  v("serviceAccountName", o.service_account_name);
  v("nodeName", o.node_name);
  v("restartPolicy", o.restart_policy);
  v.names("schedulingGates", o.scheduling_gates);
  if constexpr (std::same_as<V, FieldReader>) v.names("resourceClaims", o.resource_claims);
  v("terminationGracePeriodSeconds", o.termination_grace_period_seconds);
}

}  // namespace regatta::api
