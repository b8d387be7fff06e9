#pragma once

#include "lib/manifest/strategy.h"

#include <memory>
#include <string>

namespace regatta::manifest::builtin {

using StrategyPtr = std::shared_ptr<const Strategy>;

StrategyPtr config_map_strategy();
StrategyPtr deployment_strategy();
StrategyPtr job_strategy();
StrategyPtr lease_strategy();
StrategyPtr limit_range_strategy();
StrategyPtr namespace_strategy();
StrategyPtr node_strategy();
StrategyPtr pod_strategy();
StrategyPtr priority_class_strategy();
StrategyPtr runtime_class_strategy();
StrategyPtr secret_strategy();
StrategyPtr service_account_strategy();
StrategyPtr service_strategy();
// Kinds that keep pods running.
StrategyPtr replica_set_strategy();
StrategyPtr stateful_set_strategy();
StrategyPtr webhook_configuration_strategy(bool mutating);
// Roles and what binds them, of a namespace or of the cluster.
StrategyPtr role_strategy(bool namespaced);
StrategyPtr role_binding_strategy(bool namespaced);
/// The strategy of a kind, by its plural, that is little more than the columns of its table; an
/// ordinary one for a kind without anything special.
StrategyPtr shown_strategy(const std::string& plural);
/// Events in core/v1, the form they are stored in, and as events.k8s.io/v1 shows them.
StrategyPtr core_event_strategy();
StrategyPtr events_event_strategy();

}  // namespace regatta::manifest::builtin
