#pragma once

#include "lib/api/pod.h"

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::api {

struct ResourceFlavorSpec {
  StringMap node_labels;
  std::vector<Taint> node_taints;
  std::vector<Toleration> tolerations;
  std::string topology_name;
  friend bool operator==(const ResourceFlavorSpec&, const ResourceFlavorSpec&) = default;
};

struct ResourceFlavor {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  ResourceFlavorSpec spec;
  friend bool operator==(const ResourceFlavor&, const ResourceFlavor&) = default;
};

struct TopologySpec {
  std::vector<std::string> levels;  ///< node labels, widest first
  friend bool operator==(const TopologySpec&, const TopologySpec&) = default;
};

struct Topology {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  TopologySpec spec;
  friend bool operator==(const Topology&, const Topology&) = default;
};

struct WorkloadPriorityClass {
  static const ResourceInfo resource;
  ObjectMeta metadata;
  std::int32_t value = 0;
  std::string description;
  friend bool operator==(const WorkloadPriorityClass&, const WorkloadPriorityClass&) = default;
};

}  // namespace regatta::api
