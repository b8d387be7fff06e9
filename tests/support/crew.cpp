#include "tests/support/crew.h"

#include "jobs/pod_set_info.h"
#include "lib/api/metadata.h"
#include "lib/api/names.h"
#include "lib/base/merge_patch.h"

#include <nlohmann/json.hpp>

namespace regatta::test_support {
namespace {

using jobs::Finished;
using jobs::JobPtr;
using jobs::PodSetInfo;
using jobs::StopStep;

constexpr api::ResourceInfo crew_resource{"example.dev", "v1", "Crew", "crews", true};
const char* const members[] = {"captain", "sailor"};

class CrewKind final : public jobs::JobKind {
 public:
  std::string_view framework() const override { return "example.dev/crew"; }
  const api::ResourceInfo& resource() const override { return crew_resource; }
  Result<JobPtr> decode(const Json& object, api::TemplatePool* pool) const override;
};

class Crew final : public jobs::GenericJob {
 public:
  Crew(Json object, api::ObjectMeta metadata)
      : spec_(object.value("spec", Json::object())),
        status_(object.value("status", Json::object())),
        metadata_(std::move(metadata)) {}

  const jobs::JobKind& kind() const override { return *crew_kind(); }
  const api::ObjectMeta& metadata() const override { return metadata_; }

  std::vector<std::int32_t> pod_counts() const override { return {1, spec_.value("sailors", 1)}; }
  Result<std::vector<api::PodSet>> pod_sets(const jobs::TopologyOptions&) const override {
    std::vector<api::PodSet> sets;
    for (std::size_t i = 0; i < 2; ++i) {
      auto pod_template =
          api::PodTemplate::from(spec_.value(members[i], Json::object()), members[i]);
      if (!pod_template) return pod_template.error();
      api::PodSet& set = sets.emplace_back();
      set.name = members[i];
      set.count = pod_counts()[i];
      set.pod_template = std::move(*pod_template);
    }
    return sets;
  }
  std::string pod_priority_class() const override { return ""; }
  bool equivalent(const api::Workload& workload,
                  const std::vector<PodSetInfo>* running) const override {
    const auto& sets = workload.spec.pod_sets;
    if (sets.size() != 2) return false;
    for (std::size_t i = 0; i < 2; ++i) {
      if (sets[i].count != pod_counts()[i]) return false;
      const Json original = sets[i].pod_template.json();
      Json mine = spec_.value(members[i], Json::object());
      if (running) mine = jobs::restored(std::move(mine), original);
      if (mine != original) return false;
    }
    return true;
  }

  std::string pod_selector() const override { return "crew=" + metadata_.name; }
  bool suspended() const override { return spec_.value("suspend", false); }
  bool stopping() const override { return false; }
  bool active() const override { return status_.value("running", 0) > 0; }
  std::optional<Finished> finished() const override {
    const std::string result = status_.value("result", "");
    if (result.empty()) return std::nullopt;
    return Finished{result == "Succeeded", result};
  }
  bool pods_ready() const override { return status_.value("ready", 0) >= 1 + pod_counts()[1]; }
  std::vector<api::ReclaimablePod> reclaimable_pods() const override { return {}; }

  Result<Json> start_patch(const std::vector<PodSetInfo>& infos) const override {
    Json spec = {{"suspend", false}};
    for (std::size_t i = 0; i < infos.size(); ++i) {
      const Json before = spec_.value(members[i], Json::object());
      auto after = jobs::with_info(before, infos[i]);
      if (!after) return after.error();
      spec[members[i]] = merge_patch_between(before, *after);
    }
    return patch(std::move(spec));
  }
  std::optional<StopStep> next_stop_step(const api::Workload* workload, bool) const override {
    if (suspended()) return std::nullopt;
    Json spec = {{"suspend", true}};
    for (std::size_t i = 0; workload && i < 2; ++i) {
      const Json running = spec_.value(members[i], Json::object());
      const Json original = workload->spec.pod_sets.at(i).pod_template.json();
      spec[members[i]] = merge_patch_between(running, jobs::restored(running, original));
    }
    return StopStep{patch(std::move(spec)), false, true};
  }
  Json queue_patch(const std::string& queue) const override {
    return {{"metadata",
             {{"uid", metadata_.uid}, {"labels", {{std::string(api::labels::queue_name), queue}}}}},
            {"spec", {{"suspend", true}}}};
  }

  Json suspend_patch() const override {
    return suspended() ? Json::object() : Json{{"spec", {{"suspend", true}}}};
  }
  std::optional<jobs::ManagedBy> managed_by() const override {
    const auto by = spec_.find("managedBy");
    if (by == spec_.end()) return jobs::ManagedBy{std::nullopt, true};
    return jobs::ManagedBy{by->get<std::string>(), false};
  }
  Json managed_by_patch(std::string_view manager) const override {
    return {{"spec", {{"managedBy", manager}}}};
  }
  void check(const jobs::CheckOptions&, api::ErrorList*) const override {}
  void check_update(const GenericJob&, const jobs::CheckOptions&, api::ErrorList*) const override {}

  std::string not_managed_reason() const override {
    const std::string by = spec_.value("managedBy", "");
    return by == api::multikueue_controller_name ? "" : "it is managed by \"" + by + "\"";
  }
  Json remote_job(const api::Workload& workload, const std::string& origin) const override {
    Json labels = metadata_.labels;
    labels[std::string(api::labels::multikueue_origin)] = origin;
    Json annotations = metadata_.annotations;
    annotations[std::string(api::annotations::prebuilt_workload_name)] = workload.metadata.name;
    Json spec = spec_;
    spec.erase("managedBy");
    spec["suspend"] = true;
    for (std::size_t i = 0; i < 2; ++i) {
      spec[members[i]] = workload.spec.pod_sets.at(i).pod_template.json();
    }
    return {{"apiVersion", crew_resource.api_version()},
            {"kind", "Crew"},
            {"metadata",
             {{"name", metadata_.name},
              {"namespace", metadata_.ns},
              {"labels", std::move(labels)},
              {"annotations", std::move(annotations)}}},
            {"spec", std::move(spec)}};
  }
  Json status_patch(const GenericJob& remote) const override {
    const Json change = merge_patch_between(status_, static_cast<const Crew&>(remote).status_);
    return change.empty() ? change : status_of_this(change);
  }
  Json release_patch() const override {
    if (!active()) return Json::object();
    return status_of_this({{"running", 0}, {"ready", 0}});
  }
  Json final_patch(bool success, const std::string& message, TimePoint) const override {
    if (finished()) return Json::object();
    return status_of_this(
        {{"running", 0}, {"result", success ? std::string("Succeeded") : message}});
  }

 private:
  Json status_of_this(Json status) const {
    return {{"metadata", {{"uid", metadata_.uid}}}, {"status", std::move(status)}};
  }
  Json patch(Json spec) const {
    return {{"metadata", {{"uid", metadata_.uid}}}, {"spec", std::move(spec)}};
  }

  Json spec_;
  Json status_;
  api::ObjectMeta metadata_;
};

Result<JobPtr> CrewKind::decode(const Json& object, api::TemplatePool*) const {
  Result<api::ObjectMeta> metadata = api::read_metadata(object);
  if (!metadata) return metadata.error();
  return std::make_shared<const Crew>(object, std::move(*metadata));
}

}  // namespace

std::shared_ptr<const jobs::JobKind> crew_kind() {
  static const auto kind = std::make_shared<const CrewKind>();
  return kind;
}

}  // namespace regatta::test_support
