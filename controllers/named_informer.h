#pragma once

#include "lib/kube/informer.h"

namespace regatta::controllers {

/// The same for one of several informers, which says its name in the log.
inline kube::InformerDeps named(kube::InformerDeps deps, const char* name) {
  deps.log = deps.log.named(name);
  return deps;
}

}  // namespace regatta::controllers
