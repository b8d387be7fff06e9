#pragma once

#include "lib/base/clock.h"
#include "lib/base/json.h"
#include "lib/manifest/strategy.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::manifest {

struct Schema;  // lib/manifest/schema/schema.h

/// One line of discovery below a resource: "status", "scale", "eviction" …
struct Subresource {
  std::string name;
  std::vector<std::string> verbs;
  /// The kind of the subresource's objects, when it is not the resource's own (Scale, Eviction).
  std::string group;
  std::string version;
  std::string kind;
};

/// Where the scale subresource of a custom resource finds its numbers, as simple JSON paths
/// (".spec.replicas").
struct ScalePaths {
  std::string spec_replicas;
  std::string status_replicas;
  std::string label_selector;
};

/// The eight verbs of an ordinary resource, in discovery's order.
std::vector<std::string> ordinary_verbs();
/// get, patch, update: what a status subresource can do.
std::vector<std::string> status_verbs();

/// One resource in one served version: all that the REST layer, discovery and the store know about
/// it. Immutable once registered.
struct ResourceType {
  std::string group;  ///< empty for the core group
  std::string version;
  std::string kind;
  std::string plural;
  std::string singular;
  std::string list_kind;  ///< empty: kind + "List"
  bool namespaced = true;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  std::vector<std::string> verbs = ordinary_verbs();
  std::vector<Subresource> subresources;
  std::string storage_version_hash;  ///< as discovery shows it; empty to leave it out

  std::shared_ptr<const Strategy> strategy;
  std::shared_ptr<const Schema> schema;

  /// Custom resources answer some requests differently from built-in types.
  bool custom = false;
  std::optional<ScalePaths> scale;
  /// Sent as a Warning header with every answer; empty when the version is not deprecated.
  std::string deprecation_warning;
  /// Objects of all versions of a resource are kept once, in this version. Empty: this one.
  std::string storage_version;
  /// The resource ("events" or "deployments.apps") with the store that this one shares; empty: its
  /// own.
  std::string stored_as;
  /// Conversion from this version to the stored one and back; null: only apiVersion changes.
  std::function<Json(Json)> to_stored;
  std::function<Json(Json)> from_stored;

  /// "v1" or "batch/v1".
  std::string api_version() const;
  /// "jobs.batch", or "pods".
  std::string group_resource() const;
  /// The key of its store.
  std::string store_name() const { return stored_as.empty() ? group_resource() : stored_as; }
  std::string list_kind_name() const { return list_kind.empty() ? kind + "List" : list_kind; }
  bool has_verb(std::string_view verb) const;
  const Subresource* subresource(std::string_view name) const;
  bool has_status() const { return subresource("status") != nullptr; }
};

using ResourceTypePtr = std::shared_ptr<const ResourceType>;

/// Every resource the server serves. Built-in types are added once; those of
/// CustomResourceDefinitions come and go.
class Registry {
 public:
  /// Adds a type, or replaces the one of the same group, version and plural.
  void add(ResourceType type);
  void remove(std::string_view group, std::string_view version, std::string_view plural);

  /// Null when there is none.
  ResourceTypePtr find(std::string_view group, std::string_view version,
                       std::string_view plural) const;
  /// By kind instead of plural.
  ResourceTypePtr find_kind(std::string_view group, std::string_view version,
                            std::string_view kind) const;
  bool has_group(std::string_view group) const;
  bool has_version(std::string_view group, std::string_view version) const;
  /// Whether some type of the group version is not a custom one.
  bool is_builtin_version(std::string_view group, std::string_view version) const;

  /// Sorted by group, version and plural.
  std::vector<ResourceTypePtr> all() const;
  std::vector<ResourceTypePtr> of_version(std::string_view group, std::string_view version) const;

  /// Grows with every change, so that documents made of the registry can be cached.
  std::uint64_t revision() const { return revision_; }

 private:
  struct Key {
    std::string group, version, plural;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  std::map<Key, ResourceTypePtr> types_;
  std::uint64_t revision_ = 0;
};

}  // namespace regatta::manifest
