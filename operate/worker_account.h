#pragma once

#include "lib/api/resource.h"
#include "lib/api/worker_rights.h"
#include "lib/base/error.h"
#include "lib/base/json.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

/// The objects with which a worker lets a hub in, and a hub knows a worker. Pure.
namespace regatta::operate {

/// The identity of a hub on a worker.
struct WorkerAccount {
  std::string ns = "kueue-system";
  std::string name = "multikueue-sa";
  std::vector<std::string> namespaces;  ///< where the hub may write; empty: in all
  /// Kinds of jobs that the hub sends, as integrations.frameworks names them, or as
  /// RESOURCE.GROUP.
  std::vector<std::string> frameworks = {"batch/job"};
  /// The hub creates what its jobs need there (placement/provide.h).
  bool provide = false;
};

/// The group and the resource of a framework: "batch" and "jobs" of "batch/job"; "pod" is of the
/// core group. `invalid` for a name of another form.
using api::FrameworkResource;
Result<FrameworkResource> resource_of(const std::string& framework);

struct Wanted {
  api::ResourceInfo resource;
  Json object;

  api::ObjectKey key() const;
  /// "Role team-a/multikueue-sa"
  std::string str() const;
};

/// The kinds of objects that worker_objects() may have, in the order in which they are deleted.
const std::vector<api::ResourceInfo>& account_kinds();

/// A Secret without a content, to which a token of the account is bound: the token ends with it.
/// The server makes its name.
Wanted token_tie(const WorkerAccount& account, const std::string& cluster);
/// Selects the ties of all tokens that a hub got for this MultiKueueCluster.
std::string ties_of(const WorkerAccount& account, const std::string& cluster);

/// The ServiceAccount and its permissions, which are those of the chart regatta-worker, in the
/// order in which they are made.
std::vector<Wanted> worker_objects(const WorkerAccount& account);
/// Selects what worker_objects() made for that account, whatever its namespaces were.
std::string selector_of(const WorkerAccount& account);
/// What a hub asks of a worker with this account: {verb, group, resource, namespace}.
struct Permission {
  std::string verb, group, resource, subresource, ns;
  bool needed = true;  ///< false: without it the hub compares workers by less
};
std::vector<Permission> permissions_of(const WorkerAccount& account);

/// The Secret with the kubeconfig and the MultiKueueCluster, in that order. With `provide` that
/// asks the hub for all that it can provide.
std::vector<Wanted> hub_objects(const std::string& ns, const std::string& cluster,
                                const std::string& kubeconfig, bool provide = false);
std::string secret_name(const std::string& cluster);

/// Whether the object bears the labels of this command.
bool is_ours(const Json& object);
extern const char* const field_manager;

}  // namespace regatta::operate
