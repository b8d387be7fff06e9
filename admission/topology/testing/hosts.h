#pragma once

#include "admission/topology/requests.h"
#include "admission/workload.h"

#include <string>
#include <vector>

namespace regatta::admission::testing {

constexpr const char* block = "cloud.example/block";
constexpr const char* rack = "cloud.example/rack";
constexpr const char* host = "kubernetes.io/hostname";

/// Nodes in blocks and racks, and one flavor over all of them.
class Hosts {
 public:
  explicit Hosts(std::vector<std::string> levels = {block, rack, host}, bool exact = true)
      : topologies_(names_, exact) {
    flavor_ = names_.flavors.intern("tas");
    topologies_.set_topology("topo", levels);
    api::ResourceFlavorSpec spec;
    spec.topology_name = "topo";
    topologies_.set_flavor(flavor_, spec);
  }

  static api::Node node(const std::string& in_block, const std::string& in_rack,
                        const std::string& name, int cpus, int pods = 110) {
    api::Node out;
    out.metadata.name = name;
    out.metadata.labels = {{block, in_block}, {rack, in_rack}, {host, name}};
    out.status.allocatable = {{"cpu", api::Quantity(cpus)}, {"pods", api::Quantity(pods)}};
    api::StatusCondition ready;
    ready.type = "Ready";
    ready.status = api::ConditionStatus::True;
    out.status.conditions = {ready};
    return out;
  }
  void add(const api::Node& node) { topologies_.upsert(node); }

  PodProfilePtr pods(int cpus, const api::PodSpec& more = {}) {
    api::PodSpec spec = more;
    spec.containers.emplace_back().resources.requests["cpu"] = api::Quantity(cpus);
    return profiles_.intern(spec, &names_);
  }

  TopologyRequest request(const PodSetShape& shape, std::size_t index = 0) const {
    TopologyRequest out;
    out.pod_set = index;
    out.flavor = flavor_;
    out.count = shape.count;
    out.implied = !asks_for_topology(shape.topology);
    out.group = shape.group;
    out.terms = &shape.topology;
    out.pods = shape.pods;
    return out;
  }

  TopologyPlaces find(const std::vector<PodSetShape>& pod_sets, bool empty = false) {
    topologies_.settle();
    std::vector<TopologyRequest> requests;
    for (std::size_t i = 0; i < pod_sets.size(); ++i) requests.push_back(request(pod_sets[i], i));
    TopologySearch search;
    search.empty = empty;
    search.explain = true;
    search.least_free_first = least_free_first;
    return find_places(topologies_, requests, search);
  }

  /// "n1:2 n2:1", pod sets separated by " | "; or the failure.
  std::string place(const std::vector<PodSetShape>& pod_sets, bool empty = false) {
    const TopologyPlaces found = find(pod_sets, empty);
    if (found.failure) return found.failure->text;
    std::string text;
    for (const PodSetPlaces& pod_set : found.pod_sets) {
      text += (text.empty() ? "" : " | ") + str(pod_set.places);
    }
    return text;
  }

  std::string str(const PodPlaces& places) const {
    std::string text;
    for (const PlacedPods& placed : places.places) {
      text += (text.empty() ? "" : " ") + topologies_.values(placed.place).back() + ":" +
              std::to_string(placed.count);
    }
    return text;
  }

  Topologies& topologies() { return topologies_; }
  FlavorId flavor() const { return flavor_; }
  const Names& names() const { return names_; }
  Names& names() { return names_; }

  bool least_free_first = true;

 private:
  Names names_;
  Topologies topologies_;
  PodProfiles profiles_;
  FlavorId flavor_ = 0;
};

}  // namespace regatta::admission::testing
