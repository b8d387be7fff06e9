#pragma once

#include "jobs/generic_job.h"
#include "lib/kube/informer.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace regatta::clusters {

/// A runtime that jobs refer to, as the API server shows it.
struct Runtime {
  api::ObjectMeta metadata;
  Json object;
};

/// The runtimes that jobs of a cluster refer to, of every kind that some kind of job names. There
/// is none where no such kind of job is followed.
class RuntimeStore {
 public:
  using Informer = kube::ObjectInformer<Runtime>;

  RuntimeStore(const jobs::JobKinds& kinds,
               const std::function<kube::InformerDeps(const api::ResourceInfo&)>& informer);

  /// The owner of the store runs each informer in a coroutine of its own.
  void for_each_informer(const std::function<void(const api::ResourceInfo&, Informer&)>& visit);
  Task<> wait_synced();
  /// Before the informers run: `handler` learns which runtime appeared, changed or went.
  void on_change(const std::function<void(const jobs::RuntimeRef&)>& handler);

  std::shared_ptr<const Json> get(const jobs::RuntimeRef& ref) const;
  /// False when the API server has said that it has no such kind.
  bool serves(const api::ResourceInfo& kind) const;

 private:
  std::vector<std::pair<const api::ResourceInfo*, std::unique_ptr<Informer>>> informers_;
};

}  // namespace regatta::clusters
