#include "lab/conformance/job_steps.h"

#include "jobs/elastic.h"
#include "jobs/integrations/external.h"
#include "jobs/integrations/integrations.h"
#include "lab/conformance/areas.h"
#include "lib/api/codec.h"
#include "lib/base/json_access.h"
#include "webhooks/admission_gates.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::lab {
namespace {

using jobs::JobKind;
using jobs::JobPtr;

/// A job needs fewer turns than this to come to rest.
constexpr int rounds_max = 40;

Error not_implemented(const std::string& what) {
  return Error(Errc::unavailable, what);
}

Result<JobPtr> job_in(const JobStep& step, const Json& object) {
  const jobs::JobKinds kinds = jobs::all_kinds(!step.name_by_annotation);
  const JobKind* kind =
      kinds.find(api::group_of(text_at(object, "apiVersion")), text_at(object, "kind"));
  if (!kind) return not_implemented("the kind " + text_at(object, "kind"));
  return kind->decode(object, nullptr);
}

Json errors_json(const api::FieldErrors& errors) {
  Json out{{"allowed", errors.empty()}};
  if (errors.empty()) return out;
  out["message"] = api::to_text(errors);
  for (const api::FieldError& error : errors) {
    if (error.field.empty()) {
      out["errors"].push_back(Json{{"message", error.text()}});
      continue;
    }
    out["errors"].push_back(Json{{"type", std::string(error.type)},
                                 {"field", error.field},
                                 {"detail", error.detail},
                                 {"message", error.text()}});
  }
  return out;
}

Json with_warnings(Json outcome, const JobWorld& world, const jobs::GenericJob& job) {
  const auto warnings = jobs::job_warnings(world, job);
  if (!warnings.empty()) outcome["warnings"] = warnings;
  return outcome;
}

api::FieldErrors with(api::FieldErrors errors, const api::FieldErrors& more) {
  errors.insert(errors.end(), more.begin(), more.end());
  return errors;
}

Result<Json> play_job_default(const JobStep& step) {
  const JobWorld world = step.world();
  const auto job = job_in(step, step.input("object"));
  if (!job) return job.error();
  const auto patch = jobs::default_job(world, **job, step.config);
  if (!patch) return Json{{"error", patch.error().what()}};
  Json after = step.input("object");
  after.merge_patch(*patch);
  return Json{{"object", std::move(after)}};
}

Result<Json> play_job_create(const JobStep& step) {
  const JobWorld world = step.world();
  const auto job = job_in(step, step.input("object"));
  if (!job) return job.error();
  api::ErrorList gates;
  if (step.admission_gates) webhooks::check_admission_gates(step.input("object"), &gates);
  Json out = errors_json(with(jobs::validate_job(world, *job, step.config), gates.take()));
  return with_warnings(std::move(out), world, **job);
}

Result<Json> play_job_update(const JobStep& step) {
  const JobWorld world = step.world();
  const auto before = job_in(step, step.input("oldObject"));
  if (!before) return before.error();
  const auto after = job_in(step, step.input("object"));
  if (!after) return after.error();
  api::ErrorList gates;
  if (step.admission_gates) {
    webhooks::check_admission_gates_update(step.input("oldObject"), step.input("object"), &gates);
  }
  Json out = errors_json(
      with(jobs::validate_job_update(world, **before, *after, step.config), gates.take()));
  return with_warnings(std::move(out), world, **after);
}

/// One turn of the reconciler.
void take_turn(const JobStep& step, const jobs::JobId& id, JobWorld* world) {
  const JobPtr job = world->job(id);
  if (!job) {
    for (const jobs::WorkloadPtr& left : world->workloads_of(id)) {
      if (id.kind->resource().plural == "podgroups") world->release(left);
    }
    return;
  }
  const jobs::JobView view = jobs::read_job(*world, job, step.config.jobs, world->now());
  const std::vector<jobs::JobAction> plan = jobs::plan_job(view);
  for (const jobs::JobAction& action : plan) world->carry_out(*job, action);
  if (const auto waits = jobs::waits_for(view, plan)) world->fail(*waits);
}

int rounds_of(const JobStep& step) {
  return static_cast<int>(integer_at(step.step, "rounds").value_or(rounds_max));
}

void reconcile(const JobStep& step, const std::vector<const JobKind*>& kinds, JobWorld* world) {
  for (int round = 0; round < rounds_of(step); ++round) {
    const std::size_t before = world->version();
    for (const JobKind* kind : kinds) {
      for (const jobs::JobId& id : world->jobs_of(*kind)) take_turn(step, id, world);
    }
    if (world->version() == before) return;
  }
}

Result<Json> play_reconcile(const JobStep& step) {
  JobWorld world = step.world();
  std::vector<const JobKind*> kinds;
  for (const Json& name : list_or_empty(step.step, "controllers")) {
    const JobKind* found = nullptr;
    for (const auto& kind : step.kinds.all()) {
      const bool named =
          name == kind->framework() || name == std::string(kind->framework()) + "-pod";
      if (named && !kind->parent_kind()) found = kind.get();
    }
    if (!found) return not_implemented("the controller " + dump_json(name));
    if (std::find(kinds.begin(), kinds.end(), found) == kinds.end()) kinds.push_back(found);
  }
  world.begin();
  reconcile(step, kinds, &world);
  return world.outcome();
}

Json changed_object(const JobWorld& world, const JobPtr& job) {
  const Json* now = world.object(job->kind().resource(), job->metadata().key());
  return now ? *now : Json();
}

Result<Json> play_workload(const JobStep& step) {
  JobWorld world = step.world();
  const auto job = job_in(step, step.input("object"));
  if (!job) return job.error();
  world.put(step.input("object"));
  world.begin();
  reconcile(step, {&(*job)->kind()}, &world);
  Json out = world.outcome();
  out["workloads"] = Json::array();
  for (Json& one : world.created(api::Workload::resource.kind)) {
    out["workloads"].push_back(std::move(one));
  }
  out.erase("created");
  return out;
}

/// `start` and `stop`.
Result<Json> play_turn(const JobStep& step) {
  JobWorld world = step.world();
  const auto job = job_in(step, step.input("object"));
  if (!job) return job.error();
  world.put(step.input("object"));
  const Json& given = step.input("workload");
  world.put(given);
  world.begin();
  reconcile(step, {&(*job)->kind()}, &world);
  Json out = world.outcome();
  out["object"] = changed_object(world, *job);
  const api::ObjectKey key(text_at(given, {"metadata", "namespace"}),
                           text_at(given, {"metadata", "name"}));
  const Json* workload = world.object(api::Workload::resource, key);
  if (workload && *workload != given) out["workload"] = *workload;
  if (Json& changed = out["changed"]; changed.is_array()) {
    const Json object = out["object"], own = out.value("workload", Json());
    std::erase_if(changed.get_ref<Json::array_t&>(),
                  [&](const Json& one) { return one == object || one == own; });
  }
  return out;
}

Json pod_sets_json(const jobs::GenericJob& job, const jobs::TopologyOptions& topology) {
  const auto sets = job.pod_sets(topology);
  if (!sets) return Json{{"error", sets.error().what()}};
  api::Workload holder;
  holder.spec.pod_sets = *sets;
  return api::to_json(holder)["spec"]["podSets"];
}

/// The group of the job, if it has one.
JobPtr planned_job(const JobStep& step, const JobPtr& job) {
  const jobs::JobId id = jobs::planned_as(*job);
  if (id == jobs::id_of(*job)) return job;
  JobWorld world = step.world();
  world.put(step.input("object"));
  return world.job(id);
}

Result<Json> play_observe(const JobStep& step) {
  const auto given = job_in(step, step.input("object"));
  if (!given) return given.error();
  const Result<JobPtr> read = planned_job(step, *given);
  const auto whole =
      jobs::with_runtime(step.world(), *read, jobs::is_elastic(**read, step.config.jobs.policy));
  const jobs::GenericJob& job = whole ? **whole : **read;
  Json out{{"suspended", job.suspended()},
           {"active", job.active()},
           {"podsReady", job.pods_ready()},
           {"podLabelSelector", job.pod_selector()}};
  const auto end = job.finished();
  out["finished"]["finished"] = end.has_value();
  if (end) {
    out["finished"]["success"] = end->success;
    out["finished"]["message"] = end->message;
  }
  out["reclaimablePods"] = Json::array();
  for (const api::ReclaimablePod& pods : job.reclaimable_pods()) {
    out["reclaimablePods"].push_back(Json{{"name", pods.name}, {"count", pods.count}});
  }
  if (!whole) out["reclaimablePods"] = Json{{"error", whole.error().what()}};
  if (const auto by = job.managed_by()) {
    out["managedBy"]["canDefault"] = by->replaceable && step.config.multikueue;
    if (by->value) out["managedBy"]["value"] = *by->value;
  }
  const std::string_view kind = job.kind().resource().kind;
  if (kind == "AppWrapper") out.erase("podLabelSelector");
  if (kind == "RayJob" || kind == "RayService") out["skip"] = job.passed_over();
  if (job.composed()) out["skip"] = job.passed_over();
  if (job.composed()) out["topLevel"] = true;
  if (kind == "RayJob") out["onHold"] = job.on_hold();
  if (job.kind().resource().group == "kubeflow.org")
    out["priorityClass"] = job.pod_priority_class();
  if (true_at(step.step, "podSets")) {
    out["podSets"] = pod_sets_json(job, step.config.jobs.topology);
  }
  return out;
}

Result<Json> play_step(const JobStep& step) {
  const std::string& op = step.op();
  if (op == "default") return play_job_default(step);
  if (op == "validateCreate") return play_job_create(step);
  if (op == "validateUpdate") return play_job_update(step);
  if (op == "workload") return play_workload(step);
  if (op == "start" || op == "stop") return play_turn(step);
  if (op == "observe") return play_observe(step);
  if (op == "reconcile") return play_reconcile(step);
  return play_remote(step);
}

Result<jobs::JobKinds> enabled_kinds(const Json& config, bool names_in_labels) {
  const Json* names = list_at(config, "frameworks");
  const jobs::JobKinds all = jobs::all_kinds(names_in_labels);
  std::vector<std::shared_ptr<const JobKind>> kinds;
  for (const auto& kind : all.all()) {
    const Json name = std::string(kind->framework());
    const bool named = !names || std::find(names->begin(), names->end(), name) != names->end();
    if (named) kinds.push_back(kind);
  }
  for (const Json& name : list_or_empty(config, "externalFrameworks")) {
    auto kind = jobs::external_kind(name.get<std::string>(), false);
    if (!kind) return kind.error();
    kinds.push_back(std::move(*kind));
  }
  return jobs::JobKinds(std::move(kinds));
}

bool gate(const Json& config, const char* name) {
  const Json& gates = object_or_empty(config, {"featureGates"});
  return gates.contains(name) ? true_at(gates, name) : true;
}

Result<jobs::JobWebhookConfig> config_of_jobs(const Json& given) {
  jobs::JobWebhookConfig config;
  jobs::JobConfig& jobs = config.jobs;
  jobs.manage_without_queue_name = true_at(given, "manageJobsWithoutQueueName");
  if (const Json* selector = object_at(given, "managedJobsNamespaceSelector")) {
    // A ClusterQueue has the same selector.
    const auto holder =
        api::from_json<api::ClusterQueue>(Json{{"spec", {{"namespaceSelector", *selector}}}});
    if (!holder) return holder.error();
    auto namespaces = api::Selector::from(*holder->spec.namespace_selector);
    if (!namespaces) return namespaces.error();
    jobs.namespaces = std::move(*namespaces);
  }
  config.multikueue = gate(given, "MultiKueue");
  config.fixed_group_size = gate(given, "LWSImmutableGroupSize");
  config.check_leaving = gate(given, "ValidateRayAndSparkJobUpdates");
  jobs.topology.enabled = gate(given, "TopologyAwareScheduling");
  jobs.topology.multi_layer = gate(given, "TASMultiLayerTopology");
  jobs.default_priority_class = gate(given, "WorkloadPriorityClassDefaulting");
  jobs.policy.wait_for_pods_ready = true_at(given, "waitForPodsReady");
  jobs.policy.pods_ready_after = Duration(0);
  jobs.policy.unready_with_quota = false;  // nothing reserves quota here
  jobs.policy.restore_at_once = true;
  jobs.policy.tell_obstacles = false;
  jobs.policy.reclaimable_pods = gate(given, "ReclaimablePods");
  jobs.policy.names_in_labels = !gate(given, "WorkloadIdentifierAnnotations");
  jobs.policy.elastic = gate(given, "ElasticJobsViaWorkloadSlices");
  jobs.policy.finish_orphans = gate(given, "FinishOrphanedWorkloads");
  jobs.policy.partial_admission = gate(given, "PartialAdmission");
  jobs.policy.queue_labels = gate(given, "AssignQueueLabelsForPods");
  jobs.policy.admission_gates = gate(given, "AdmissionGatedBy");
  jobs.policy.brief_names = true_at(object_or_empty(given, {"featureGates"}), "ShortWorkloadNames");
  for (const Json& label : list_or_empty(given, "labelKeysToCopy")) {
    if (label.is_string()) jobs.policy.labels_to_copy.push_back(label.get<std::string>());
  }
  return config;
}

}  // namespace

