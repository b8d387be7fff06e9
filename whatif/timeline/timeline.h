#pragma once

/// What happens during a simulation, at which time: read from an events file.
///
/// A YAML list (or stream of documents, or JSON lines) of entries:
///
///   - {at: 10m, apply: MANIFEST or list of them}          creates or replaces
///   - {at: 1h, delete: "Job team-a/train"}
///   - {at: 2h, scale: {clusterQueue: a, flavor: f, resource: cpu, nominalQuota: 10}}
///   - {at: 3h, node: n1, ready: false}
///   - {at: 4h, cluster: east, connected: false}           with workers
///   - arrivals: {…}                                        many objects from one template
///
/// `at` is an offset from the start or a time. `cluster` says where, when it is not the hub.

#include "lib/base/clock.h"
#include "whatif/manifests/objects.h"
#include "whatif/manifests/reader.h"

#include <string>
#include <variant>
#include <vector>

namespace regatta::whatif {

struct ScaleQuota {
  std::string cluster_queue;
  std::string flavor;
  std::string resource;
  api::Quantity nominal_quota;
};
struct SetNodeReady {
  std::string node;
  bool ready = true;
};
struct SetConnected {
  bool connected = true;
};
/// An object is applied; an object with that name is deleted; …
using Happening = std::variant<Object, ObjectName, ScaleQuota, SetNodeReady, SetConnected>;

struct TimedEvent {
  TimePoint at{};
  std::string cluster;  ///< empty: the hub, or the only cluster
  Happening what;
};

struct Timeline {
  std::vector<TimedEvent> events;   ///< by time; at equal times in the order of the file
  std::vector<std::string> errors;  ///< "events.yaml: entry 3: at: …"
};

constexpr std::size_t events_bytes_max = 256 << 20;
constexpr std::size_t arrivals_max = 5'000'000;

/// `now` is the start of the simulation.
Timeline read_timeline(std::string_view text, const std::string& source, TimePoint now,
                       ManifestReader* reader);

}  // namespace regatta::whatif
