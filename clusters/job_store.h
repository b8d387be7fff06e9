#pragma once

#include "jobs/generic_job.h"
#include "lib/api/template_pool.h"
#include "lib/kube/informer.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace regatta::clusters {

struct JobStoreDeps {
  jobs::JobKinds kinds;
  /// For the informer of one kind.
  std::function<kube::InformerDeps(const jobs::JobKind&)> informer;
  kube::InformerOptions options;
  /// Shared by what is decoded; may be null. Must outlive the store.
  api::TemplatePool* pool = nullptr;
};

/// The jobs of every kind in one cluster, as far as the options select them: one informer for each
/// kind, by its group, version and resource, and one way to read them all. What informer.h says of
/// handlers, indices and observe() holds here.
class JobStore {
 public:
  using Kind = jobs::JobKind;
  using Informer = kube::ObjectInformer<jobs::GenericJob>;

  explicit JobStore(JobStoreDeps deps);

  const jobs::JobKinds& kinds() const { return deps_.kinds; }
  /// To be run by the owner of the store, which gives each a coroutine.
  void for_each_informer(const std::function<void(const Kind&, Informer&)>& visit);
  Task<> wait_synced();
  /// Of the kind that is worst off: one with an error, of several the one that failed more often.
  const kube::InformerHealth& worst_health() const;
  /// Every kind is synced, and nothing is known to be wrong with any.
  bool current() const;

  // Before the informers run
  void add_index(std::string name,
                 std::function<std::vector<std::string>(const jobs::GenericJob&)> values);
  void on_change(std::function<void(const jobs::JobId&)> handler);
  void on_transition(
      std::function<void(const jobs::JobId&, const jobs::JobPtr&, const jobs::JobPtr&)> handler);
  void on_health(std::function<void()> handler);

  /// Null when there is none, or its kind is not followed here.
  jobs::JobPtr get(const jobs::JobId& id) const;
  /// Every job, by kind in the order of kinds(), then by key.
  std::vector<jobs::JobPtr> list() const;
  std::vector<jobs::JobPtr> by_index(const std::string& index, const std::string& value) const;
  std::vector<jobs::JobId> ids_by_index(const std::string& index, const std::string& value) const;

  /// What an answer of the API server holds.
  Result<jobs::JobPtr> decode(const Kind& kind, std::string text) const;
  void observe(jobs::JobPtr written);

 private:
  const Informer* find(const Kind* kind) const;

  JobStoreDeps deps_;
  std::vector<std::pair<const Kind*, std::unique_ptr<Informer>>> informers_;
};

}  // namespace regatta::clusters
