#include "lab/cluster/job_controller.h"

#include "lab/cluster/job_status.h"
#include "lab/cluster/node_choice.h"
#include "lab/cluster/pod_bodies.h"
#include "lib/api/placed.h"
#include "lib/runtime/worker.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace regatta::lab {

namespace {

constexpr const char* uid_label = "batch.kubernetes.io/controller-uid";

kube::InformerOptions pods_of_jobs() {
  kube::InformerOptions options;
  options.label_selector = uid_label;
  return options;
}

/// Another client's write or delete came first: the next event shows what is left to do.
bool overtaken(const Error& error) {
  return error.code() == Errc::not_found || error.code() == Errc::already_exists;
}

/// A pod that has, or had, a scheduling gate: it goes to a node with room, or nowhere.
bool goes_by_the_book(const api::Pod& pod) {
  return api::placed_by_topology(pod.metadata.annotations) || !pod.spec.scheduling_gates.empty();
}

/// A pod that fits nowhere is tried again after this time, and whenever a node changes.
constexpr Duration placing_retry{1000};

}  // namespace

JobController::JobController(JobControllerDeps deps, JobControllerOptions options)
    : deps_(std::move(deps)),
      options_(options),
      jobs_(informer_deps()),
      pods_(informer_deps(), pods_of_jobs()),
      nodes_(informer_deps()),
      scope_(deps_.executor),
      queue_(deps_.clock, scope_) {
  jobs_.on_change([this](const api::ObjectKey& key) { queue_.add(key); });
  pods_.add_index("job", [](const api::Pod& pod) {
    return std::vector<std::string>{pod.metadata.label(uid_label)};
  });
  pods_.add_index("owner", [](const api::Pod& pod) {
    const api::OwnerReference* owner = pod.metadata.controller();
    return std::vector<std::string>{
        owner == nullptr ? "" : api::ObjectKey(pod.metadata.ns, owner->name).str()};
  });
  pods_.add_index("node",
                  [](const api::Pod& pod) { return std::vector<std::string>{pod.spec.node_name}; });
  watch_nodes();
  pods_.on_transition([this](const api::ObjectKey& key, const auto& before, const auto& after) {
    const api::Pod& pod = after ? *after : *before;
    const api::OwnerReference* owner = pod.metadata.controller();
    if (owner != nullptr && owner->kind == "Job") queue_.add(api::ObjectKey(key.ns, owner->name));
  });
}

/// A change of a node concerns its pods and the pods without a node.
void JobController::watch_nodes() {
  nodes_.on_transition([this](const auto& key, const auto& before, const auto& after) {
    const bool same = before && after && is_ready(*before) == is_ready(*after) &&
                      before->spec == after->spec &&
                      before->metadata.labels == after->metadata.labels;
    if (same) return;
    for (const std::string& place : {key.name, std::string()}) {
      for (const auto& pod : pods_.by_index("node", place)) {
        const api::OwnerReference* owner = pod->metadata.controller();
        if (owner != nullptr) queue_.add(api::ObjectKey(pod->metadata.ns, owner->name));
      }
    }
  });
}

kube::InformerDeps JobController::informer_deps() {
  return {deps_.client, deps_.clock, deps_.rng, deps_.executor, deps_.log};
}

Task<> JobController::run() {
  scope_.spawn("jobs", jobs_.run());
  scope_.spawn("pods", pods_.run());
  scope_.spawn("nodes", nodes_.run());
  scope_.spawn("workers", start_workers());
  co_await scope_.run_until_cancelled();
}

Task<> JobController::start_workers() {
  co_await jobs_.wait_synced();
  co_await pods_.wait_synced();
  co_await nodes_.wait_synced();
  for (int i = 0; i < options_.workers; ++i) scope_.spawn("worker", work());
}

Task<> JobController::work() {
  const auto step = [this](const api::ObjectKey& key) { return reconcile(key); };
  const auto told = [this](const api::ObjectKey& key, const Error& error) {
    deps_.log.info("job step failed, trying again", {{"job", key.str()}, {"error", error.what()}});
  };
  return work_through(queue_, step, told);
}

api::Job JobController::with_exact_start(const api::Job& job) const {
  api::Job out = job;
  const auto known = starts_.find(job.metadata.uid);
  if (known != starts_.end() && out.status.start_time &&
      std::chrono::floor<std::chrono::seconds>(known->second) == *out.status.start_time) {
    out.status.start_time = known->second;
  }
  return out;
}

