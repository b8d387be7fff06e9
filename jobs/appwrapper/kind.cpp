#include "jobs/appwrapper/kind.h"

#include "jobs/templated_job.h"
#include "lib/api/metadata.h"
#include "lib/api/names.h"
#include "lib/base/json_access.h"

#include <algorithm>
#include <array>

namespace regatta::jobs {
namespace {

constexpr api::ResourceInfo appwrapper_resource{"workload.codeflare.dev", "v1beta2", "AppWrapper",
                                                "appwrappers"};
constexpr const char* pod_index_annotation =
    "workload.codeflare.dev.appwrapper/tas-pod-index-label";

const JobShape& appwrapper_shape() {
  static const JobShape shape{.starts_without_suspend = true, .topology = TopologyChecks::sets};
  return shape;
}

/// One pod template of a component.
struct Part {
  std::size_t component = 0;
  Json::json_pointer path;  ///< in the object that the component wraps
  std::int32_t replicas = 1;
  std::string pod_index_label;
};

/// "template.spec.template" in the notation of components.
Json::json_pointer pointer_of(const std::string& dotted) {
  Json::json_pointer out;
  std::size_t from = 0;
  while (from <= dotted.size()) {
    const std::size_t dot = std::min(dotted.find('.', from), dotted.size());
    out /= dotted.substr(from, dot - from);
    from = dot + 1;
  }
  return out;
}

/// The pods of an object whose component does not say where they are.
std::optional<Part> known_part(const Json& object) {
  const Json& spec = object_or_empty(object, {"spec"});
  const std::string& kind = text_at(object, "kind");
  const std::string_view group = api::group_of(text_at(object, "apiVersion"));
  Part part;
  part.path = Json::json_pointer("/template/spec/template");
  if (group.empty() && kind == "Pod") {
    part.path = Json::json_pointer("/template");
    return part;
  }
  if (group == "apps" && (kind == "Deployment" || kind == "StatefulSet")) {
    part.replicas = count_at(spec, "replicas", 1);
    return part;
  }
  if (group != "batch" || kind != "Job") return std::nullopt;
  part.replicas = count_at(spec, "parallelism", 1);
  part.replicas = std::min(part.replicas, count_at(spec, "completions", part.replicas));
  part.pod_index_label = api::labels::job_completion_index;
  return part;
}

std::vector<Part> parts_of(const Json& object) {
  std::vector<Part> parts;
  const Json& components = list_or_empty(object_or_empty(object, {"spec"}), "components");
  for (std::size_t i = 0; i < components.size(); ++i) {
    const Json& declared = list_or_empty(components[i], "podSets");
    if (declared.empty()) {
      auto part = known_part(object_or_empty(components[i], {"template"}));
      if (!part) continue;
      part->component = i;
      parts.push_back(std::move(*part));
    }
    for (const Json& one : declared) {
      Part& part = parts.emplace_back();
      part.component = i;
      part.path = pointer_of(text_at(one, "path"));
      part.replicas = count_at(one, "replicas", 1);
      part.pod_index_label = text_at(object_or_empty(one, {"annotations"}), pod_index_annotation);
    }
  }
  return parts;
}

/// The image has no tag, or the tag "latest".
bool may_change(const std::string& image) {
  if (image.find('@') != std::string::npos) return false;
  const std::size_t slash = image.rfind('/');
  const std::size_t colon = image.find(':', slash == std::string::npos ? 0 : slash);
  return colon == std::string::npos || image.substr(colon + 1) == "latest";
}

/// Only the metadata and spec of an object, with the defaults of the API: what AppWrapper's
/// controller makes of it.
Json as_pod_template(const Json& given) {
  if (!given.is_object()) return Json();
  Json spec = object_or_empty(given, {"spec"});
  const auto fill = [](Json& holder, const char* name, Json value) {
    if (!holder.contains(name)) holder[name] = std::move(value);
  };
  fill(spec, "restartPolicy", "Always");
  fill(spec, "dnsPolicy", "ClusterFirst");
  fill(spec, "schedulerName", "default-scheduler");
  fill(spec, "terminationGracePeriodSeconds", 30);
  fill(spec, "preemptionPolicy", "PreemptLowerPriority");
  for (const char* list : {"initContainers", "containers"}) {
    if (!list_at(spec, list)) continue;
    for (Json& container : spec[list]) {
      const bool changes = may_change(text_at(container, "image"));
      fill(container, "imagePullPolicy", changes ? "Always" : "IfNotPresent");
      fill(container, "terminationMessagePath", "/dev/termination-log");
      fill(container, "terminationMessagePolicy", "File");
    }
  }
  Json out{{"spec", std::move(spec)}};
  Json metadata = Json::object();
  for (const char* name : {"labels", "annotations"}) {
    if (const Json* found = object_at(object_or_empty(given, {"metadata"}), name)) {
      metadata[name] = *found;
    }
  }
  if (!metadata.empty()) out["metadata"] = std::move(metadata);
  return out;
}

std::vector<PodSlot> slots_of(const Json& object, const std::string& name,
                              const std::vector<Part>& parts) {
  std::vector<PodSlot> slots;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string at = std::to_string(parts[i].component);
    PodSlot& slot = slots.emplace_back();
    slot.name = name + "-" + std::to_string(i);
    slot.path = Json::json_pointer("/spec/components/" + at) / parts[i].path;
    slot.field = "spec.components[" + at + "]";
    slot.count = parts[i].replicas;
    const std::string& label = parts[i].pod_index_label;
    if (!label.empty()) slot.numbering.pod_index_label = label;
    if (object.contains(slot.path)) slot.asked = as_pod_template(object.at(slot.path));
  }
  return slots;
}

/// As a component holds it.
Result<Json> info_json(const PodSetInfo& info) {
  const auto filled = with_info(Json::object(), info);
  if (!filled) return filled.error();
  Json out = object_or_empty(*filled, {"spec"});
  out.update(object_or_empty(*filled, {"metadata"}));
  return out;
}

class AppWrapper final : public TemplatedJob {
 public:
  AppWrapper(const Json& object, api::ObjectMeta metadata, std::vector<Part> parts)
      : TemplatedJob(object, metadata, appwrapper_shape(), slots_of(object, metadata.name, parts)),
        parts_(std::move(parts)) {}

