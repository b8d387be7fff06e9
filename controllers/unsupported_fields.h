#pragma once

#include "clusters/local_cluster.h"

#include <string>

namespace regatta::controllers {

/// Fields of Kueue's API that are accepted and have no effect here: whoever sets one gets a Warning
/// event that says so, at the object.
class UnsupportedFields {
 public:
  explicit UnsupportedFields(clusters::LocalCluster& cluster);
  /// Tells of what is there already, and from then on of what comes. The informers must have
  /// synced.
  void start();

 private:
  template <class T>
  void watch(kube::Informer<T>& objects);
  template <class T>
  void tell(const T& object);

  clusters::LocalCluster& cluster_;
  bool started_ = false;
};

}  // namespace regatta::controllers
