#pragma once

#include <string_view>

namespace regatta::manifest {

// The built-in API types as text, one line for a type or a field:
//
//     package io.k8s.api.core.v1            names below are in this package
//     type Container -- what it is          a type
//       name string ! -- what it is         a field; `!`: required
//       ports []ContainerPort map=containerPort,protocol merge=containerPort
//     kind Pod group= version=v1 spec=PodSpec status=PodStatus -- what it is
//                                           a type with apiVersion, kind and metadata; more
//                                           fields may follow
//     type JSON = any                       a name for a scalar
//
// A line that ends with + goes on in the next.
//
// Field types: string, bool, int32, int64, number, time, microtime, quantity, intstr, bytes, any
// (unchecked), the name of a type (same package, then core, then meta), []T, and {}T (a map of T).
// Field marks: `map=keys`, `set`, `atomic` for x-kubernetes-list-type and x-kubernetes-map-type;
// `merge`, `merge=key`, `replace`, `retainKeys`, `merge,retainKeys=key` for strategic merge patch;
// `default=JSON` where a default takes part in list keys. `type X atomic` marks the type itself.
extern const std::string_view builtin_meta_text;
extern const std::string_view builtin_pod_text;
extern const std::string_view builtin_core_text;
extern const std::string_view builtin_groups_text;
extern const std::string_view builtin_more_text;

}  // namespace regatta::manifest
