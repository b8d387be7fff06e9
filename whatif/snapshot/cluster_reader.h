#pragma once

/// The objects of a live cluster as they are now. Only lists, with paging, one kind after another,
/// with whatever permissions the caller has.

#include "lib/kube/client.h"
#include "whatif/manifests/objects.h"

#include <string>
#include <vector>

namespace regatta::whatif {

/// A kind that could not be read.
struct Gap {
  std::string resource;    ///< "clusterqueues.kueue.x-k8s.io"
  std::string text;        ///< the missing permission, and what follows
  bool essential = false;  ///< without it one cannot say what admission would do
};

struct ClusterPicture {
  std::vector<Object> objects;
  std::vector<Gap> gaps;
  /// Whether admission can be judged: no gap is essential.
  bool complete() const;
};

struct ReadOptions {
  /// Read alone where only this namespace may be read; empty: all namespaces or none.
  std::string fallback_namespace;
  bool jobs = false;  ///< Jobs as well, and the objects from which their Workloads follow
};

constexpr std::size_t picture_objects_max = 1'000'000;

/// An Error when the cluster cannot be reached, refuses the credentials, has no Kueue, or has more
/// objects than picture_objects_max. A kind that may not be read becomes a gap. Small things that
/// follow from other objects are filled in: a namespace without labels, a check that is active.
Task<Result<ClusterPicture>> read_cluster(kube::Client& client, ReadOptions options);

}  // namespace regatta::whatif
