#include "controllers/node_controller.h"

#include "admission/topology/assignment.h"
#include "admission/workload.h"
#include "clusters/lean_objects.h"
#include "jobs/admission_info.h"
#include "lib/api/names.h"
#include "lib/api/placed.h"
#include "lifecycle/elastic_pods.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace regatta::controllers {
namespace {

/// Index of workloads: the hosts that its pods are placed on, while the workload may lose them.
constexpr const char* by_host = "host";
/// Index of nodes: value of the hostname label.
constexpr const char* by_hostname = "hostname";

/// In the queue, what is no hostname: every host without a node.
constexpr const char* each_missing = "/";

/// Pods of a node end one after another. Those that end within this time are handled together.
constexpr Duration batch{100};

std::string hostname_of(const api::Node& node) {
  return node.metadata.label(std::string(api::labels::hostname));
}

bool names_hosts(const api::PodSetAssignment& assignment) {
  const auto& places = assignment.topology_assignment;
  return places && api::lowest_is_hostname(places->levels);
}

/// The hosts on which the workload's pods are placed; none when its places are wider than a node.
std::vector<std::string> hosts_of(const api::Workload& workload) {
  std::set<std::string> hosts;
  if (!workload.status.admission || lifecycle::is_finished(workload) ||
      lifecycle::is_evicted(workload))
    return {};
  for (const auto& assignment : workload.status.admission->pod_set_assignments) {
    if (!names_hosts(assignment)) continue;
    const auto domains = admission::expand(*assignment.topology_assignment);
    if (!domains) continue;
    for (const auto& domain : domains->domains) hosts.insert(domain.values.back());
  }
  return {hosts.begin(), hosts.end()};
}

std::string wanted_host(const api::Pod& pod) {
  const auto found = pod.spec.node_selector.find(std::string(api::labels::hostname));
  return found == pod.spec.node_selector.end() ? std::string() : found->second;
}

const std::string& pod_set_of(const api::Pod& pod) {
  return pod.metadata.label(std::string(api::labels::pod_set));
}

/// Whether the hostname that the pod selects may be its place. Where places are wider than a node,
/// it is what the pod asks for itself.
bool may_be_sent_to_hosts(const api::Workload& workload, const api::Pod& pod) {
  if (!workload.status.admission) return true;
  for (const auto& assignment : workload.status.admission->pod_set_assignments) {
    if (assignment.name == pod_set_of(pod)) return names_hosts(assignment);
  }
  return true;
}

/// The pod has its place, and kube-scheduler has not bound it yet.
bool waits(const api::Pod& pod) {
  const auto& gates = pod.spec.scheduling_gates;
  return pod.spec.node_name.empty() && pod.status.phase == "Pending" &&
         std::find(gates.begin(), gates.end(), api::gates::topology) == gates.end();
}

constexpr const char* doom = "Pod terminated by Kueue NodeController due to node taint";

std::string failed_patch(const std::string& uid, TimePoint now) {
  Json condition = {{"type", "TerminatedByKueue"},
                    {"status", "True"},
                    {"reason", "UnschedulableOnAssignedNode"},
                    {"message", doom},
                    {"lastTransitionTime", format_rfc3339(now)}};
  Json patch = Json::object();
  patch["metadata"]["uid"] = uid;  // another pod may have the name by now
  patch["status"]["phase"] = "Failed";
  patch["status"]["conditions"] = Json::array();
  patch["status"]["conditions"].push_back(std::move(condition));
  return dump_json(patch);
}

}  // namespace

NodeController::NodeController(clusters::LocalCluster& cluster, TaskScope& scope,
                               NodeControllerConfig config)
    : cluster_(cluster),
      scope_(scope),
      config_(config),
      log_(cluster.log.named("nodes")),
      queue_(cluster.clock, scope, Backoff{Duration(50), std::chrono::seconds(30)},
             Intake::closed) {
  cluster_.workloads.add_index(by_host, hosts_of);
  cluster_.nodes.add_index(by_hostname, [](const api::Node& node) {
    return std::vector<std::string>{hostname_of(node)};
  });
  if (!config_.health.replace) return;
  watch_nodes();
  watch_pods();
  watch_workloads();
}

