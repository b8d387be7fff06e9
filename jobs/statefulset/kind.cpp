#include "jobs/statefulset/kind.h"

#include "jobs/annotation_values.h"
#include "jobs/serving_job.h"
#include "jobs/template_update.h"
#include "lib/api/names.h"
#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

namespace regatta::jobs {
namespace {

constexpr api::ResourceInfo stateful_set_resource{"apps", "v1", "StatefulSet", "statefulsets"};
constexpr std::string_view stateful_set_framework = "statefulset";
constexpr const char* pod_index_label = "apps.kubernetes.io/pod-index";
constexpr const char* revision_label = "controller-revision-hash";
constexpr const char* pod_set_of_all = "main";

class StatefulSet final : public ServingJob {
 public:
  StatefulSet(const JobKind& kind, Json object, api::ObjectMeta metadata)
      : ServingJob(kind, std::move(object), std::move(metadata)) {}

  std::int32_t replicas() const {
    return static_cast<std::int32_t>(integer_at(spec(), "replicas").value_or(1));
  }
  std::vector<std::int32_t> pod_counts() const override { return {replicas()}; }
  std::string pod_priority_class() const override {
    return text_at(pod_template(), {"spec", "priorityClassName"});
  }
  Result<std::vector<api::PodSet>> pod_sets(const TopologyOptions& topology) const override;

  Result<std::vector<ServingGroup>> groups(const ServingNames& names, std::size_t) const override {
    if (replicas() <= 0) return std::vector<ServingGroup>();
    return std::vector<ServingGroup>{{group_name(names), std::nullopt}};
  }
  std::string hold_message() const override {
    return "StatefulSet scaled to zero; workload on hold";
  }
  std::string group_of(const GenericJob&, const ServingNames& names) const override {
    return group_name(names);
  }
  Json pod_patch(const ServedPod& pod, const ServingNames& names) const override;
  bool is_outdated(const GenericJob& pod) const override;

  Json pods_patch(const api::StringMap&) const override {
    const TemplateMarks marks{std::string(stateful_set_framework), {}, {}};
    return {{"spec", {{"template", {{"metadata", marked_metadata(marks)}}}}}};
  }
  void check_update(const GenericJob& before, const CheckOptions& options,
                    api::ErrorList* errors) const override;

 private:
  const Json& pod_template() const { return object_or_empty(spec(), {"template"}); }
};

Result<std::vector<api::PodSet>> StatefulSet::pod_sets(const TopologyOptions& topology) const {
  api::PodSet set;
  set.name = pod_set_of_all;
  set.count = replicas();
  auto read = api::PodTemplate::from(Json{{"spec", object_or_empty(pod_template(), {"spec"})}},
                                     "spec.template");
  if (!read) return read.error();
  set.pod_template = std::move(*read);
  PodNumbering numbering;
  numbering.pod_index_label = pod_index_label;
  auto request = topology_request(template_annotations(pod_template()), numbering, topology);
  if (!request) return request.error();
  set.topology_request = std::move(*request);
  return std::vector<api::PodSet>{std::move(set)};
}

/// A Pod is tied first. One of an older template that comes again while the StatefulSet is updated
/// has its place already, as long as the group is admitted.
Json StatefulSet::pod_patch(const ServedPod& pod, const ServingNames& names) const {
  if (replicas() <= 0) return Json::object();  // the Pods are on their way out
  PodTie tie;
  tie.group = group_name(names);
  tie.total = replicas();
  tie.role = pod_set_of_all;
  tie.labels = queue_labels(metadata().labels);
  // A Pod keeps the class with which it came into its group.
  const std::string priority_class(api::labels::priority_class);
  if (!pod.pod->metadata().label(priority_class).empty()) tie.labels.erase(priority_class);
  tie.annotations[std::string(api::annotations::pod_group_fast_admission)] = "true";
  tie.annotations[std::string(api::annotations::pod_group_serving)] = "true";
  tie.annotations[std::string(api::annotations::pod_group_pod_index_label)] = pod_index_label;
  if (Json patch = tie_patch(*pod.pod, tie, names); !patch.empty()) return patch;
  return is_outdated(*pod.pod) ? ungate_patch(pod) : Json::object();
}

bool StatefulSet::is_outdated(const GenericJob& pod) const {
  const std::string& current = text_at(status(), "currentRevision");
  return !current.empty() && current != text_at(status(), "updateRevision") &&
         pod.metadata().label(revision_label) == current;
}

void StatefulSet::check_update(const GenericJob& before, const CheckOptions& options,
                               api::ErrorList* errors) const {
  const auto* was = dynamic_cast<const StatefulSet*>(&before);
  if (!was || !options.managed) return;
  check_template_update("spec.template", was->pod_template(), pod_template(), errors);
  const std::int32_t old_count = was->replicas(), count = replicas();
  const bool resized = count != old_count && count > 0 && old_count > 0;
  if (resized) errors->invalid("spec.replicas", std::to_string(count), "field is immutable");
  if (count > 0 && old_count == 0 && options.workload_left) {
    errors->forbidden("spec.replicas", "workload from previous scale-down is still being deleted");
  }
}

class StatefulSetKind final : public ServingKind<StatefulSet> {
 public:
  using ServingKind::ServingKind;
  bool dispatched() const override { return true; }
};

std::string stateful_set_of(const api::ObjectMeta& pod) {
  const api::OwnerReference* owner = pod.controller();
  const bool made = owner && owner->kind == stateful_set_resource.kind &&
                    api::group_of(owner->api_version) == stateful_set_resource.group;
  return made ? owner->name : std::string();
}

}  // namespace

std::vector<std::shared_ptr<const JobKind>> stateful_set_kinds() {
  static const auto kind =
      std::make_shared<const StatefulSetKind>(stateful_set_framework, stateful_set_resource);
  static const auto pods = served_pod_kind({kind, pod_index_label, stateful_set_of});
  return {kind, pods};
}

}  // namespace regatta::jobs
