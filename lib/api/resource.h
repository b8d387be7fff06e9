#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace regatta::api {

/// One REST resource of one API version, as discovery lists it. Every typed object T has a
/// `static const ResourceInfo resource;`.
struct ResourceInfo {
  std::string_view group;  ///< empty for the core group
  std::string_view version;
  std::string_view kind;
  std::string_view plural;
  bool namespaced = true;

  /// "v1" or "batch/v1".
  std::string api_version() const;
  /// "jobs.batch", or "pods" in the core group.
  std::string group_resource() const;
  /// "/apis/batch/v1/namespaces/<ns>/jobs[/<name>]"; the collection when `name` is empty, across
  /// namespaces when `ns` is.
  std::string path(std::string_view ns, std::string_view name = {}) const;

  friend auto operator<=>(const ResourceInfo&, const ResourceInfo&) = default;
};

/// "batch" of "batch/v1"; empty for the core group, "v1".
std::string_view group_of(std::string_view api_version);

/// Namespace and name; the namespace is empty for cluster-scoped objects.
struct ObjectKey {
  ObjectKey() = default;
  ObjectKey(std::string ns, std::string name) : ns(std::move(ns)), name(std::move(name)) {}
  explicit ObjectKey(std::string name) : name(std::move(name)) {}

  /// "ns/name", or "name".
  std::string str() const { return ns.empty() ? name : ns + "/" + name; }

  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;

  std::string ns;
  std::string name;
};

}  // namespace regatta::api