void NodeController::watch_nodes() {
  cluster_.nodes.on_transition([this](const auto&, const auto& before, const auto& after) {
    const bool same = before && after && hostname_of(*before) == hostname_of(*after) &&
                      api::is_true(before->status.conditions, "Ready") ==
                          api::is_true(after->status.conditions, "Ready") &&
                      before->spec.taints == after->spec.taints;
    if (same) return;
    if (before) queue_.add(hostname_of(*before));
    if (after) queue_.add(hostname_of(*after));
  });
  cluster_.nodes.on_unreadable([this](const auto&) { queue_.add(each_missing); });
}

/// Fewer nodes that cannot be read leave fewer hosts of which nothing is known.
void NodeController::look_at_missing() {
  for (const WorkloadPtr& workload : cluster_.workloads.list()) {
    for (const std::string& host : hosts_of(*workload)) {
      if (!node_named(host)) queue_.add(host);
    }
  }
}

void NodeController::watch_pods() {
  cluster_.pods.on_transition([this](const auto&, const auto& before, const auto& after) {
    const api::Pod& pod = after ? *after : *before;
    if (clusters::workload_of(pod).empty()) return;
    const bool ends = !after || pod.metadata.deleting();
    if (!pod.spec.node_name.empty()) {
      if (ends) queue_.add_after(host_of(pod.spec.node_name), batch);
      return;
    }
    look_for_place(pod);
  });
}

void NodeController::look_for_place(const api::Pod& pod) {
  const std::string host = wanted_host(pod);
  if (!host.empty() && api::placed_by_topology(pod.metadata.annotations)) {
    queue_.add_after(host, batch);
  }
}

/// A workload may get a place on a node that was lost before the place was written, and may need
/// what it has on a lost node no more.
void NodeController::watch_workloads() {
  cluster_.workloads.on_transition([this](const auto&, const auto& before, const auto& after) {
    if (!after || !after->status.admission) return;
    if (!before || before->status.admission != after->status.admission) {
      look_at_suspects(*after, Duration(0));
    } else if (before->status.reclaimable_pods != after->status.reclaimable_pods) {
      look_at_suspects(*after, batch);  // the pods that it gave back may be seen to end later
    }
  });
}

void NodeController::look_at_suspects(const api::Workload& workload, Duration delay) {
  for (const std::string& host : hosts_of(workload)) {
    const NodePtr node = node_named(host);
    if (!node || lifecycle::is_suspect(*node)) queue_.add_after(host, delay);
  }
}

/// Hosts without a node are those of workloads and of pods that wait for one.
void NodeController::start() {
  queue_.open();
  if (config_.health.replace) {
    for (const NodePtr& node : cluster_.nodes.list()) queue_.add(hostname_of(*node));
    queue_.add(each_missing);
    for (const auto& pod : cluster_.pods.list()) {
      if (pod->spec.node_name.empty() && !clusters::workload_of(*pod).empty()) look_for_place(*pod);
    }
  }
  for (int i = 0; i < config_.workers; ++i) scope_.spawn("nodes", work());
}

Task<> NodeController::work() {
  for (;;) {
    std::string host = co_await queue_.next();
    const Status done = co_await reconcile(host);
    if (queue_.finish(host, done)) {
      log_.warning("workloads of a node not looked at",
                   {{"node", host}, {"error", done.error().what()}});
    }
  }
}

std::string NodeController::host_of(const std::string& node) const {
  const NodePtr found = cluster_.nodes.get(api::ObjectKey(node));
  return found ? hostname_of(*found) : node;
}

NodeController::NodePtr NodeController::node_named(const std::string& host) const {
  const auto& names = cluster_.nodes.keys_by_index(by_hostname, host);
  return names.empty() ? nullptr : cluster_.nodes.get(*names.begin());
}

