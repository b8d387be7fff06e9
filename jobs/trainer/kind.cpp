#include "jobs/trainer/kind.h"

#include "jobs/templated_job.h"
#include "jobs/trainer/rendered.h"
#include "lib/api/metadata.h"
#include "lib/api/names.h"
#include "lib/base/json_access.h"
#include "lib/base/lower_case.h"

#include <algorithm>

namespace regatta::jobs {
namespace {

using trainer::Role;

constexpr const char* trainer_group = "trainer.kubeflow.org";
constexpr api::ResourceInfo train_job_resource{trainer_group, "v1alpha1", "TrainJob", "trainjobs"};
constexpr api::ResourceInfo runtime_kinds[] = {
    {trainer_group, "v1alpha1", "TrainingRuntime", "trainingruntimes"},
    {trainer_group, "v1alpha1", "ClusterTrainingRuntime", "clustertrainingruntimes", false}};

const JobShape& train_job_shape() {
  static const JobShape shape{.own_controller = "trainer.kubeflow.org/trainjob-controller",
                              .topology = TopologyChecks::unreadable_first};
  return shape;
}

std::vector<PodSlot> slots_of(const std::vector<Role>& roles) {
  std::vector<PodSlot> slots;
  for (const Role& role : roles) {
    PodSlot& slot = slots.emplace_back();
    slot.name = role.name;
    slot.field = "runtime." + role.place + ".template.spec.template";
    slot.count = role.count();
    slot.numbering.pod_index_label = std::string(api::labels::job_completion_index);
    slot.numbering.sub_group_index_label = "jobset.sigs.k8s.io/job-index";
    slot.numbering.sub_group_count = role.replicas;
    slot.asked = role.pod_template;
  }
  return slots;
}

/// The patch of the runtime that is Kueue's own, as it is before the job starts.
Json empty_patch() {
  return Json{{"manager", trainer::patch_manager},
              {"trainingRuntimeSpec", {{"template", {{"spec", Json::object()}}}}}};
}

bool is_own(const Json& patch) {
  return text_at(patch, "manager") == trainer::patch_manager;
}

class TrainJob final : public TemplatedJob {
 public:
  TrainJob(const Json& object, api::ObjectMeta metadata)
      : TemplatedJob(object, std::move(metadata), train_job_shape(), {}) {}
  TrainJob(const Json& object, api::ObjectMeta metadata, std::vector<Role> roles)
      : TemplatedJob(object, std::move(metadata), train_job_shape(), slots_of(roles)),
        roles_(std::move(roles)) {}

  const JobKind& kind() const override { return *train_job_kind(); }
  Result<std::optional<RuntimeRef>> runtime() const override;
  JobPtr with_runtime(const Json& runtime) const override {
    return std::make_shared<const TrainJob>(object(), metadata(),
                                            trainer::roles_of(object(), runtime));
  }

  std::string pod_selector() const override {
    return "jobset.sigs.k8s.io/jobset-name=" + metadata().name;
  }
  bool suspended() const override { return TemplatedJob::suspended() && !patched(); }
  bool stopping() const override { return TemplatedJob::suspended() && patched(); }
  bool active() const override;
  std::optional<Finished> finished() const override;
  bool pods_ready() const override;
  std::vector<api::ReclaimablePod> reclaimable_pods() const override;

  std::optional<StopStep> next_stop_step(const api::Workload* workload,
                                         bool at_once) const override;
  Json webhook_patch() const override;
  Json remote_job(const api::Workload& workload, const std::string& origin) const override;
  Json release_patch() const override;
  Json final_patch(bool success, const std::string& message, TimePoint now) const override;

 protected:
  Result<Json> started(const std::vector<PodSetInfo>& infos) const override;
  Json restored_object(const api::Workload&) const override { return unpatched(); }

 private:
  const Json& jobs() const { return list_or_empty(status(), "jobsStatus"); }
  const Json& patches() const { return list_or_empty(spec(), "runtimePatches"); }
  /// What an admission adds stands in the runtime's patches.
  bool patched() const { return unpatched() != object(); }
  Json unpatched() const;
  Json released() const;

