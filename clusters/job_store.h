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

/// A CRD that comes later is noticed so much later at most.
inline constexpr Duration absent_retry = std::chrono::minutes(2);

struct JobStoreDeps {
  jobs::JobKinds kinds;
  /// What the informer of one kind needs.
  std::function<kube::InformerDeps(const jobs::JobKind&)> informer;
  kube::InformerOptions options;
  /// Shared by the jobs that are decoded; may be null. Must outlive the store.
  api::TemplatePool* pool = nullptr;
};

/// The jobs of every kind in one cluster, as far as the options select them. There is one informer
/// for each kind, by its group, version and resource, and one interface to read them all. What
/// informer.h says about handlers, indices and observe() holds here.
///
/// Pods that are planned with the job that made them are found by that job alone, and on_change()
/// names it instead.
///
/// Jobs that form a group are read as that: lists, indices and on_change() name the group instead.
/// A group is composed anew by each get(). By its own identity, get() still finds a member.
class JobStore {
 public:
  using Kind = jobs::JobKind;
  using Informer = kube::ObjectInformer<jobs::GenericJob>;

  explicit JobStore(JobStoreDeps deps);

  const jobs::JobKinds& kinds() const { return deps_.kinds; }
  /// The owner of the store runs each informer in a coroutine of its own.
  void for_each_informer(const std::function<void(const Kind&, Informer&)>& visit);
  /// Ends each informer's run().
  void stop();
  Task<> wait_synced();
  void list_anew();
  /// A job of the kind may soon be there. See kube::InformerOptions::rest.
  void rouse(const Kind& kind);
  /// Lists the kinds that rest. Until then current() is false.
  void list_resting();
  /// The health of the worst kind: kinds with an error are worse, then those with more failures.
  /// Those that are withdrawn() aside.
  const kube::InformerHealth& worst_health() const;
  /// Since when every kind that does not rest and is not withdrawn() has been heard of: the oldest
  /// last event, bookmark or list; nullopt when there is none yet.
  std::optional<TimePoint> heard() const;
  /// Every kind is synced, and its informer is connected or has no error, or the kind is
  /// withdrawn(). A kind that the API does not serve is synced, and has no jobs.
  bool current() const;
  /// Whether the API serves the kind, as far as known; false for kinds that are not followed.
  bool serves(const Kind& kind) const;
  /// Why jobs of the kind can no longer be followed, although the store may have some: the API says
  /// that it does not serve the kind any more, or does not let it be read. That says nothing about
  /// other kinds. Null while they can, and while the API as a whole is what fails.
  const Error* withdrawn(const Kind& kind) const;

  // Before the informers run
  void add_index(std::string name,
                 std::function<std::vector<std::string>(const jobs::GenericJob&)> values);
  void on_change(std::function<void(const jobs::JobId&)> handler);
  /// Of single objects, whether they form a group or not.
  void on_transition(
      std::function<void(const jobs::JobId&, const jobs::JobPtr&, const jobs::JobPtr&)> handler);
  void on_health(std::function<void()> handler);
  /// unreadable() changed for some job.
  void on_unreadable(std::function<void()> handler);

  /// Null when there is no such job, or its kind is not followed here.
  jobs::JobPtr get(const jobs::JobId& id) const;
  bool unreadable(const jobs::JobId& id) const;
  /// Whether any object is.
  bool any_unreadable() const;
  kube::Absence absence(const jobs::JobId& id) const;
  /// Every job, by kind in the order of kinds(), then by key.
  std::vector<jobs::JobPtr> list() const;
  std::vector<jobs::JobPtr> by_index(const std::string& index, const std::string& value) const;
  bool any_by_index(const std::string& index, const std::string& value) const;
  std::vector<jobs::JobId> ids_by_index(const std::string& index, const std::string& value) const;

  /// The Pods that are planned with that job, by name.
  std::vector<jobs::JobPtr> pods_of(const jobs::JobId& parent) const;

  using Answered = kube::Answered<jobs::GenericJob>;
  /// The job in an answer of the API server.
  Result<Answered> decode(const Kind& kind, std::string text) const;
  void observe(Answered written);
  void may_appear(const jobs::JobId& id);
  void observe_absent(const jobs::JobId& id, const jobs::JobPtr& before);
  void observe_unreadable(const jobs::JobId& id, const Error& error);

 private:
  Informer* find(const Kind* kind) const;
  /// The informer of the members of such groups; null when it is no kind of groups.
  Informer* find_members(const Kind* groups) const;
  /// Of jobs of the kind, or of the members of such groups.
  Informer* informer_of(const Kind& kind) const;
  jobs::JobPtr compose(const jobs::JobId& id) const;

  void note_health(const Kind& kind);

  JobStoreDeps deps_;
  std::vector<std::pair<const Kind*, std::unique_ptr<Informer>>> informers_;
  std::map<const Kind*, Error> withdrawn_;
};

}  // namespace regatta::clusters
