#include "jobs/serving_job.h"

#include "jobs/naming.h"
#include "jobs/remote_object.h"
#include "lib/api/metadata.h"
#include "lib/api/names.h"
#include "lib/api/origin.h"
#include "lib/base/json_access.h"

#include <algorithm>

namespace regatta::jobs {
namespace {

constexpr api::ResourceInfo served_pod_resource{"", "v1", "Pod", "pods"};

bool is_kueue_gate(const std::string& name) {
  return name == api::gates::admission || name == api::gates::topology;
}

class ServedPodJob final : public IdleObject {
 public:
  ServedPodJob(const JobKind& kind, Json gates, api::ObjectMeta metadata)
      : IdleObject(kind, std::move(gates), std::move(metadata)) {}
  const Json& gates() const { return object(); }
};

class ServedPodKind final : public JobKind {
 public:
  explicit ServedPodKind(ServedPods pods) : pods_(std::move(pods)) {}
  std::string_view framework() const override { return pods_.parent->framework(); }
  const api::ResourceInfo& resource() const override { return served_pod_resource; }
  std::string_view selector() const override { return pods_.selector; }
  const JobKind* parent_kind() const override { return pods_.parent.get(); }
  std::string parent_of(const GenericJob& pod) const override {
    const api::ObjectMeta& metadata = pod.metadata();
    const std::string key(api::annotations::pod_suspending_parent);
    return metadata.annotation(key) == framework() ? pods_.parent_of(metadata) : std::string();
  }
  bool dispatched() const override { return false; }
  Result<JobPtr> decode(const Json& object, api::TemplatePool*) const override {
    auto metadata = api::read_metadata(object);
    if (!metadata) return metadata.error();
    const Json& gates = list_or_empty(object_or_empty(object, {"spec"}), "schedulingGates");
    return std::make_shared<const ServedPodJob>(*this, gates, std::move(*metadata));
  }

 private:
  ServedPods pods_;
};

bool may_run(const ServedPod& pod) {
  if (pod.runs_elsewhere || !pod.workload) return false;
  const api::Conditions& conditions = pod.workload->status.conditions;
  return api::is_true(conditions, api::conditions::admitted) &&
         !api::is_true(conditions, api::conditions::evicted) &&
         !api::is_true(conditions, api::conditions::finished);
}

}  // namespace

bool ServingJob::made_on_hub() const {
  return api::made_on_hub(metadata());
}

const std::string& ServingJob::naming_uid() const {
  const std::string& origin =
      metadata().annotation(std::string(api::annotations::multikueue_origin_uid));
  return origin.empty() ? metadata().uid : origin;
}

std::string ServingJob::group_name(const ServingNames& names, const std::string& index) const {
  const api::ResourceInfo& resource = kind().resource();
  const std::string name = metadata().name + (index.empty() ? "" : "-" + index);
  return workload_name(resource.kind, resource.group, name, naming_uid(), {}, names.brief);
}

Json ServingJob::remote_job(const api::Workload& workload, const std::string& origin) const {
  const api::ResourceInfo& resource = kind().resource();
  Json copy{{"apiVersion", resource.api_version()},
            {"kind", std::string(resource.kind)},
            {"metadata", remote_metadata(metadata(), workload, origin)},
            {"spec", spec()}};
  copy["metadata"]["annotations"][std::string(api::annotations::multikueue_origin_uid)] =
      metadata().uid;
  return copy;
}

bool serves(const api::Workload& workload, const GenericJob& job) {
  const auto& owners = workload.metadata.owner_references;
  return std::any_of(owners.begin(), owners.end(),
                     [&](const api::OwnerReference& one) { return one.uid == job.metadata().uid; });
}

Json tie_patch(const GenericJob& pod, const PodTie& tie, const ServingNames& names) {
  api::StringMap labels = tie.labels, annotations = tie.annotations;
  labels[std::string(api::labels::managed)] = "true";
  api::StringMap& naming = names.in_labels ? labels : annotations;
  naming[std::string(api::labels::pod_group_name)] = tie.group;
  naming[std::string(api::labels::prebuilt_workload_name)] = tie.group;
  annotations[std::string(api::annotations::pod_group_total_count)] = std::to_string(tie.total);
  annotations[std::string(api::annotations::role_hash)] = tie.role;
  Json patch = Json::object();
  const auto add = [&patch](const char* part, const api::StringMap& has,
                            const api::StringMap& wanted) {
    for (const auto& [key, value] : wanted) {
      const auto found = has.find(key);
      if (found == has.end() || found->second != value) patch["metadata"][part][key] = value;
    }
  };
  add("labels", pod.metadata().labels, labels);
  add("annotations", pod.metadata().annotations, annotations);
  if (!patch.empty()) patch["metadata"]["uid"] = pod.metadata().uid;
  return patch;
}

/// The list of gates is replaced whole, so it must be the one that was read.
Json ungate_patch(const ServedPod& pod) {
  const auto* served = dynamic_cast<const ServedPodJob*>(pod.pod.get());
  if (!served || !may_run(pod)) return Json::object();
  Json kept = Json::array();
  for (const Json& gate : served->gates()) {
    if (!is_kueue_gate(text_at(gate, "name"))) kept.push_back(gate);
  }
  if (kept.size() == served->gates().size()) return Json::object();
  if (kept.empty()) kept = Json();
  const api::ObjectMeta& metadata = served->metadata();
  return {{"metadata", {{"uid", metadata.uid}, {"resourceVersion", metadata.resource_version}}},
          {"spec", {{"schedulingGates", std::move(kept)}}}};
}

std::shared_ptr<const JobKind> served_pod_kind(ServedPods pods) {
  return std::make_shared<const ServedPodKind>(std::move(pods));
}

}  // namespace regatta::jobs
