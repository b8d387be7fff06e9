#pragma once

#include "lab/cluster/operated_kinds.h"
#include "lib/api/meta.h"
#include "lib/base/log.h"
#include "lib/base/rng.h"
#include "lib/kube/client.h"
#include "lib/kube/informer.h"
#include "lib/runtime/task_scope.h"
#include "lib/runtime/work_queue.h"

#include <map>
#include <string>

namespace regatta::lab {

struct KindOperatorDeps {
  kube::Client& client;
  Clock& clock;
  Rng& rng;
  Executor executor;
  Log log;
};

/// The operator of one kind of jobs. It runs those that say how long they run
/// (`sandbox.regatta.dev/run-seconds`) and leaves others alone. They have no pods, or are some:
/// only their status tells how they go. plan_operated() makes every decision. An operator that is
/// started anew lets jobs that run begin their time anew.
///
/// A kind that the API does not serve has no jobs, and is asked for again every two minutes.
class KindOperator {
 public:
  /// `kind` must outlive it.
  KindOperator(KindOperatorDeps deps, const OperatedKind& kind);
  KindOperator(const KindOperator&) = delete;

  /// Runs until cancelled.
  Task<> run();

 private:
  struct Operated {
    api::ObjectMeta metadata;
    Json object;
  };
  static Result<std::shared_ptr<const Operated>> decode(const Json& object);
  Task<> work();
  Task<Status> reconcile(api::ObjectKey key);
  /// For how long the job has run, from the first time that it was seen to.
  Duration time_run(const Operated& job);
  Task<Status> write(const Operated& before, Json status);

  KindOperatorDeps deps_;
  const OperatedKind& kind_;
  kube::ObjectInformer<Operated> jobs_;
  std::map<std::string, SteadyPoint> starts_;  ///< by uid
  TaskScope scope_;
  WorkQueue<api::ObjectKey> queue_;
};

}  // namespace regatta::lab
