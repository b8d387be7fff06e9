#include "jobs/deployment/kind.h"

#include "jobs/pod_parent.h"
#include "jobs/template_update.h"
#include "lib/api/names.h"

#include <nlohmann/json.hpp>

namespace regatta::jobs {
namespace {

constexpr api::ResourceInfo deployment_resource{"apps", "v1", "Deployment", "deployments"};
constexpr std::string_view deployment_framework = "deployment";

class Deployment final : public PodParent {
 public:
  Deployment(const JobKind& kind, Json object, api::ObjectMeta metadata)
      : PodParent(kind, std::move(object), std::move(metadata)) {}

  Json pods_patch(const api::StringMap& labels) const override {
    TemplateMarks marks{std::string(deployment_framework), queue_labels(labels), {}};
    marks.labels[std::string(api::labels::managed)] = "true";
    return {{"spec", {{"template", {{"metadata", marked_metadata(marks)}}}}}};
  }
  std::string not_managed_reason() const override { return "its Pods are jobs of their own"; }
};

class DeploymentKind final : public PodParentKind<Deployment> {
 public:
  using PodParentKind::PodParentKind;
  bool followed() const override { return false; }
};

}  // namespace

std::vector<std::shared_ptr<const JobKind>> deployment_kinds() {
  static const auto kind =
      std::make_shared<const DeploymentKind>(deployment_framework, deployment_resource);
  return {kind};
}

}  // namespace regatta::jobs
