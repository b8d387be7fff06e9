#pragma once

#include "whatif/timeline/timeline.h"

#include <functional>
#include <string>
#include <vector>

namespace regatta::whatif {

/// Namespaces that objects of that cluster, or of its events, are in, and that nobody brings.
std::vector<std::string> namespaces_nobody_brings(const std::vector<Object>& objects,
                                                  const std::vector<TimedEvent>& events,
                                                  const std::string& cluster);

/// What the objects of one cluster refer to and nobody brings, neither among them nor in an event
/// of that cluster; and Cohorts that are their own ancestors. All of it is allowed in a cluster,
/// and nearly always a slip: work that depends on it waits. One text for each missing object,
/// naming the first that refers to it with its field. `where` tells where an object was written.
std::vector<std::string> dangling_references(
    const std::vector<Object>& objects, const std::vector<TimedEvent>& events,
    const std::string& cluster, const std::function<std::string(const ObjectName&)>& where);

}  // namespace regatta::whatif
