#include "jobs/templated_job.h"

#include "jobs/annotation_values.h"
#include "jobs/remote_object.h"
#include "lib/api/names.h"
#include "lib/base/json_access.h"
#include "lib/base/merge_patch.h"

#include <algorithm>

namespace regatta::jobs {
namespace {

const Json& null_json() {
  static const Json none;
  return none;
}

const Json& value_at(const Json& object, const Json::json_pointer& path) {
  return object.contains(path) ? object.at(path) : null_json();
}

std::string metadata_field(const PodSlot& slot) {
  return slot.annotated_field.empty() ? slot.field + ".metadata" : slot.annotated_field;
}

/// The parts of a job that patches may touch.
Json writable(const Json& object) {
  return Json{{"spec", at_or_null(object, "spec")}};
}

}  // namespace

TemplatedJob::TemplatedJob(Json object, api::ObjectMeta metadata, const JobShape& shape,
                           std::vector<PodSlot> slots)
    : object_(std::move(object)),
      metadata_(std::move(metadata)),
      shape_(shape),
      slots_(std::move(slots)) {}

const Json& TemplatedJob::spec() const {
  return object_or_empty(object_, {"spec"});
}

const Json& TemplatedJob::status() const {
  return object_or_empty(object_, {"status"});
}

const Json& TemplatedJob::pod_template(const PodSlot& slot) const {
  const Json& given = value_at(object_, slot.path);
  return given.is_null() ? slot.otherwise : given;
}

const Json& TemplatedJob::asked_template(const PodSlot& slot) const {
  return slot.asked.is_null() ? pod_template(slot) : slot.asked;
}

Json TemplatedJob::patch_to(const Json& after) const {
  Json patch = merge_patch_between(writable(object_), writable(after));
  patch["metadata"]["uid"] = metadata_.uid;
  return patch;
}

Result<std::vector<api::PodSet>> TemplatedJob::pod_sets(const TopologyOptions& topology) const {
  std::vector<api::PodSet> sets;
  api::ErrorList wrong;
  std::map<std::string, std::string> paths;
  for (const PodSlot& slot : slots_) {
    const Json& given = asked_template(slot);
    auto read = api::PodTemplate::from(given.is_object() ? given : Json::object(), slot.field);
    if (!read) return read.error();
    api::PodSet& set = sets.emplace_back();
    set.name = slot.name;
    set.count = slot.count;
    set.pod_template = std::move(*read);
    const api::StringMap annotations = template_annotations(given);
    wrong.append(check_topology(metadata_field(slot), annotations, slot.count, topology));
    paths[slot.name] = metadata_field(slot) + ".annotations";
    auto request = topology_request(annotations, slot.numbering, topology);
    if (!request) return request.error();
    set.topology_request = std::move(*request);
  }
  if (auto errors = wrong.take(); !errors.empty()) {
    return Error(Errc::invalid, api::to_text(errors));
  }
  if (auto errors = check_topology_groups(sets, paths); !errors.empty()) {
    return Error(Errc::invalid, api::to_text(errors));
  }
  return sets;
}

std::vector<std::int32_t> TemplatedJob::pod_counts() const {
  std::vector<std::int32_t> counts;
  for (const PodSlot& slot : slots_) counts.push_back(slot.count);
  return counts;
}

std::string TemplatedJob::pod_priority_class() const {
  for (const PodSlot& slot : slots_) {
    const std::string& name = text_at(asked_template(slot), {"spec", "priorityClassName"});
    if (!name.empty()) return name;
  }
  return {};
}

bool TemplatedJob::equivalent(const api::Workload& workload,
                              const std::vector<PodSetInfo>* running) const {
  const auto& sets = workload.spec.pod_sets;
  if (sets.size() != slots_.size()) return false;
  const bool started = running && !suspended();
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (sets[i].name != slots_[i].name || sets[i].count != slots_[i].count) return false;
    if (!same_pods(asked_template(slots_[i]), sets[i].pod_template.json(), !started)) return false;
  }
  return true;
}

bool TemplatedJob::suspended() const {
  return value_at(object_, shape_.suspend) == true;
}

Result<Json> TemplatedJob::start_patch(const std::vector<PodSetInfo>& infos) const {
  if (infos.size() != slots_.size()) {
    return Error(Errc::invalid, "the job has " + std::to_string(slots_.size()) +
                                    " pod sets, its admission has " + std::to_string(infos.size()));
  }
  Result<Json> after = started(infos);
  if (!after) return after.error();
  (*after)[shape_.suspend] = shape_.starts_without_suspend ? Json() : Json(false);
  return patch_to(*after);
}

Result<Json> TemplatedJob::started(const std::vector<PodSetInfo>& infos) const {
  Json after = object_;
  for (std::size_t i = 0; i < infos.size(); ++i) {
    auto filled = with_info(pod_template(slots_[i]), infos[i]);
    if (!filled) return filled.error();
    after[slots_[i].path] = std::move(*filled);
  }
  return after;
}

/// The job with the pod templates of its Workload; those of another one do not fit.
Json TemplatedJob::restored_object(const api::Workload& workload) const {
  Json after = object_;
  const auto& sets = workload.spec.pod_sets;
  for (std::size_t i = 0; i < slots_.size() && sets.size() == slots_.size(); ++i) {
    const Json& running = value_at(object_, slots_[i].path);
    if (running.is_object()) {
      after[slots_[i].path] = restored(running, sets[i].pod_template.json());
    }
  }
  return after;
}

