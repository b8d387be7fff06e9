#include "jobs/jobset/kind.h"

#include "jobs/replicated_jobs.h"
#include "lib/api/metadata.h"
#include "lib/base/json_access.h"
#include "lib/base/lower_case.h"

#include <algorithm>

namespace regatta::jobs {
namespace {

constexpr api::ResourceInfo jobset_resource{"jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets"};

const JobShape& jobset_shape() {
  static const JobShape shape{.own_controller = "jobset.sigs.k8s.io/jobset-controller",
                              .topology = TopologyChecks::unreadable_first};
  return shape;
}

std::vector<ReplicatedJob> replicated_in(const Json& object) {
  std::vector<ReplicatedJob> all;
  for (const Json& one : list_or_empty(object_or_empty(object, {"spec"}), "replicatedJobs")) {
    const Json& spec = object_or_empty(one, {"template", "spec"});
    ReplicatedJob& job = all.emplace_back();
    job.name = lower_case(text_at(one, "name"));
    job.replicas = count_at(one, "replicas", 1);
    const std::int32_t parallelism = count_at(spec, "parallelism", 1);
    job.pods = std::min(parallelism, count_at(spec, "completions", parallelism));
  }
  return all;
}

std::vector<PodSlot> slots_of(const std::vector<ReplicatedJob>& all) {
  std::vector<PodSlot> slots;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string at = std::to_string(i);
    PodSlot& slot = slots.emplace_back();
    slot.name = all[i].name;
    slot.path = Json::json_pointer("/spec/replicatedJobs/" + at + "/template/spec/template");
    slot.field = "spec.replicatedJobs[" + at + "].template.spec.template";
    slot.count = all[i].count();
    slot.numbering = numbering_of(all[i]);
  }
  return slots;
}

class JobSet final : public ReplicatedJobs {
 public:
  JobSet(Json object, api::ObjectMeta metadata, std::vector<ReplicatedJob> all)
      : ReplicatedJobs(std::move(object), std::move(metadata), jobset_shape(), slots_of(all), all,
                       {.jobs = "replicatedJobsStatus",
                        .complete = "Completed",
                        .terminal_state = "terminalState"}) {}

  const JobKind& kind() const override { return *jobset_kind(); }
  std::string pod_selector() const override {
    return "jobset.sigs.k8s.io/jobset-name=" + metadata().name;
  }
};

class JobSetKind final : public JobKind {
 public:
  std::string_view framework() const override { return "jobset.x-k8s.io/jobset"; }
  const api::ResourceInfo& resource() const override { return jobset_resource; }
  Result<JobPtr> decode(const Json& object, api::TemplatePool*) const override {
    auto metadata = api::read_metadata(object);
    if (!metadata) return metadata.error();
    return std::make_shared<const JobSet>(object, std::move(*metadata), replicated_in(object));
  }
};

}  // namespace

std::shared_ptr<const JobKind> jobset_kind() {
  static const auto kind = std::make_shared<const JobSetKind>();
  return kind;
}

}  // namespace regatta::jobs