const Json& JobStep::input(const char* name) const {
  return at_or_null(step, name);
}

const std::string& JobStep::op() const {
  return text_at(step, "op");
}

JobWorld JobStep::world() const {
  JobWorld world(kinds, now, runtimes);
  for (const Json* from : {&scenario, &step}) {
    for (const Json& object : list_or_empty(*from, "objects")) world.put(object);
  }
  return world;
}

const JobKind* kind_of_folder(const jobs::JobKinds& kinds, std::string_view folder) {
  for (const auto& kind : kinds.all()) {
    if (kind->parent_kind()) continue;
    const std::string_view framework = kind->framework();
    if (folder == framework.substr(framework.find('/') + 1)) return kind.get();
    std::string joined(framework);
    std::replace(joined.begin(), joined.end(), '/', '-');
    if (joined == folder || (kind->group_kind() && joined + "-group" == folder)) return kind.get();
  }
  return nullptr;
}

bool is_jobs_scenario(const Json& scenario) {
  return !scenario.contains("area") && !scenario.contains("family") &&
         !text_at(scenario, "kind").empty() && list_at(scenario, "steps");
}

namespace {

/// The reference learns which runtimes there are from its controllers, which it did not start where
/// nothing but webhooks is asked.
bool is_of_webhooks(const Json& scenario) {
  const Json& steps = list_or_empty(scenario, "steps");
  return std::all_of(steps.begin(), steps.end(), [](const Json& step) {
    const std::string& op = text_at(step, "op");
    return op == "default" || op.starts_with("validate");
  });
}

}  // namespace

Result<Json> play_jobs(const Json& scenario) {
  const Json& given = object_or_empty(scenario, {"config"});
  auto config = config_of_jobs(given);
  if (!config) return config.error();
  const auto kinds = enabled_kinds(given, config->jobs.policy.names_in_labels);
  if (!kinds) return kinds.error();
  const auto now = parse_rfc3339(text_at(scenario, "now"));
  if (!now) return now.error().within("now");
  Json out = Json::array();
  for (const Json& one : list_or_empty(scenario, "steps")) {
    const JobStep step{scenario,
                       one,
                       *kinds,
                       *config,
                       gate(given, "AdmissionGatedBy"),
                       gate(given, "WorkloadIdentifierAnnotations"),
                       *now,
                       gate(given, "MultiKueueAdaptersForCustomJobs"),
                       !is_of_webhooks(scenario)};
    auto outcome = play_step(step);
    if (outcome) {
      out.push_back(Json{{"expect", std::move(*outcome)}});
    } else {
      out.push_back(Json{{"expect", nullptr}, {"notImplemented", outcome.error().what()}});
    }
  }
  return out;
}

}  // namespace regatta::lab
