#pragma once

// Every kind of kueue.x-k8s.io, in the shape of v1beta2. from_json() also takes v1beta1 objects.
#include "lib/api/cluster_queue.h"
#include "lib/api/multikueue.h"
#include "lib/api/resource_flavor.h"
#include "lib/api/workload.h"
