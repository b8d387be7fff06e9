#pragma once

/// A cluster's objects as they are now, read and never written: lists with paging, one kind after
/// another, over whatever permissions the caller has.

#include "lib/kube/client.h"
#include "whatif/manifests/objects.h"

#include <string>
#include <vector>

namespace regatta::whatif {

/// A kind that could not be read.
struct Gap {
  std::string resource;    ///< "clusterqueues.kueue.x-k8s.io"
  std::string text;        ///< which permission is missing, and what that means
  bool essential = false;  ///< without it there is no saying what admission would do
};

struct ClusterPicture {
  std::vector<Object> objects;
  std::vector<Gap> gaps;
  /// Whether admission can be judged: no gap is essential.
  bool complete() const;
};

struct ReadOptions {
  /// Read also where only this namespace may be read; empty: all or nothing.
  std::string fallback_namespace;
  bool jobs = false;  ///< Jobs as well, and what makes Workloads of them
};

constexpr std::size_t picture_objects_max = 1'000'000;

/// An Error when nobody answers, the credentials are refused, the cluster has no Kueue, or has more
/// objects than picture_objects_max. What may not be read becomes a gap; small things that follow
/// from others are filled in: a namespace without labels, a check that is active.
Task<Result<ClusterPicture>> read_cluster(kube::Client& client, ReadOptions options);

}  // namespace regatta::whatif
