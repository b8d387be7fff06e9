#pragma once

#include "lib/api/core.h"
#include "lib/base/log.h"
#include "lib/base/rng.h"
#include "lib/kube/client.h"
#include "lib/kube/informer.h"
#include "lib/runtime/task_scope.h"
#include "lib/runtime/work_queue.h"

#include <string>

namespace regatta::lab {

struct NamespaceControllerDeps {
  kube::Client& client;
  Clock& clock;
  Rng& rng;
  Executor executor;
  Log log;
};

/// Empties namespaces that are being deleted, and then lets go of them.
class NamespaceController {
 public:
  explicit NamespaceController(NamespaceControllerDeps deps);
  NamespaceController(const NamespaceController&) = delete;

  /// Until cancelled.
  Task<> run();

 private:
  Task<> work();
  /// `conflict` while something is left in the namespace.
  Task<Status> reconcile(api::ObjectKey key);
  /// Asks every object of the namespace to go; the number of resources that still have some.
  Task<Result<std::size_t>> empty(std::string ns);
  Task<Status> finalize(api::ObjectKey key);

  NamespaceControllerDeps deps_;
  kube::Informer<api::Namespace> namespaces_;
  TaskScope scope_;
  WorkQueue<api::ObjectKey> queue_;
};

}  // namespace regatta::lab
