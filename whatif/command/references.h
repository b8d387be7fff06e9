#pragma once

#include "whatif/timeline/timeline.h"

#include <functional>
#include <string>
#include <vector>

namespace regatta::whatif {

/// Namespaces of that cluster's objects and events for which there is no manifest.
std::vector<std::string> namespaces_without_manifest(const std::vector<Object>& objects,
                                                     const std::vector<TimedEvent>& events,
                                                     const std::string& cluster);

/// References of one cluster's objects to objects that exist neither among them nor in an event of
/// that cluster; and Cohorts that are their own ancestors. A cluster allows both, but they are
/// nearly always mistakes: work that depends on them waits. One text for each missing object, with
/// the first object that refers to it and its field. `where` says where an object was written.
std::vector<std::string> dangling_references(
    const std::vector<Object>& objects, const std::vector<TimedEvent>& events,
    const std::string& cluster, const std::function<std::string(const ObjectName&)>& where);

}  // namespace regatta::whatif