Task<Status> JobController::reconcile(api::ObjectKey key) {
  const Status ended = co_await end_left_pods(key);
  if (!ended) co_return ended;
  const auto stored = jobs_.get(key);
  if (!stored || !manifest::is_ours(*stored)) co_return ok();
  const TimePoint now = deps_.clock.now();
  const api::Job job = with_exact_start(*stored);
  const manifest::Behaviour how = manifest::behaviour_of(job, options_.behaviour);
  const std::vector<PodView> pods = how.pods ? pods_of(job) : std::vector<PodView>();
  JobActions actions =
      how.pods ? plan_job(job, pods, how, now) : plan_job_without_pods(job, how, now);
  if (is_finished(job.status) || job.metadata.deleting()) starts_.erase(job.metadata.uid);
  if (actions.remove) {
    kube::DeleteOptions options;
    options.uid = job.metadata.uid;
    options.propagation_policy = "Background";
    const Status gone = co_await deps_.client.remove<api::Job>(key, std::move(options));
    if (!gone && !overtaken(gone.error())) co_return gone.error().within("removing the job");
    co_return ok();
  }
  const Status acted = co_await act_on_pods(job, actions);
  if (!acted) co_return acted;
  if (actions.status) {
    const Status written = co_await write_status(job, std::move(*actions.status));
    if (!written) co_return written;
  }
  if (std::any_of(pods.begin(), pods.end(), [](const PodView& pod) { return pod.waits; })) {
    queue_.add_after(key, placing_retry);
  }
  if (actions.again) queue_.add_after(key, *actions.again - deps_.clock.now());
  co_return ok();
}

Task<Status> JobController::end_left_pods(api::ObjectKey job) {
  const auto stored = jobs_.get(job);
  if (stored && !manifest::is_ours(*stored)) co_return ok();
  for (const auto& pod : pods_.by_index("owner", job.str())) {
    const api::OwnerReference* owner = pod->metadata.controller();
    const bool live = stored && !stored->metadata.deleting() && owner->uid == stored->metadata.uid;
    if (live || owner->kind != "Job" || !pod->metadata.deleting()) continue;
    api::ObjectKey key = pod->metadata.key();
    const Status done = co_await end_pod(std::move(key), 0);
    if (!done) co_return done;
  }
  co_return ok();
}

Task<Status> JobController::act_on_pods(const api::Job& job, const JobActions& actions) {
  const std::string& ns = job.metadata.ns;
  for (const JobActions::Finish& one : actions.finish) {
    api::ObjectKey pod(ns, one.pod);
    const Status done = co_await finish_pod(std::move(pod), one.succeeded);
    if (!done) co_return done;
  }
  for (const std::string& name : actions.start) {
    const auto pod = pods_.get(api::ObjectKey(ns, name));
    if (!pod) continue;
    const Status done = co_await start_pod(*pod);
    if (!done) co_return done;
  }
  for (const std::string& name : actions.end) {
    api::ObjectKey pod(ns, name);
    const Status done = co_await end_pod(std::move(pod), std::nullopt);
    if (!done) co_return done;
  }
  for (const std::string& name : actions.ended) {
    api::ObjectKey pod(ns, name);
    const Status done = co_await end_pod(std::move(pod), 0);
    if (!done) co_return done;
  }
  for (const std::optional<std::int32_t>& index : actions.create) {
    const Status done = co_await create_pod(job, index);
    if (!done) co_return done;
  }
  co_return ok();
}

Status JobController::observe_pod(const Result<std::string>& written) {
  if (!written) return overtaken(written.error()) ? ok() : Status(written.error());
  Result<api::Pod> pod = api::decode<api::Pod>(*written);
  if (!pod) return pod.error();
  pods_.observe(std::move(*pod));
  return ok();
}

Task<Status> JobController::create_pod(const api::Job& job, std::optional<std::int32_t> index) {
  const api::PodSpec& spec = job.spec.pod_template.spec();
  const bool gated = !spec.scheduling_gates.empty();
  const std::string node = gated ? std::string() : node_for(spec, true);
  ++placed_;
  std::string body = pod_body(job, index, deps_.rng.name_suffix(), node, deps_.clock.now());
  const auto created =
      co_await deps_.client.create_raw(api::Pod::resource, job.metadata.ns, std::move(body));
  if (!created) co_return created.error().within("creating a pod");
  Result<api::Pod> pod = api::decode<api::Pod>(*created);
  if (!pod) co_return pod.error();
  pods_.observe(*pod);
  if (gated) co_return ok();
  co_return co_await set_running(*pod);
}