std::optional<StopStep> TemplatedJob::next_stop_step(const api::Workload* workload, bool) const {
  if (suspended()) return std::nullopt;
  Json after = workload ? restored_object(*workload) : object_;
  after[shape_.suspend] = true;
  return StopStep{patch_to(after), false, true};
}

Json TemplatedJob::queue_patch(const std::string& queue) const {
  Json patch = active() ? Json::object() : suspend_patch();
  patch["metadata"] = {{"uid", metadata_.uid},
                       {"labels", {{std::string(api::labels::queue_name), queue}}}};
  return patch;
}

Json TemplatedJob::suspend_patch() const {
  Json patch = Json::object();
  if (!suspended()) patch[shape_.suspend] = true;
  return patch;
}

std::optional<ManagedBy> TemplatedJob::managed_by() const {
  if (shape_.managed_by.empty()) return std::nullopt;
  const Json& value = value_at(object_, shape_.managed_by);
  if (!value.is_string()) return ManagedBy{std::nullopt, true};
  const auto& text = value.get_ref<const std::string&>();
  return ManagedBy{text, text == shape_.own_controller};
}

Json TemplatedJob::managed_by_patch(std::string_view manager) const {
  Json patch = Json::object();
  patch[shape_.managed_by] = manager;
  return patch;
}

void TemplatedJob::check(const CheckOptions& options, api::ErrorList* errors) const {
  const bool unreadable_first = shape_.topology == TopologyChecks::unreadable_first;
  std::vector<api::PodSet> sets;
  std::map<std::string, std::string> paths;
  api::ErrorList wrong;
  std::optional<Error> unreadable;
  for (const PodSlot& slot : slots_) {
    if (!slot.topology_checked) continue;
    const api::StringMap annotations = template_annotations(asked_template(slot));
    wrong.append(check_topology(metadata_field(slot), annotations, slot.count, options.topology));
    auto request = topology_request(annotations, slot.numbering, options.topology);
    if (!request) {
      if (!unreadable) unreadable = request.error();
      if (shape_.topology == TopologyChecks::to_unreadable) break;
      continue;
    }
    api::PodSet& set = sets.emplace_back();
    set.name = slot.name;
    set.count = slot.count;
    set.topology_request = std::move(*request);
    paths[slot.name] = metadata_field(slot) + ".annotations";
  }
  if (unreadable_first && unreadable) return errors->whole(unreadable->what());
  auto found = wrong.take();
  if (found.empty() && shape_.topology != TopologyChecks::sets) {
    found = check_topology_groups(sets, paths);
  }
  errors->append(found);
}

void TemplatedJob::check_update(const GenericJob&, const CheckOptions& options,
                                api::ErrorList* errors) const {
  check(options, errors);
}

std::string TemplatedJob::not_managed_reason() const {
  const auto by = managed_by();
  if (!by) return std::string(kind().resource().kind) + " cannot name MultiKueue as its manager";
  const std::string value = by->value ? *by->value : std::string();
  if (value == api::multikueue_controller_name) return {};
  return "Expecting " + shape_.managed_by_field + " to be \"" +
         std::string(api::multikueue_controller_name) + "\" not \"" + value + "\"";
}

Json TemplatedJob::remote_job(const api::Workload& workload, const std::string& origin) const {
  Json copy = restored_object(workload);
  copy[shape_.suspend] = true;
  const Json::json_pointer holder = shape_.managed_by.parent_pointer();
  if (copy.contains(holder)) {
    copy.at(holder).erase(shape_.managed_by.back());
    copy.at(holder).erase("ttlSecondsAfterFinished");
  }
  Json spec = std::move(copy["spec"]);
  return {{"apiVersion", kind().resource().api_version()},
          {"kind", std::string(kind().resource().kind)},
          {"metadata", remote_metadata(metadata_, workload, origin)},
          {"spec", std::move(spec)}};
}

Json TemplatedJob::status_becomes(const Json& after) const {
  Json change = merge_patch_between(status(), after);
  if (change.empty()) return change;
  return status_patch_of(metadata_, std::move(change));
}

Json TemplatedJob::status_patch(const GenericJob& remote) const {
  const auto* theirs = dynamic_cast<const TemplatedJob*>(&remote);
  return theirs ? status_becomes(theirs->shown_status()) : Json::object();
}

std::int32_t count_at(const Json& value, std::string_view name, std::int32_t otherwise) {
  const std::int64_t found = integer_at(value, name).value_or(otherwise);
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(found, 0, INT32_MAX));
}

const Json* condition_in(const Json& status, std::string_view type) {
  for (const Json& condition : list_or_empty(status, "conditions")) {
    if (text_at(condition, "type") == type) return &condition;
  }
  return nullptr;
}

void put_condition(Json* status, Json condition) {
  Json& all = (*status)["conditions"];
  if (!all.is_array()) all = Json::array();
  std::erase_if(all.get_ref<Json::array_t&>(), [&](const Json& one) {
    return text_at(one, "type") == text_at(condition, "type");
  });
  all.push_back(std::move(condition));
}

}  // namespace regatta::jobs