  const JobKind& kind() const override { return *appwrapper_kind(); }
  /// Its components name their pods as they like.
  std::string pod_selector() const override { return {}; }
  bool active() const override { return holds("QuotaReserved") || holds("ResourcesDeployed"); }
  std::optional<Finished> finished() const override;
  bool pods_ready() const override { return holds("PodsReady"); }
  std::vector<api::ReclaimablePod> reclaimable_pods() const override { return {}; }
  Json release_patch() const override;
  Json final_patch(bool success, const std::string& message, TimePoint now) const override;
  void check(const CheckOptions&, api::ErrorList*) const override {}

 protected:
  Result<Json> started(const std::vector<PodSetInfo>& infos) const override;
  Json restored_object(const api::Workload& workload) const override;

 private:
  bool holds(const char* condition) const {
    const Json* found = condition_in(status(), condition);
    return found && text_at(*found, "status") == "True";
  }
  Json released() const;

  std::vector<Part> parts_;
};

std::optional<Finished> AppWrapper::finished() const {
  const std::string& phase = text_at(status(), "phase");
  if (phase == "Succeeded") return Finished{true, "AppWrapper finished successfully"};
  if (phase == "Failed") return Finished{false, "AppWrapper failed"};
  return std::nullopt;
}

/// AppWrapper's controller adds what it finds there to the pods.
Result<Json> AppWrapper::started(const std::vector<PodSetInfo>& infos) const {
  Json after = object();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const bool first = i == 0 || parts_[i - 1].component != parts_[i].component;
    Json& component = after["spec"]["components"][parts_[i].component];
    if (first) component["podSetInfos"] = Json::array();
    auto info = info_json(infos[i]);
    if (!info) return info.error();
    component["podSetInfos"].push_back(std::move(*info));
  }
  return after;
}

Json AppWrapper::restored_object(const api::Workload&) const {
  Json after = object();
  if (!list_at(spec(), "components")) return after;
  for (Json& component : after["spec"]["components"]) component.erase("podSetInfos");
  return after;
}

Json AppWrapper::released() const {
  Json after = status();
  for (const char* type : {"QuotaReserved", "ResourcesDeployed", "PodsReady"}) {
    if (!holds(type)) continue;
    Json condition = *condition_in(after, type);
    condition["status"] = "False";
    put_condition(&after, std::move(condition));
  }
  return after;
}

Json AppWrapper::release_patch() const {
  return active() ? status_becomes(released()) : Json::object();
}

Json AppWrapper::final_patch(bool success, const std::string&, TimePoint) const {
  if (finished()) return Json::object();
  Json after = released();
  after["phase"] = success ? "Succeeded" : "Failed";
  return status_becomes(after);
}

class AppWrapperKind final : public JobKind {
 public:
  std::string_view framework() const override { return "workload.codeflare.dev/appwrapper"; }
  const api::ResourceInfo& resource() const override { return appwrapper_resource; }
  UpdateChecks update_checks() const override { return UpdateChecks::change_only; }
  Result<JobPtr> decode(const Json& object, api::TemplatePool*) const override {
    auto metadata = api::read_metadata(object);
    if (!metadata) return metadata.error();
    return std::make_shared<const AppWrapper>(object, std::move(*metadata), parts_of(object));
  }
};

}  // namespace

std::shared_ptr<const JobKind> appwrapper_kind() {
  static const auto kind = std::make_shared<const AppWrapperKind>();
  return kind;
}

}  // namespace regatta::jobs
