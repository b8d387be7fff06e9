#include "jobs/deployment/kind.h"

#include "jobs/idle_job.h"
#include "jobs/template_update.h"
#include "lib/api/metadata.h"
#include "lib/api/names.h"
#include "lib/base/json_access.h"

namespace regatta::jobs {
namespace {

constexpr api::ResourceInfo deployment_resource{"apps", "v1", "Deployment", "deployments"};
constexpr std::string_view deployment_framework = "deployment";

class Deployment final : public IdleJob {
 public:
  Deployment(const JobKind& kind, Json object, api::ObjectMeta metadata)
      : IdleJob(std::move(object), std::move(metadata)), kind_(kind) {}

  const JobKind& kind() const override { return kind_; }
  /// No Pod of it is ready: its queue may change.
  bool suspended() const override {
    return integer_at(object_or_empty(object(), {"status"}), "readyReplicas").value_or(0) == 0;
  }
  Json pods_patch(const api::StringMap& labels) const override {
    TemplateMarks marks{std::string(deployment_framework), queue_labels(labels), {}};
    marks.labels[std::string(api::labels::managed)] = "true";
    return {{"spec", {{"template", {{"metadata", marked_metadata(marks)}}}}}};
  }
  std::string not_managed_reason() const override { return "its Pods are jobs of their own"; }

 private:
  const JobKind& kind_;
};

class DeploymentKind final : public JobKind {
 public:
  std::string_view framework() const override { return deployment_framework; }
  const api::ResourceInfo& resource() const override { return deployment_resource; }
  bool acts_through_pods() const override { return true; }
  bool followed() const override { return false; }
  bool defaults_updates() const override { return true; }
  bool dispatched() const override { return false; }
  CommonChecks common_checks() const override { return CommonChecks::queue_and_class; }
  Result<JobPtr> decode(const Json& object, api::TemplatePool*) const override {
    auto metadata = api::read_metadata(object);
    if (!metadata) return metadata.error();
    return std::make_shared<const Deployment>(*this, object, std::move(*metadata));
  }
};

}  // namespace

std::vector<std::shared_ptr<const JobKind>> deployment_kinds() {
  static const auto kind = std::make_shared<const DeploymentKind>();
  return {kind};
}

}  // namespace regatta::jobs
