#pragma once

#include "lib/api/field_errors.h"
#include "lib/base/json.h"
#include "webhooks/gates.h"

/// What Kueue's webhooks set and refuse beyond the schemas and CEL rules of its CRDs. Objects are
/// v1beta2 as read_shaped() has read them. Errors are in upstream's order; where upstream goes
/// through a map in no order, they are sorted by key.
namespace regatta::webhooks {

void default_cluster_queue(Json* queue);
void default_resource_flavor(Json* flavor);
void default_workload(Json* workload, const Gates& gates);

api::FieldErrors validate_cluster_queue(const Json& queue, const Gates& gates);
api::FieldErrors validate_cluster_queue_update(const Json& before, const Json& after,
                                               const Gates& gates);
api::FieldErrors validate_cohort(const Json& cohort);
api::FieldErrors validate_resource_flavor(const Json& flavor);
api::FieldErrors validate_workload(const Json& workload, const Gates& gates);
api::FieldErrors validate_workload_update(const Json& before, const Json& after,
                                          const Gates& gates);

}  // namespace regatta::webhooks
