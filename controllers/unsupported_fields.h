#pragma once

#include "clusters/local_cluster.h"

#include <string>

namespace regatta::controllers {

/// Finds fields of Kueue's API that are accepted and have no effect here. An object that sets one
/// gets a Warning event that says so.
class UnsupportedFields {
 public:
  /// `quotas_follow`: quotas of ClusterQueues follow those of workers where a config asks for that.
  UnsupportedFields(clusters::LocalCluster& cluster, bool quotas_follow);
  /// Reports the objects that exist, and from then on those that are created or changed. The
  /// informers must have synced.
  void start();

 private:
  template <class T>
  void watch(kube::Informer<T>& objects);
  template <class T>
  void tell(const T& object);

  clusters::LocalCluster& cluster_;
  bool quotas_follow_;
  bool started_ = false;
};

}  // namespace regatta::controllers
