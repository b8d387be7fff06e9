#include "jobs/trainer/kind.h"

#include "jobs/trainer/rendered.h"
#include "lib/api/metadata.h"
#include "lib/base/json_access.h"

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
    slot.numbering = numbering_of(role);
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

class TrainJob final : public ReplicatedJobs {
 public:
  TrainJob(const Json& object, api::ObjectMeta metadata, const std::vector<Role>& roles)
      : ReplicatedJobs(object, std::move(metadata), train_job_shape(), slots_of(roles),
                       {roles.begin(), roles.end()},
                       {.jobs = "jobsStatus", .complete = "Complete"}) {}

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

  std::optional<StopStep> next_stop_step(const api::Workload* workload,
                                         bool at_once) const override;
  Json webhook_patch() const override;
  Json remote_job(const api::Workload& workload, const std::string& origin) const override;

 protected:
  Result<Json> started(const std::vector<PodSetInfo>& infos) const override;
  Json restored_object(const api::Workload&) const override { return unpatched(); }

 private:
  const Json& patches() const { return list_or_empty(spec(), "runtimePatches"); }
  /// What an admission adds stands in the runtime's patches.
  bool patched() const { return unpatched() != object(); }
  Json unpatched() const;
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
  return Error(Errc::invalid, unsupported_runtime(wanted, group ? *group : trainer_group));
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
    set.push_back(Json{{"name", replicated()[i].name},
                       {"template", {{"spec", {{"template", std::move(*pods)}}}}}});
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

class TrainJobKind final : public JobKind {
 public:
  std::string_view framework() const override { return "trainer.kubeflow.org/trainjob"; }
  const api::ResourceInfo& resource() const override { return train_job_resource; }
  std::span<const api::ResourceInfo> runtimes() const override { return runtime_kinds; }
  Result<JobPtr> decode(const Json& object, api::TemplatePool*) const override {
    auto metadata = api::read_metadata(object);
    if (!metadata) return metadata.error();
    return std::make_shared<const TrainJob>(object, std::move(*metadata), std::vector<Role>());
  }
};

}  // namespace

std::shared_ptr<const JobKind> train_job_kind() {
  static const auto kind = std::make_shared<const TrainJobKind>();
  return kind;
}

}  // namespace regatta::jobs
