#pragma once

#include "apiserver/strategy.h"

#include <memory>

namespace regatta::apiserver::builtin {

using StrategyPtr = std::shared_ptr<const Strategy>;

StrategyPtr config_map_strategy();
StrategyPtr deployment_strategy();
StrategyPtr disruption_budget_strategy();
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
/// Events in core/v1, the form they are stored in, and as events.k8s.io/v1 shows them.
StrategyPtr core_event_strategy();
StrategyPtr events_event_strategy();

}  // namespace regatta::apiserver::builtin