/// One that cannot be read does not say its hostname, which is mostly its name. A node that was
/// seen to go is none of these.
bool NodeController::may_be_unreadable(const std::string& host) const {
  const auto& unreadable = cluster_.nodes.undecodable();
  const api::ObjectKey name(host);
  if (unreadable.contains(name)) return true;
  if (cluster_.nodes.absence(name) != kube::Absence::unseen) return false;
  return std::any_of(unreadable.begin(), unreadable.end(),
                     [this](const auto& one) { return !cluster_.nodes.get(one.first); });
}

std::vector<NodeController::WorkloadPtr> NodeController::concerned(const std::string& host) const {
  std::set<api::ObjectKey> keys = cluster_.workloads.keys_by_index(by_host, host);
  for (const auto& pod : cluster_.pods.by_index(clusters::by_wanted_host, host)) {
    const std::string& name = pod->metadata.annotation(std::string(api::annotations::workload));
    keys.insert(api::ObjectKey(pod->metadata.ns, name));
  }
  std::vector<WorkloadPtr> workloads;
  for (const api::ObjectKey& key : keys) {
    auto workload = cluster_.workloads.get(key);
    if (cluster_.workloads.unreadable(key)) continue;  // nothing can be written about it
    if (!workload || lifecycle::is_finished(*workload) || lifecycle::is_evicted(*workload))
      continue;
    workloads.push_back(std::move(workload));
  }
  return workloads;
}

std::vector<lifecycle::PodPtr> NodeController::bound_pods(const api::Workload& workload) const {
  const std::string slice = lifecycle::slice_name(workload);
  const std::string& first = slice.empty() ? workload.metadata.name : slice;
  return cluster_.pods.by_index(clusters::by_bound_workload, workload.metadata.ns + "/" + first);
}

std::vector<lifecycle::PodPtr> NodeController::waiting_pods(const api::Workload& workload) const {
  auto pods = cluster_.pods.by_index(clusters::by_pods_workload, workload.metadata.key().str());
  std::erase_if(pods, [](const lifecycle::PodPtr& pod) { return !waits(*pod); });
  return pods;
}

bool NodeController::given_back(const api::Workload& workload,
                                const api::PodSetAssignment& assignment,
                                const std::string& host) const {
  const auto& sets = workload.spec.pod_sets;
  const auto set = std::find_if(sets.begin(), sets.end(),
                                [&](const auto& one) { return one.name == assignment.name; });
  if (set == sets.end()) return false;
  const std::int32_t left = admission::count_after_reclaim(workload, *set);
  if (left == set->count) return false;
  const auto domains = admission::expand(*assignment.topology_assignment);
  if (!domains) return false;
  std::map<std::string, std::int32_t> places;
  for (const auto& domain : domains->domains) {
    if (domain.values.back() != host) places[domain.values.back()] += domain.count;
  }
  std::int32_t elsewhere = 0;
  const auto count = [&](const lifecycle::PodPtr& pod, const std::string& there) {
    const auto place = places.find(there);
    if (place == places.end() || place->second == 0) return;
    if (pod->metadata.deleting() || pod_set_of(*pod) != assignment.name) return;
    --place->second;
    ++elsewhere;
  };
  for (const auto& pod : bound_pods(workload)) count(pod, host_of(pod->spec.node_name));
  for (const auto& pod : waiting_pods(workload)) count(pod, wanted_host(*pod));
  return elsewhere >= left;
}

