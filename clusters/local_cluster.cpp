#include "clusters/local_cluster.h"

#include "clusters/lean_objects.h"
#include "clusters/quota_part.h"
#include "jobs/read_job.h"
#include "lib/api/names.h"
#include "lib/api/placed.h"
#include "lib/api/template_pool.h"
#include "lib/kube/catch_up.h"
#include "lib/kube/status.h"

#include <algorithm>

namespace regatta::clusters {
namespace {

kube::InformerDeps informer_deps(const LocalClusterDeps& deps, const char* name) {
  return kube::InformerDeps{deps.client, deps.clock, deps.rng, deps.executor, deps.log.named(name)};
}

kube::InformerOptions in_namespace(std::string ns) {
  kube::InformerOptions options;
  options.ns = std::move(ns);
  return options;
}

/// That a Workload was deleted is asked for as long as workers hold something of it.
kube::InformerOptions remembering_many() {
  kube::InformerOptions options;
  options.absent_max = 16384;
  return options;
}

/// So many Workloads are asked for one by one within that time; then all are listed.
constexpr int asked_one_by_one = 64;
constexpr Duration asked_within = std::chrono::seconds(10);

kube::InformerOptions live_pods() {
  kube::InformerOptions options;
  options.field_selector = "status.phase!=Succeeded,status.phase!=Failed";
  return options;
}

template <class T>
void lean(T& object) {
  keep_for_placement(&object);
}

kube::Informer<api::ResourceFlavor>::Transform flavors_as(bool topology) {
  if (topology) return nullptr;
  return [](api::ResourceFlavor& flavor) { flavor.spec.topology_name.clear(); };
}

JobStoreDeps job_store_deps(const LocalClusterDeps& deps, api::TemplatePool* pool) {
  JobStoreDeps store;
  store.kinds = deps.kinds;
  store.informer = [deps](const jobs::JobKind& kind) {
    const std::string name = "informer." + std::string(kind.resource().plural);
    return informer_deps(deps, name.c_str());
  };
  store.pool = pool;
  return store;
}

std::string owner_name(std::string_view group, std::string_view kind, const api::ObjectKey& key) {
  return std::string(group) + "/" + std::string(kind) + "/" + key.str();
}

}  // namespace

std::string owner_name(const jobs::JobId& owner) {
  const api::ResourceInfo& kind = owner.kind->resource();
  return owner_name(kind.group, kind.kind, owner.key);
}

LocalCluster::LocalCluster(LocalClusterDeps deps)
    : events(deps.events),
      clock(deps.clock),
      log(deps.log),
      system_namespace(deps.system_namespace),
      client_(deps.client),
      hub_(deps.hub),
      workloads(informer_deps(deps, "informer.workloads"), remembering_many(),
                [this](auto& workload) { templates_.share(&workload); }),
      jobs(job_store_deps(deps, &templates_)),
      runtimes(deps.kinds,
               [&deps](const api::ResourceInfo& runtime) {
                 const std::string name = "informer." + std::string(runtime.plural);
                 return informer_deps(deps, name.c_str());
               }),
      cluster_queues(informer_deps(deps, "informer.clusterqueues")),
      local_queues(informer_deps(deps, "informer.localqueues")),
      cohorts(informer_deps(deps, "informer.cohorts")),
      flavors(informer_deps(deps, "informer.resourceflavors"), {}, flavors_as(deps.topology)),
      topologies(informer_deps(deps, "informer.topologies")),
      checks(informer_deps(deps, "informer.admissionchecks")),
      multikueue_clusters(informer_deps(deps, "informer.multikueueclusters")),
      multikueue_configs(informer_deps(deps, "informer.multikueueconfigs")),
      selection(multikueue_configs, multikueue_clusters),
      workload_priority_classes(informer_deps(deps, "informer.workloadpriorityclasses")),
      priority_classes(informer_deps(deps, "informer.priorityclasses")),
      namespaces(informer_deps(deps, "informer.namespaces")),
      limit_ranges(informer_deps(deps, "informer.limitranges")),
      runtime_classes(informer_deps(deps, "informer.runtimeclasses")),
      secrets(informer_deps(deps, "informer.secrets"), in_namespace(deps.system_namespace)),
      nodes(informer_deps(deps, "informer.nodes"), {}, lean<api::Node>),
      pods(informer_deps(deps, "informer.pods"), live_pods(), lean<api::Pod>),
      workload_locks_(deps.executor),
      job_locks_(deps.executor),
      vouched_(deps.executor),
      flavor_changed_(deps.executor) {
  workloads.keep_part(part_with_quota);
  workloads.on_transition([this](const api::ObjectKey& key, const auto&, const auto& after) {
    if (!after) unsure_.erase(key);
  });
  workloads.add_index(by_owner, [kinds = deps.kinds](const api::Workload& workload) {
    std::vector<std::string> names;
    if (const api::OwnerReference* owner = workload.metadata.controller()) {
      names.push_back(owner_name(api::group_of(owner->api_version), owner->kind,
                                 {workload.metadata.ns, owner->name}));
    } else if (const auto group = jobs::group_of(kinds, workload)) {
      names.push_back(owner_name(*group));
      if (const auto parent = jobs::parent_of(kinds, workload)) {
        names.push_back(owner_name(*parent));
      }
    }
    return names;
  });
  workloads.add_index(by_local_queue, [](const api::Workload& workload) {
    return std::vector<std::string>{workload.metadata.ns + "/" + workload.spec.queue_name};
  });
  jobs.add_index(by_prebuilt, [](const jobs::GenericJob& job) {
    std::vector<std::string> names;
    if (const std::string name = jobs::prebuilt_workload(job.metadata()); !name.empty()) {
      names.push_back(job.metadata().ns + "/" + name);
    }
    return names;
  });
  jobs.add_index(by_runtime, [](const jobs::GenericJob& job) {
    const auto ref = job.runtime();
    return ref && *ref ? std::vector<std::string>{(*ref)->str()} : std::vector<std::string>();
  });
  pods.add_index(by_pods_workload, [](const api::Pod& pod) {
    const std::string workload = workload_of(pod);
    const bool placed = !workload.empty() && api::placed_by_topology(pod.metadata.annotations);
    return placed ? std::vector<std::string>{workload} : std::vector<std::string>();
  });
  pods.add_index(by_bound_workload, [](const api::Pod& pod) {
    const std::string workload = first_slice_of(pod);
    const bool bound = !workload.empty() && !pod.spec.node_name.empty();
    return bound ? std::vector<std::string>{workload} : std::vector<std::string>();
  });
  pods.add_index(by_wanted_host, [](const api::Pod& pod) {
    const auto host = pod.spec.node_selector.find(std::string(api::labels::hostname));
    const bool waits = pod.spec.node_name.empty() && host != pod.spec.node_selector.end();
    return waits ? std::vector<std::string>{host->second} : std::vector<std::string>();
  });
  // A write to what is gone has no effect any more.
  jobs.for_each_informer([this](const jobs::JobKind& kind, JobStore::Informer& informer) {
    informer.on_transition(
        [this, &kind](const api::ObjectKey& key, const auto&, const auto& after) {
          if (!after) unsure_jobs_.erase(jobs::JobId{&kind, key});
        });
  });
  flavors.on_change([this](const api::ObjectKey&) { flavor_changed_.notify_all(); });
}

bool LocalCluster::uses_topology() const {
  const auto all = flavors.list();
  return std::any_of(all.begin(), all.end(),
                     [](const auto& flavor) { return !flavor->spec.topology_name.empty(); });
}

/// Pods are synced before nodes are watched, so that the room of a known node is never
/// overestimated.
Task<> LocalCluster::watch_places(TaskScope& scope) {
  while (!uses_topology()) co_await flavor_changed_.wait();
  scope.spawn("informer pods", pods.run());
  co_await pods.wait_synced();
  scope.spawn("informer nodes", nodes.run());
}

void LocalCluster::start(TaskScope& scope) {
  scope.spawn("informer workloads", workloads.run());
  jobs.for_each_informer([&scope](const jobs::JobKind& kind, JobStore::Informer& informer) {
    scope.spawn("informer " + std::string(kind.resource().plural), informer.run());
  });
  runtimes.for_each_informer(
      [&scope](const api::ResourceInfo& runtime, RuntimeStore::Informer& informer) {
        scope.spawn("informer " + std::string(runtime.plural), informer.run());
      });
  scope.spawn("informer clusterqueues", cluster_queues.run());
  scope.spawn("informer localqueues", local_queues.run());
  scope.spawn("informer cohorts", cohorts.run());
  scope.spawn("informer resourceflavors", flavors.run());
  scope.spawn("informer topologies", topologies.run());
  scope.spawn("places", watch_places(scope));
  scope.spawn("informer admissionchecks", checks.run());
  scope.spawn("informer workloadpriorityclasses", workload_priority_classes.run());
  scope.spawn("informer priorityclasses", priority_classes.run());
  scope.spawn("informer namespaces", namespaces.run());
  scope.spawn("informer limitranges", limit_ranges.run());
  scope.spawn("informer runtimeclasses", runtime_classes.run());
  if (!hub_) return;
  scope.spawn("informer multikueueclusters", multikueue_clusters.run());
  scope.spawn("informer multikueueconfigs", multikueue_configs.run());
  scope.spawn("informer secrets", secrets.run());
}

Task<> LocalCluster::wait_synced() {
  co_await workloads.wait_synced();
  co_await jobs.wait_synced();
  co_await runtimes.wait_synced();
  co_await cluster_queues.wait_synced();
  co_await local_queues.wait_synced();
  co_await cohorts.wait_synced();
  co_await flavors.wait_synced();
  co_await topologies.wait_synced();
  co_await checks.wait_synced();
  co_await workload_priority_classes.wait_synced();
  co_await priority_classes.wait_synced();
  co_await namespaces.wait_synced();
  co_await limit_ranges.wait_synced();
  co_await runtime_classes.wait_synced();
  if (hub_) {
    co_await multikueue_clusters.wait_synced();
    co_await multikueue_configs.wait_synced();
    co_await secrets.wait_synced();
  }
  if (uses_topology()) co_await nodes.wait_synced();
}

std::string LocalCluster::uid() const {
  const auto found = namespaces.get(api::ObjectKey("kube-system"));
  return found ? found->metadata.uid : std::string();
}

Task<Status> LocalCluster::catch_up() {
  kube::CatchUp all;
  all.add(workloads);
  jobs.for_each_informer([&](const auto&, auto& informer) { all.add(informer); });
  runtimes.for_each_informer([&](const auto&, auto& informer) { all.add(informer); });
  all.add(cluster_queues);
  all.add(local_queues);
  all.add(cohorts);
  all.add(flavors);
  all.add(topologies);
  all.add(checks);
  all.add(workload_priority_classes);
  all.add(priority_classes);
  all.add(namespaces);
  all.add(limit_ranges);
  all.add(runtime_classes);
  if (hub_) {
    all.add(multikueue_clusters);
    all.add(multikueue_configs);
    all.add(secrets);
  }
  if (pods.has_synced()) all.add(pods);
  if (nodes.has_synced()) all.add(nodes);
  co_return co_await all.run(clock);
}

Task<Status> LocalCluster::update_status(api::ObjectKey key, Wanted<api::WorkloadStatus> wanted) {
  return update(std::move(key), std::move(wanted), &api::Workload::status,
                kube::PatchScope::status);
}

Task<Status> LocalCluster::update_metadata(api::ObjectKey key, Wanted<api::ObjectMeta> wanted) {
  return update(std::move(key), std::move(wanted), &api::Workload::metadata,
                kube::PatchScope::metadata);
}

Task<Status> LocalCluster::update_spec(api::ObjectKey key, Wanted<api::WorkloadSpec> wanted) {
  return update(std::move(key), std::move(wanted), &api::Workload::spec, kube::PatchScope::object);
}

Task<Status> LocalCluster::update_status(jobs::WorkloadPtr workload,
                                         Wanted<api::WorkloadStatus> wanted) {
  return update_one(std::move(workload), std::move(wanted), &api::Workload::status,
                    kube::PatchScope::status);
}

Task<Status> LocalCluster::update_metadata(jobs::WorkloadPtr workload,
                                           Wanted<api::ObjectMeta> wanted) {
  return update_one(std::move(workload), std::move(wanted), &api::Workload::metadata,
                    kube::PatchScope::metadata);
}

Task<Status> LocalCluster::update_spec(jobs::WorkloadPtr workload,
                                       Wanted<api::WorkloadSpec> wanted) {
  return update_one(std::move(workload), std::move(wanted), &api::Workload::spec,
                    kube::PatchScope::object);
}

template <class Part>
Task<Status> LocalCluster::update_one(jobs::WorkloadPtr workload, Wanted<Part> wanted,
                                      Part api::Workload::* part, kube::PatchScope scope) {
  bool another = false;
  const auto guarded = [&](const api::Workload& stored) -> std::optional<Part> {
    another = stored.metadata.uid != workload->metadata.uid;
    return another ? std::nullopt : wanted(stored);
  };
  const api::ObjectKey key = workload->metadata.key();
  const Status done = co_await update<Part>(key, guarded, part, scope);
  if (done && another) {
    co_return Error(Errc::conflict, "workload " + key.str() + " is another one by now");
  }
  co_return done;
}

template <class Part>
Task<Status> LocalCluster::update(api::ObjectKey key, Wanted<Part> wanted,
                                  Part api::Workload::* part, kube::PatchScope scope) {
  const auto held = co_await workload_locks_.acquire(key);
  const auto stored = workloads.get(key);
  if (!stored) co_return Error(Errc::not_found, "workload " + key.str() + " is gone");
  std::optional<Part> value = wanted(*stored);
  if (!value || *value == (*stored).*part) co_return ok();
  api::Workload before = *stored;
  api::Workload after = before;
  after.*part = std::move(*value);
  Result<api::Workload> written = Error();
  switch (scope) {
    case kube::PatchScope::status:
      written = co_await client_.patch_status(std::move(before), std::move(after));
      break;
    case kube::PatchScope::metadata:
      written = co_await client_.patch_metadata(std::move(before), std::move(after));
      break;
    case kube::PatchScope::object:
      written = co_await client_.patch_object(std::move(before), std::move(after));
      break;
  }
  if (!written) {
    const Error failed = written.error();
    // The next decision needs the object as it is now; the watch may not have shown it yet.
    const bool stale = failed.code() == Errc::conflict || kube::may_have_happened(failed);
    if (stale) {
      unsure_.insert(key);
      co_await refresh(key);
    }
    co_return failed.within("workload " + key.str());
  }
  workloads.observe(std::move(*written));
  co_return ok();
}

Task<Status> LocalCluster::refresh(api::ObjectKey key) {
  auto current = co_await client_.get<api::Workload>(key);
  if (!current) co_return current.error();
  unsure_.erase(key);
  workloads.observe(std::move(*current));
  co_return ok();
}

/// To read one by one what workers hold in vain, however much it is, would take its turn from all
/// else. One list tells the same.
Task<> LocalCluster::vouch() {
  if (!vouching_) {
    vouching_ = true;
    co_await workloads.vouch();
    vouching_ = false;
    vouched_.notify_all();
  }
  while (vouching_) co_await vouched_.wait();
}

Task<Status> LocalCluster::confirm(api::ObjectKey key) {
  const auto before = workloads.get(key);
  if (!before && !unsure_.contains(key)) {
    if (clock.steady() - asked_.since > asked_within) asked_ = {clock.steady(), 0};
    if (++asked_.times > asked_one_by_one) {
      co_await vouch();
      co_return ok();
    }
  }
  const auto text = co_await client_.get_raw(api::Workload::resource, key);
  if (!text && text.error().code() != Errc::not_found) {
    co_return text.error().within("reading workload " + key.str());
  }
  unsure_.erase(key);
  if (!text) {
    workloads.observe_absent(key, before);
    co_return ok();
  }
  auto current = api::decode<api::Workload>(kube::without_managed_fields(*text));
  if (!current) {
    workloads.observe_unreadable(key, current.error());
    co_return ok();
  }
  workloads.observe(std::move(*current));
  if (workloads.get(key)) co_return ok();
  // The cache follows the server beyond this version and yet lacks the object.
  workloads.list_anew();
  co_return Error(Errc::unavailable, "the cache lacks workload " + key.str() + ": listing anew");
}

Task<Result<api::ObjectKey>> LocalCluster::create_workload(api::Workload workload) {
  auto created = co_await client_.create(std::move(workload));
  if (!created) co_return created.error();
  api::ObjectKey key = created->metadata.key();
  workloads.observe(std::move(*created));
  co_return key;
}

Task<Status> LocalCluster::remove_workload(jobs::WorkloadPtr workload) {
  kube::DeleteOptions options;
  options.uid = workload->metadata.uid;
  const Status done =
      co_await client_.remove<api::Workload>(workload->metadata.key(), std::move(options));
  if (!done && done.error().code() != Errc::not_found) co_return done;
  co_return ok();
}

Task<Status> LocalCluster::patch_job(
    jobs::JobId id, bool status,
    std::function<std::optional<Json>(const jobs::GenericJob&)> change) {
  const auto held = co_await job_locks_.acquire(id);
  const jobs::JobPtr stored = jobs.get(id);
  if (!stored) co_return Error(Errc::not_found, id.str() + " is gone");
  const std::optional<Json> patch = change(*stored);
  if (!patch || patch->empty()) co_return ok();
  kube::WriteOptions options;
  if (status) options.subresource = "status";
  auto written = co_await client_.patch_raw(id.kind->resource(), id.key, kube::PatchType::merge,
                                            dump_json(*patch), std::move(options));
  if (!written) {
    const Error failed = written.error();
    // After a conflict the watch will show what another one wrote.
    if (kube::may_have_happened(failed)) {
      const jobs::JobPtr left = jobs.get(id);
      if (left && left->metadata().uid == stored->metadata().uid) unsure_jobs_.insert(id);
      (void)co_await fetch_job(id);
    }
    co_return failed.within(id.str());
  }
  auto job = jobs.decode(*id.kind, std::move(*written));
  if (!job) co_return job.error().within(id.str());
  jobs.observe(std::move(*job));
  co_return ok();
}

Task<Result<jobs::JobPtr>> LocalCluster::fetch_job(jobs::JobId id) {
  const jobs::JobPtr before = jobs.get(id);
  auto text = co_await client_.get_raw(id.kind->resource(), id.key);
  const bool gone = !text && text.error().code() == Errc::not_found;
  // What may not be read is known by its watch alone.
  if (text || gone || kube::is_forbidden(text.error())) unsure_jobs_.erase(id);
  if (!text && !gone) co_return text.error().within(id.str());
  if (!text) {
    jobs.observe_absent(id, before);
    co_return jobs::JobPtr();
  }
  auto job = jobs.decode(*id.kind, std::move(*text));
  if (!job) co_return job.error().within(id.str());
  const jobs::JobPtr read = job->object;
  jobs.observe(std::move(*job));
  co_return read;
}

Task<Status> LocalCluster::fetch_makers(jobs::JobPtr job) {
  std::optional<jobs::JobId> last;
  for (int level = 0; level < jobs::nesting_max; ++level) {
    const std::optional<jobs::JobId> unseen = jobs::unseen_maker(objects(), *job);
    if (!unseen || unseen == last) break;
    last = unseen;
    const auto read = co_await fetch_job(*unseen);
    if (!read && kube::is_forbidden(read.error())) break;
    if (!read) co_return read.error().within("reading the owner of " + jobs::id_of(*job).str());
  }
  co_return ok();
}

Task<Status> LocalCluster::remove_job(jobs::JobPtr job) {
  kube::DeleteOptions options;
  options.uid = job->metadata().uid;
  options.propagation_policy = "Background";
  const Status done =
      co_await client_.remove(job->kind().resource(), job->metadata().key(), std::move(options));
  if (!done && done.error().code() != Errc::not_found) co_return done;
  co_return ok();
}

Task<Status> LocalCluster::patch_pod(api::ObjectKey key, std::string patch) {
  auto patched = co_await client_.patch<api::Pod>(key, kube::PatchType::merge, std::move(patch));
  if (patched) {
    pods.observe(std::move(*patched));
    co_return ok();
  }
  const Error failed = patched.error();
  const bool stale = failed.code() == Errc::conflict || kube::may_have_happened(failed);
  if (stale) {
    auto current = co_await client_.get<api::Pod>(std::move(key));
    const std::string phase = current ? current->status.phase : "";
    if (current && phase != "Succeeded" && phase != "Failed") pods.observe(std::move(*current));
  }
  co_return failed;
}

Task<Status> LocalCluster::patch_pod_status(api::ObjectKey key, std::string patch) {
  kube::WriteOptions options;
  options.subresource = "status";
  const auto patched =
      co_await client_.patch_raw(api::Pod::resource, std::move(key), kube::PatchType::strategic,
                                 std::move(patch), std::move(options));
  if (!patched) co_return patched.error();
  co_return ok();
}

}  // namespace regatta::clusters
