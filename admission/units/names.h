#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace regatta::admission {

using ResourceId = std::uint32_t;
using FlavorId = std::uint32_t;
/// One resource of one flavor. Quota and usage are counted for these pairs.
using FrId = std::uint32_t;

/// Maps strings to small dense integers. A name keeps its number as long as the process lives.
class Interner {
 public:
  std::uint32_t intern(std::string_view name);
  std::optional<std::uint32_t> find(std::string_view name) const;
  const std::string& name(std::uint32_t id) const { return names_[id]; }
  std::size_t size() const { return names_.size(); }

 private:
  std::deque<std::string> names_;  // stable addresses: the keys of ids_ point into it
  std::unordered_map<std::string_view, std::uint32_t> ids_;
};

/// The numbers of all resources, flavors and pairs of both that were ever named.
class Names {
 public:
  Interner resources;
  Interner flavors;

  /// The order in which the resources of a workload get flavors: Kueue takes them by the FNV-1a
  /// hash of the name. The order decides which shortage is reported when several resource groups
  /// have one.
  bool before(ResourceId a, ResourceId b) const;

  FrId pair(FlavorId flavor, ResourceId resource);
  FlavorId flavor_of(FrId fr) const { return pairs_[fr].flavor; }
  ResourceId resource_of(FrId fr) const { return pairs_[fr].resource; }
  const std::string& flavor_name(FrId fr) const { return flavors.name(flavor_of(fr)); }
  const std::string& resource_name(FrId fr) const { return resources.name(resource_of(fr)); }

 private:
  struct Pair {
    FlavorId flavor;
    ResourceId resource;
  };
  std::vector<Pair> pairs_;
  std::unordered_map<std::uint64_t, FrId> ids_;
};

}  // namespace regatta::admission