Task<Status> JobController::start_pod(const api::Pod& pod) {
  if (goes_by_the_book(pod) && pod.spec.node_name.empty()) {
    std::string node = node_for(pod.spec, false);
    if (node.empty()) co_return ok();
    const Status bound = co_await bind(pod, std::move(node));
    if (!bound) co_return bound;
  }
  co_return co_await set_running(pod);
}

Task<Status> JobController::bind(const api::Pod& pod, std::string node) {
  Json binding = Json::object();
  binding["apiVersion"] = "v1";
  binding["kind"] = "Binding";
  binding["metadata"] = {{"name", pod.metadata.name}, {"namespace", pod.metadata.ns}};
  binding["target"] = {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", std::move(node)}};
  kube::WriteOptions options;
  options.subresource = "binding";
  std::string body = dump_json(binding);
  const auto bound = co_await deps_.client.create_raw(api::Pod::resource, pod.metadata.ns,
                                                      std::move(body), std::move(options));
  if (!bound && !overtaken(bound.error())) co_return bound.error().within("binding a pod");
  co_return ok();
}

Task<Status> JobController::set_running(const api::Pod& pod) {
  std::string body = running_status(pod.spec, deps_.clock.now());
  kube::WriteOptions options;
  options.subresource = "status";
  const auto written =
      co_await deps_.client.patch_raw(api::Pod::resource, pod.metadata.key(),
                                      kube::PatchType::merge, std::move(body), std::move(options));
  co_return observe_pod(written);
}

Task<Status> JobController::finish_pod(api::ObjectKey key, bool succeeded) {
  const auto pod = pods_.get(key);
  if (!pod) co_return ok();
  const TimePoint now = deps_.clock.now();
  std::string body = ended_status(pod->spec, succeeded, pod->status.start_time.value_or(now), now);
  kube::WriteOptions options;
  options.subresource = "status";
  const auto written =
      co_await deps_.client.patch_raw(api::Pod::resource, std::move(key), kube::PatchType::merge,
                                      std::move(body), std::move(options));
  co_return observe_pod(written);
}

Task<Status> JobController::end_pod(api::ObjectKey key, std::optional<std::int64_t> grace) {
  kube::DeleteOptions options;
  options.grace_period_seconds = grace;
  const Status ended = co_await deps_.client.remove<api::Pod>(std::move(key), std::move(options));
  if (!ended && !overtaken(ended.error())) co_return ended.error().within("ending a pod");
  co_return ok();
}

Task<Status> JobController::write_status(const api::Job& before, api::JobStatus status) {
  api::Job after = before;
  after.status = std::move(status);
  if (after.status.start_time) starts_[after.metadata.uid] = *after.status.start_time;
  ++status_writes_;
  auto written = co_await deps_.client.patch_status(before, std::move(after));
  if (!written) {
    if (overtaken(written.error())) co_return ok();
    co_return written.error().within("writing the status");
  }
  jobs_.observe(std::move(*written));
  co_return ok();
}

std::vector<PodView> JobController::pods_of(const api::Job& job) const {
  std::vector<PodView> out;
  for (const auto& pod : pods_.by_index("job", job.metadata.uid)) {
    const api::OwnerReference* owner = pod->metadata.controller();
    if (owner != nullptr && owner->uid == job.metadata.uid) out.push_back(look_at(*pod));
  }
  return out;
}

PodView JobController::look_at(const api::Pod& pod) const {
  PodView view = view_of(pod);
  const std::string& name = pod.spec.node_name;
  if (!name.empty()) {
    const auto node = nodes_.get(api::ObjectKey(name));
    view.lost = !node || !is_ready(*node);
  } else if (view.phase == PodView::Phase::pending && goes_by_the_book(pod)) {
    view.waits = !pod.spec.scheduling_gates.empty() || node_for(pod.spec, false).empty();
  }
  return view;
}

std::string JobController::node_for(const api::PodSpec& pod, bool overfill) const {
  NodeChoice choice;
  choice.pods_on = [this](const std::string& node) { return pods_.by_index("node", node); };
  choice.overfill = overfill;
  choice.start = placed_;
  return choose_node(nodes_.list(), pod, choice);
}

}  // namespace regatta::lab
