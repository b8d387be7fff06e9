#pragma once

#include "manager/config/feature_gates.h"

#include <span>
#include <string_view>

namespace regatta::manager {

/// A feature gate of Kubernetes that Kueue's configuration files may set. It changes nothing here.
struct KubernetesGate {
  std::string_view name;
  GateStage stage;
  bool enabled;  ///< by default
  bool locked = false;
};

/// `gate` may be on only while `needs` is.
struct GateNeed {
  std::string_view gate;
  std::string_view needs;
};

std::span<const KubernetesGate> kubernetes_gates();
std::span<const GateNeed> kubernetes_gate_needs();

}  // namespace regatta::manager
