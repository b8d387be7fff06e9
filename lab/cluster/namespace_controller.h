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

/// Deletes the objects of namespaces that are being deleted, and then the namespaces' finalizers.
class NamespaceController {
 public:
  explicit NamespaceController(NamespaceControllerDeps deps);
  NamespaceController(const NamespaceController&) = delete;

  /// Runs until cancelled.
  Task<> run();

 private:
  Task<> work();
  /// `conflict` while the namespace still has objects.
  Task<Status> reconcile(api::ObjectKey key);
  /// Deletes every object of the namespace. Returns the number of resources that still have some.
  Task<Result<std::size_t>> empty(std::string ns);
  Task<Status> finalize(api::ObjectKey key);

  NamespaceControllerDeps deps_;
  kube::Informer<api::Namespace> namespaces_;
  TaskScope scope_;
  WorkQueue<api::ObjectKey> queue_;
};

}  // namespace regatta::lab
