#include "tests/fuzz/targets.h"
#include "whatif/engine/simulation.h"
#include "whatif/timeline/timeline.h"

#include <nlohmann/json.hpp>

namespace regatta::fuzz {
namespace {

using namespace regatta::whatif;

constexpr const char* one_queue = R"(
{apiVersion: v1, kind: Namespace, metadata: {name: dev}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  preemption: {withinClusterQueue: LowerPriority}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: f, resources: [{name: cpu, nominalQuota: 4}]}]
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {namespace: dev, name: lq},
 spec: {clusterQueue: cq}}
)";

/// Shared by all inputs, because reading the kinds takes a moment.
ManifestReader& reader() {
  static ManifestReader all{TimePoint{}};
  return all;
}

/// A cluster with one queue. Shared likewise.
const Manifests& queue() {
  static const Manifests read = [] {
    Manifests objects;
    reader().read(one_queue, "queue", &objects);
    return objects;
  }();
  return read;
}

/// Simulates an hour, or less when much happens.
void run(SimulationInput input) {
  if (input.hub.objects.size() > 100 || input.events.size() > 200) return;
  input.until = std::chrono::hours(1);
  Simulation simulation(std::move(input));
  for (int steps = 0; steps < 2000 && simulation.step(); ++steps) {
  }
  (void)to_json(simulation.report());
}

}  // namespace

void manifests(std::string_view text) {
  SimulationInput input;
  Manifests read;
  reader().read(text, "fuzz", &read);
  input.hub.objects = std::move(read.objects);
  run(std::move(input));
}

void events(std::string_view text) {
  // Millions of arrivals are allowed, but would take too long here.
  if (text.find("arrivals") != std::string_view::npos && text.size() > 4096) return;
  SimulationInput input;
  input.hub.objects = queue().objects;
  Timeline timeline = read_timeline(text, "fuzz", input.start, &reader());
  input.events = std::move(timeline.events);
  run(std::move(input));
}

}  // namespace regatta::fuzz