  std::vector<Role> roles_;
};

Result<std::optional<RuntimeRef>> TrainJob::runtime() const {
  const Json& ref = object_or_empty(spec(), {"runtimeRef"});
  const std::string* kind = string_at(ref, "kind");
  const std::string* group = string_at(ref, "apiGroup");
  const std::string wanted = kind ? *kind : "ClusterTrainingRuntime";
  for (const api::ResourceInfo& one : runtime_kinds) {
    if (one.kind != wanted || (group && *group != one.group)) continue;
    const std::string& name = text_at(ref, "name");
    return RuntimeRef{&one,
                      one.namespaced ? api::ObjectKey(metadata().ns, name) : api::ObjectKey(name)};
  }
  return Error(Errc::invalid,
               "unsupported runtime: " + wanted + "." + (group ? *group : trainer_group));
}

bool TrainJob::active() const {
  return std::any_of(jobs().begin(), jobs().end(),
                     [](const Json& one) { return count_at(one, "active", 0) > 0; });
}

std::optional<Finished> TrainJob::finished() const {
  for (const bool success : {true, false}) {
    const Json* found = condition_in(status(), success ? "Complete" : "Failed");
    if (found && text_at(*found, "status") == "True") {
      return Finished{success, text_at(*found, "message")};
    }
  }
  return std::nullopt;
}

/// A role is ready once all of its Jobs are ready or have succeeded.
bool TrainJob::pods_ready() const {
  std::int64_t wanted = 0, ready = 0;
  for (const Role& role : roles_) wanted += role.replicas;
  for (const Json& one : jobs()) {
    ready += std::int64_t(count_at(one, "ready", 0)) + count_at(one, "succeeded", 0);
  }
  return !roles_.empty() && ready == wanted;
}

std::vector<api::ReclaimablePod> TrainJob::reclaimable_pods() const {
  std::vector<api::ReclaimablePod> out;
  for (const Role& role : roles_) {
    for (const Json& one : jobs()) {
      if (lower_case(text_at(one, "name")) != role.name) continue;
      const std::int32_t ended = count_at(one, "succeeded", 0);
      if (ended > 0 && ended <= role.replicas) out.push_back({role.name, ended * role.pods});
    }
  }
  return out;
}

Json TrainJob::unpatched() const {
  Json after = object();
  if (patches().empty()) return after;
  for (Json& patch : after["spec"]["runtimePatches"]) {
    if (is_own(patch)) patch["trainingRuntimeSpec"] = empty_patch()["trainingRuntimeSpec"];
  }
  return after;
}

Result<Json> TrainJob::started(const std::vector<PodSetInfo>& infos) const {
  Json set = Json::array();
  for (std::size_t i = 0; i < infos.size(); ++i) {
    auto pods = with_info(Json::object(), infos[i]);
    if (!pods) return pods.error();
    if ((*pods)["spec"].empty()) pods->erase("spec");
    set.push_back(
        Json{{"name", roles_[i].name}, {"template", {{"spec", {{"template", std::move(*pods)}}}}}});
  }
  Json after = object();
  Json& all = after["spec"]["runtimePatches"];
  if (!all.is_array()) all = Json::array();
  auto own = std::find_if(all.begin(), all.end(), is_own);
  if (own == all.end()) {
    all.push_back(empty_patch());
    own = std::prev(all.end());
  }
  (*own)["trainingRuntimeSpec"] =
      Json{{"template", {{"spec", {{"replicatedJobs", std::move(set)}}}}}};
  return after;
}

/// The trainer lets a patch change while the job is suspended and no pod of it runs.
std::optional<StopStep> TrainJob::next_stop_step(const api::Workload* workload, bool) const {
  if (!TemplatedJob::suspended()) {
    if (!active()) return TemplatedJob::next_stop_step(workload, false);
    return StopStep{{{"metadata", {{"uid", metadata().uid}}}, {"spec", {{"suspend", true}}}},
                    false,
                    !patched()};
  }
  if (!patched() || active()) return std::nullopt;
  return StopStep{patch_to(unpatched()), false, true};
}

/// The place where a start writes, as Kueue makes it.
Json TrainJob::webhook_patch() const {
  if (std::any_of(patches().begin(), patches().end(), is_own)) return Json::object();
  Json all = patches();
  all.push_back(empty_patch());
  return Json{{"spec", {{"runtimePatches", std::move(all)}}}};
}

/// A worker patches the runtime by itself.
Json TrainJob::remote_job(const api::Workload& workload, const std::string& origin) const {
  Json copy = TemplatedJob::remote_job(workload, origin);
  if (patches().empty()) return copy;
  Json& all = copy["spec"]["runtimePatches"];
  std::erase_if(all.get_ref<Json::array_t&>(), is_own);
  if (all.empty()) copy["spec"].erase("runtimePatches");
  return copy;
}

Json TrainJob::released() const {
  Json after = status();
  for (Json& one : after["jobsStatus"]) {
    for (const char* name : {"active", "ready"}) one[name] = 0;
  }
  return after;
}

Json TrainJob::release_patch() const {
  const bool ready = std::any_of(jobs().begin(), jobs().end(),
                                 [](const Json& one) { return count_at(one, "ready", 0) > 0; });
  return active() || ready ? status_becomes(released()) : Json::object();
}

Json TrainJob::final_patch(bool success, const std::string& message, TimePoint now) const {
  if (finished()) return Json::object();
  Json after = released();
  if (after["jobsStatus"].is_null()) after.erase("jobsStatus");
  put_condition(&after, Json{{"type", success ? "Complete" : "Failed"},
                             {"status", "True"},
                             {"reason", "MultiKueueAdapter"},
                             {"message", message},
                             {"lastTransitionTime", format_rfc3339(now)}});
  return status_becomes(after);
}

class TrainJobKind final : public JobKind {
 public:
  std::string_view framework() const override { return "trainer.kubeflow.org/trainjob"; }
  const api::ResourceInfo& resource() const override { return train_job_resource; }
  std::span<const api::ResourceInfo> runtimes() const override { return runtime_kinds; }
  Result<JobPtr> decode(const Json& object, api::TemplatePool*) const override {
    auto metadata = api::read_metadata(object);
    if (!metadata) return metadata.error();
    return std::make_shared<const TrainJob>(object, std::move(*metadata));
  }
};

}  // namespace

std::shared_ptr<const JobKind> train_job_kind() {
  static const auto kind = std::make_shared<const TrainJobKind>();
  return kind;
}

}  // namespace regatta::jobs