lifecycle::PlaceView NodeController::view(const api::Workload& workload, const std::string& host,
                                          const NodePtr& node) const {
  lifecycle::PlaceView view;
  view.node = node.get();
  for (const auto& pod : bound_pods(workload)) {
    if (node && pod->spec.node_name == node->metadata.name && !pod->metadata.deleting()) {
      view.progressing = true;
    }
  }
  for (const auto& pod : waiting_pods(workload)) {
    if (wanted_host(*pod) == host && may_be_sent_to_hosts(workload, *pod)) {
      view.waiting.push_back(pod);
    }
  }
  if (!workload.status.admission) return view;
  view.given_back = true;
  const jobs::FlavorLookup flavor = [this](const std::string& name) {
    return cluster_.flavors.get(api::ObjectKey(name)).get();
  };
  const auto infos = jobs::admission_infos(workload, flavor);
  for (const auto& assignment : workload.status.admission->pod_set_assignments) {
    const auto& places = assignment.topology_assignment;
    if (!places || admission::pods_on_node(*places, host) == 0) continue;
    view.assigned = true;
    view.given_back = view.given_back && given_back(workload, assignment, host);
    std::vector<api::Toleration>& all = view.tolerations.emplace_back();
    for (const api::PodSet& set : workload.spec.pod_sets) {
      if (set.name == assignment.name) all = set.pod_template.spec().tolerations;
    }
    if (!infos) continue;
    for (const jobs::PodSetInfo& info : *infos) {
      if (info.name != assignment.name) continue;
      all.insert(all.end(), info.tolerations.begin(), info.tolerations.end());
    }
  }
  return view;
}

Task<Status> NodeController::reconcile(std::string host) {
  // Before the sync an unknown node must not count as gone.
  if (!cluster_.nodes.has_synced()) co_return ok();
  if (host == each_missing) {
    look_at_missing();
    co_return ok();
  }
  const NodePtr node = node_named(host);
  if (!node && may_be_unreadable(host)) co_return ok();
  for (const WorkloadPtr& workload : concerned(host)) {
    const Status done = co_await look_at(workload, host, node);
    if (!done) co_return done;
  }
  co_return ok();
}

Task<Status> NodeController::look_at(WorkloadPtr workload, std::string host, NodePtr node) {
  const lifecycle::PlaceVerdict verdict =
      lifecycle::judge(view(*workload, host, node), config_.health);
  const TimePoint now = cluster_.clock.now();
  const std::string uid = workload->metadata.uid;
  bool evicted = false;
  std::vector<lifecycle::Note> notes;
  const auto wanted = [&](const api::Workload& current) -> std::optional<api::WorkloadStatus> {
    notes.clear();
    if (current.metadata.uid != uid) return {};
    auto change = lifecycle::note_node(current, host, verdict.lost, now);
    evicted = api::is_true((change ? change->status : current.status).conditions,
                           api::conditions::evicted);
    if (!change) return {};
    notes = std::move(change->notes);
    return std::move(change->status);
  };
  const auto& known = workload->status.unhealthy_nodes;
  const bool listed = std::find(known.begin(), known.end(), host) != known.end();
  Status written = ok();
  if (verdict.lost != listed) {
    written = co_await cluster_.update_status(workload->metadata.key(), wanted);
  }
  if (!written && written.error().code() != Errc::not_found) co_return written;
  for (lifecycle::Note& note : notes) {
    cluster_.events.event(kube::reference_to(*workload),
                          note.warning ? kube::EventType::warning : kube::EventType::normal,
                          std::move(note.reason), std::move(note.message));
  }
  // The pods of an evicted workload end with its job.
  if (evicted) co_return ok();
  for (const lifecycle::PodPtr& pod : verdict.doomed) {
    const Status failed = co_await fail(pod);
    if (!failed) co_return failed;
  }
  co_return ok();
}

Task<Status> NodeController::fail(lifecycle::PodPtr pod) {
  const Status written = co_await cluster_.patch_pod_status(
      pod->metadata.key(), failed_patch(pod->metadata.uid, cluster_.clock.now()));
  if (!written && written.error().code() == Errc::not_found) co_return ok();
  if (!written) co_return written.error().within("pod " + pod->metadata.key().str());
  cluster_.events.event(kube::reference_to(*pod), kube::EventType::normal,
                        std::string(api::events::pod_terminated_by_kueue), doom);
  co_return ok();
}

}  // namespace regatta::controllers
