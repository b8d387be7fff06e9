#include "jobs/jobset/kind.h"

#include "jobs/templated_job.h"
#include "lib/api/metadata.h"
#include "lib/api/names.h"
#include "lib/base/json_access.h"
#include "lib/base/lower_case.h"

#include <algorithm>

namespace regatta::jobs {
namespace {

constexpr api::ResourceInfo jobset_resource{"jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets"};
constexpr const char* job_index = "jobset.sigs.k8s.io/job-index";

const JobShape& jobset_shape() {
  static const JobShape shape{.own_controller = "jobset.sigs.k8s.io/jobset-controller",
                              .topology = TopologyChecks::unreadable_first};
  return shape;
}

/// A replicated job: `replicas` Jobs, and the pods of each.
struct Role {
  std::string name;
  std::int32_t replicas = 1;
  std::int32_t pods = 1;

  std::int32_t count() const {
    const std::int64_t all = std::int64_t(replicas) * pods;
    return static_cast<std::int32_t>(std::min<std::int64_t>(all, INT32_MAX));
  }
};

std::vector<Role> roles_of(const Json& object) {
  std::vector<Role> roles;
  for (const Json& one : list_or_empty(object_or_empty(object, {"spec"}), "replicatedJobs")) {
    const Json& spec = object_or_empty(one, {"template", "spec"});
    Role& role = roles.emplace_back();
    role.name = lower_case(text_at(one, "name"));
    role.replicas = count_at(one, "replicas", 1);
    const std::int32_t parallelism = count_at(spec, "parallelism", 1);
    role.pods = std::min(parallelism, count_at(spec, "completions", parallelism));
  }
  return roles;
}

std::vector<PodSlot> slots_of(const std::vector<Role>& roles) {
  std::vector<PodSlot> slots;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const std::string at = std::to_string(i);
    PodSlot& slot = slots.emplace_back();
    slot.name = roles[i].name;
    slot.path = Json::json_pointer("/spec/replicatedJobs/" + at + "/template/spec/template");
    slot.field = "spec.replicatedJobs[" + at + "].template.spec.template";
    slot.count = roles[i].count();
    slot.numbering.pod_index_label = std::string(api::labels::job_completion_index);
    slot.numbering.sub_group_index_label = job_index;
    slot.numbering.sub_group_count = roles[i].replicas;
  }
  return slots;
}

class JobSet final : public TemplatedJob {
 public:
  JobSet(Json object, api::ObjectMeta metadata, std::vector<Role> roles)
      : TemplatedJob(std::move(object), std::move(metadata), jobset_shape(), slots_of(roles)),
        roles_(std::move(roles)) {}

  const JobKind& kind() const override { return *jobset_kind(); }
  std::string pod_selector() const override {
    return "jobset.sigs.k8s.io/jobset-name=" + metadata().name;
  }
  bool active() const override;
  std::optional<Finished> finished() const override;
  bool pods_ready() const override;
  std::vector<api::ReclaimablePod> reclaimable_pods() const override;
  Json release_patch() const override;
  Json final_patch(bool success, const std::string& message, TimePoint now) const override;

 private:
  const Json& jobs() const { return list_or_empty(status(), "replicatedJobsStatus"); }
  /// The status in which no pod runs.
  Json released() const;

  std::vector<Role> roles_;
};

bool JobSet::active() const {
  return std::any_of(jobs().begin(), jobs().end(),
                     [](const Json& one) { return count_at(one, "active", 0) > 0; });
}

std::optional<Finished> JobSet::finished() const {
  for (const bool success : {true, false}) {
    const Json* found = condition_in(status(), success ? "Completed" : "Failed");
    if (found && text_at(*found, "status") == "True") {
      return Finished{success, text_at(*found, "message")};
    }
  }
  return std::nullopt;
}

/// A replicated job is ready once all of its Jobs are ready or have succeeded.
bool JobSet::pods_ready() const {
  std::int64_t wanted = 0, ready = 0;
  for (const Role& role : roles_) wanted += role.replicas;
  for (const Json& one : jobs()) {
    ready += std::int64_t(count_at(one, "ready", 0)) + count_at(one, "succeeded", 0);
  }
  return ready == wanted;
}

std::vector<api::ReclaimablePod> JobSet::reclaimable_pods() const {
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

Json JobSet::released() const {
  Json after = status();
  for (Json& one : after["replicatedJobsStatus"]) {
    for (const char* name : {"active", "ready"}) one[name] = 0;
  }
  return after;
}

Json JobSet::release_patch() const {
  const bool ready = std::any_of(jobs().begin(), jobs().end(),
                                 [](const Json& one) { return count_at(one, "ready", 0) > 0; });
  return active() || ready ? status_becomes(released()) : Json::object();
}

Json JobSet::final_patch(bool success, const std::string& message, TimePoint now) const {
  if (finished()) return Json::object();
  Json after = released();
  const char* type = success ? "Completed" : "Failed";
  put_condition(&after, Json{{"type", type},
                             {"status", "True"},
                             {"reason", "MultiKueueAdapter"},
                             {"message", message},
                             {"lastTransitionTime", format_rfc3339(now)}});
  after["terminalState"] = type;
  return status_becomes(after);
}

class JobSetKind final : public JobKind {
 public:
  std::string_view framework() const override { return "jobset.x-k8s.io/jobset"; }
  const api::ResourceInfo& resource() const override { return jobset_resource; }
  Result<JobPtr> decode(const Json& object, api::TemplatePool*) const override {
    auto metadata = api::read_metadata(object);
    if (!metadata) return metadata.error();
    auto roles = roles_of(object);
    return std::make_shared<const JobSet>(object, std::move(*metadata), std::move(roles));
  }
};

}  // namespace

std::shared_ptr<const JobKind> jobset_kind() {
  static const auto kind = std::make_shared<const JobSetKind>();
  return kind;
}

}  // namespace regatta::jobs
