#include "jobs/pod/kind.h"

#include "jobs/pod/pod.h"
#include "jobs/pod/pod_group.h"
#include "lib/api/metadata.h"

namespace regatta::jobs {
namespace {

constexpr api::ResourceInfo pod_resource{"", "v1", "Pod", "pods"};
constexpr api::ResourceInfo group_resource{"", "v1", "PodGroup", "podgroups"};

class PodGroupKind final : public JobKind {
 public:
  std::string_view framework() const override { return "pod"; }
  const api::ResourceInfo& resource() const override { return group_resource; }
  Result<JobPtr> decode(const Json&, api::TemplatePool*) const override {
    return Error(Errc::invalid, "a group of Pods is no object");
  }
  JobPtr compose(const api::ObjectKey& key, const std::vector<JobPtr>& all) const override {
    std::vector<std::shared_ptr<const Pod>> pods;
    for (const JobPtr& one : all) {
      if (auto pod = std::dynamic_pointer_cast<const Pod>(one)) pods.push_back(std::move(pod));
    }
    if (pods.empty()) return nullptr;
    return std::make_shared<const PodGroup>(key, std::move(pods));
  }
};

class PodKind final : public JobKind {
 public:
  explicit PodKind(bool names_in_labels) : names_in_labels_(names_in_labels) {}

  std::string_view framework() const override { return "pod"; }
  const api::ResourceInfo& resource() const override { return pod_resource; }
  /// The webhook marks those that it holds back.
  std::string_view selector() const override { return "kueue.x-k8s.io/managed=true"; }
  const JobKind* group_kind() const override { return pod_group_kind().get(); }
  std::string group_of(const GenericJob& job) const override {
    return pod_group_name(job.metadata(), names_in_labels_).name;
  }
  bool classes_managed_only() const override { return true; }
  Result<JobPtr> decode(const Json& object, api::TemplatePool*) const override {
    auto metadata = api::read_metadata(object);
    if (!metadata) return metadata.error();
    return std::make_shared<const Pod>(object, std::move(*metadata), names_in_labels_);
  }

 private:
  bool names_in_labels_;
};

}  // namespace

std::shared_ptr<const JobKind> pod_group_kind() {
  static const auto kind = std::make_shared<const PodGroupKind>();
  return kind;
}

std::shared_ptr<const JobKind> pod_kind(bool names_in_labels) {
  static const auto annotated = std::make_shared<const PodKind>(false);
  static const auto labelled = std::make_shared<const PodKind>(true);
  return names_in_labels ? labelled : annotated;
}

}  // namespace regatta::jobs
