#include "jobs/pod/pod.h"

#include "jobs/annotation_values.h"
#include "jobs/composed_job.h"
#include "jobs/pod/kind.h"
#include "jobs/remote_object.h"
#include "jobs/role_hash.h"
#include "jobs/templated_job.h"
#include "lib/api/names.h"
#include "lib/api/validation.h"
#include "lib/base/joined.h"
#include "lib/base/json_access.h"
#include "lib/base/merge_patch.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::jobs {
namespace {

constexpr const char* pod_set_name = "main";
constexpr const char* termination_target = "TerminationTarget";

bool has_gate(const Json& object, std::string_view gate) {
  const Json& gates = list_or_empty(object_or_empty(object, {"spec"}), "schedulingGates");
  return std::any_of(gates.begin(), gates.end(),
                     [&](const Json& one) { return text_at(one, "name") == gate; });
}

api::StringMap only(const api::StringMap& all, std::initializer_list<std::string_view> keys) {
  api::StringMap out;
  for (const std::string_view key : keys) {
    const auto found = all.find(std::string(key));
    if (found != all.end()) out.insert(*found);
  }
  return out;
}

std::string annotation_at(std::string_view key) {
  return api::at("metadata.annotations", std::string(key));
}
std::string label_at(std::string_view key) {
  return api::at("metadata.labels", std::string(key));
}

}  // namespace

PodGroupName pod_group_name(const api::ObjectMeta& metadata, bool names_in_labels) {
  const std::string key(api::labels::pod_group_name);
  const std::string& name = metadata.annotation(key);
  if (!names_in_labels && !name.empty()) return {name, annotation_at(key)};
  return {metadata.label(key), label_at(key)};
}

const JobKind& Pod::kind() const {
  return *pod_kind(names_in_labels_);
}

const Json& Pod::spec() const {
  return object_or_empty(object_, {"spec"});
}

const Json& Pod::status() const {
  return object_or_empty(object_, {"status"});
}

const std::string& Pod::phase() const {
  return text_at(status(), "phase");
}

bool Pod::bound() const {
  return !text_at(spec(), "nodeName").empty();
}

bool Pod::given_up() const {
  return phase() == "Failed" || (metadata_.deleting() && !bound());
}

bool Pod::lost_place() const {
  return phase() == "Failed" && is_ended_by_manager();
}

bool Pod::goes_in_vain() const {
  return metadata_.deleting() && (lost_place() || (!bound() && !ended()));
}

std::string Pod::role() const {
  const std::string& annotated = metadata_.annotation(std::string(api::annotations::role_hash));
  return annotated.empty() ? role_hash(spec()) : annotated;
}

TimePoint Pod::last_active(TimePoint otherwise) const {
  const Json* ready = condition_in(status(), "ContainersReady");
  TimePoint last = otherwise;
  if (ready && text_at(*ready, "status") == "False" && text_at(*ready, "reason") == "PodFailed") {
    if (const auto since = parse_rfc3339(text_at(*ready, "lastTransitionTime"))) last = *since;
  }
  return metadata_.deletion_timestamp ? std::min(last, *metadata_.deletion_timestamp) : last;
}

std::string Pod::pod_priority_class() const {
  return text_at(spec(), "priorityClassName");
}

bool Pod::suspended() const {
  return has_gate(object_, api::gates::admission);
}

bool Pod::passed_over() const {
  return metadata_.label(std::string(api::labels::managed)) != "true";
}

bool Pod::held_by_parent() const {
  return metadata_.annotations.contains(std::string(api::annotations::pod_suspending_parent));
}

Result<std::vector<api::PodSet>> Pod::pod_sets(const TopologyOptions& topology) const {
  api::PodSet set;
  set.name = pod_set_name;
  set.count = 1;
  auto read = api::PodTemplate::from(Json{{"spec", object_or_empty(object_, {"spec"})}}, "the pod");
  if (!read) return read.error();
  set.pod_template = std::move(*read);
  PodNumbering numbering;
  numbering.pod_index_label = pod_group_pod_index;
  auto request = topology_request(metadata_.annotations, numbering, topology);
  if (!request) return request.error();
  set.topology_request = std::move(*request);
  return std::vector<api::PodSet>{std::move(set)};
}

bool Pod::equivalent(const api::Workload& workload, const std::vector<PodSetInfo>* running) const {
  const auto& sets = workload.spec.pod_sets;
  if (sets.size() != 1 || sets[0].count != 1) return false;
  const bool started = running && !suspended();
  return same_pods(object_, sets[0].pod_template.json(), !started);
}

/// A pod that is being deleted and has no node never runs.
bool Pod::active() const {
  if (suspended() || ended()) return false;
  return !metadata_.deleting() || bound() || phase() == "Running";
}

std::optional<Finished> Pod::finished() const {
  if (!ended()) return std::nullopt;
  return Finished{phase() == "Succeeded", text_at(status(), "message")};
}

bool Pod::pods_ready() const {
  const Json* ready = condition_in(status(), "Ready");
  return ready && text_at(*ready, "status") == "True";
}

Result<Json> Pod::start_patch(const std::vector<PodSetInfo>& infos) const {
  if (infos.size() != 1) return Error(Errc::invalid, "the admission is of another job");
  Json after = object_;
  Json kept = Json::array();
  for (const Json& gate : list_or_empty(object_or_empty(object_, {"spec"}), "schedulingGates")) {
    const std::string& name = text_at(gate, "name");
    if (name != api::gates::admission && name != api::gates::topology) kept.push_back(gate);
  }
  after["spec"]["schedulingGates"] = std::move(kept);
  auto filled = with_info(std::move(after), infos.front());
  if (!filled) return filled.error();
  if ((*filled)["spec"]["schedulingGates"].empty()) (*filled)["spec"].erase("schedulingGates");
  Json patch = merge_patch_between(object_, *filled);
  patch["metadata"]["uid"] = metadata_.uid;
  return patch;
}

std::optional<Json> Pod::termination_patch(const std::string& reason, const std::string& message,
                                           TimePoint now) const {
  if (metadata_.deleting()) return std::nullopt;
  // With its Workload a pod goes, whether it runs or not.
  if (reason != workload_deleted && (suspended() || ended())) return std::nullopt;
  Json after = status();
  put_condition(&after, Json{{"type", termination_target},
                             {"status", "True"},
                             {"reason", reason},
                             {"message", message},
                             {"lastTransitionTime", format_rfc3339(now)}});
  return status_becomes(after);
}

Json Pod::let_go_patch() const {
  if (!metadata_.has_finalizer(api::finalizers::pod_managed)) return Json::object();
  Json kept = Json::array();
  for (const std::string& one : metadata_.finalizers) {
    if (one != api::finalizers::pod_managed) kept.push_back(one);
  }
  if (kept.empty()) kept = Json();
  return Json{{"metadata",
               {{"uid", metadata_.uid},
                {"resourceVersion", metadata_.resource_version},
                {"finalizers", std::move(kept)}}}};
}

Json Pod::queue_patch(const std::string& queue) const {
  return Json{
      {"metadata",
       {{"uid", metadata_.uid}, {"labels", {{std::string(api::labels::queue_name), queue}}}}}};
}

/// Pods of a parent have what the parent gave them, besides the gates.
Json Pod::gated_patch(const TopologyOptions& topology) const {
  Json patch = Json::object();
  const std::string hash(api::annotations::role_hash);
  if (!metadata_.annotations.contains(hash)) {
    patch["metadata"]["annotations"][hash] = role_hash(object_or_empty(object_, {"spec"}));
  }
  Json gates = list_or_empty(object_or_empty(object_, {"spec"}), "schedulingGates");
  if (!gates.is_array()) gates = Json::array();
  const auto add = [&](std::string_view gate) {
    if (!has_gate(object_, gate)) gates.push_back(Json{{"name", std::string(gate)}});
  };
  add(api::gates::admission);
  if (topology.enabled) add(api::gates::topology);
  patch["spec"]["schedulingGates"] = std::move(gates);
  if (held_by_parent()) return patch;
  patch["metadata"]["labels"][std::string(api::labels::managed)] = "true";
  if (!metadata_.has_finalizer(api::finalizers::pod_managed)) {
    Json all = metadata_.finalizers;
    all.push_back(std::string(api::finalizers::pod_managed));
    patch["metadata"]["finalizers"] = std::move(all);
  }
  return patch;
}

void Pod::check_group(api::ErrorList* errors) const {
  const std::string total_key(api::annotations::pod_group_total_count);
  const PodGroupName group = group_name();
  const auto total = metadata_.annotations.find(total_key);
  const bool counted = total != metadata_.annotations.end() && !total->second.empty();
  const bool annotated = group.field == annotation_at(api::labels::pod_group_name);
  const std::string both = "both the '" + total_key + "' annotation and the '" +
                           std::string(api::labels::pod_group_name) + "' " +
                           (annotated ? "annotation" : "label") + " should be set";
  if (group.name.empty()) {
    if (counted) errors->required(label_at(api::labels::pod_group_name), both);
    return;
  }
  const auto complaints = api::check_dns1123_subdomain(group.name);
  if (!complaints.empty()) {
    errors->invalid(group.field, api::in_quotes(group.name), joined(complaints, ","));
  }
  if (!counted) return errors->required(annotation_at(total_key), both);
  std::string complaint;
  const auto number = whole_number(total->second, &complaint);
  if (!number) {
    errors->invalid(annotation_at(total_key), api::in_quotes(total->second), complaint);
  } else if (*number <= 0) {
    errors->invalid(annotation_at(total_key), api::in_quotes(total->second),
                    "incorrect annotation value '" + total_key + "=" + total->second +
                        "': group total count should be greater than zero");
  }
}

void Pod::check(const CheckOptions& options, api::ErrorList* errors) const {
  const std::string prebuilt_key(api::annotations::prebuilt_workload_name);
  const std::string& annotated = metadata_.annotation(prebuilt_key);
  const std::string& prebuilt = annotated.empty() ? metadata_.label(prebuilt_key) : annotated;
  const PodGroupName group = group_name();
  if (!prebuilt.empty() && !group.name.empty() && prebuilt != group.name) {
    errors->invalid(annotated.empty() ? label_at(prebuilt_key) : annotation_at(prebuilt_key),
                    api::in_quotes(prebuilt), "prebuilt workload and pod group should be equal");
  }
  check_group(errors);
  // Slices are checked where the whole group is known.
  const api::StringMap places =
      only(metadata_.annotations,
           {api::annotations::podset_required_topology, api::annotations::podset_preferred_topology,
            api::annotations::podset_unconstrained_topology});
  errors->append(check_topology("metadata", places, 1, options.topology));
}

void Pod::check_update(const GenericJob& before, const CheckOptions& options,
                       api::ErrorList* errors) const {
  check(options, errors);
  const PodGroupName was = pod_group_name(before.metadata(), names_in_labels_);
  const PodGroupName is = group_name();
  if (!was.name.empty() && was.name != is.name) {
    errors->invalid(is.field, api::in_quotes(is.name), "field is immutable");
  }
  const std::string retriable(api::annotations::retriable_in_group);
  if (before.metadata().annotation(retriable) == "false" &&
      metadata_.annotation(retriable) != "false") {
    errors->forbidden(annotation_at(retriable),
                      "unretriable pod group can't be converted to retriable");
  }
}

Json Pod::status_becomes(const Json& after) const {
  Json change = merge_patch_between(status(), after);
  if (change.empty()) return change;
  return status_patch_of(metadata_, std::move(change));
}

/// As it is on the hub, held back: the worker's manager starts it.
Json Pod::remote_job(const api::Workload& workload, const std::string& origin) const {
  Json spec = object_or_empty(object_, {"spec"});
  if (!suspended()) {
    spec["schedulingGates"].push_back(Json{{"name", std::string(api::gates::admission)}});
  }
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", remote_metadata(metadata_, workload, origin)},
          {"spec", std::move(spec)}};
}

/// Its manager ends the pod, because it takes its place back.
bool Pod::is_ended_by_manager() const {
  const Json* target = condition_in(status(), termination_target);
  return target && text_at(*target, "status") == "True";
}

/// While no node was found on the worker, the hub's pod says that it is gated: else an autoscaler
/// of the hub would make room for it. A pod that lost its place on the worker has not failed: the
/// hub's still waits for another one.
Json Pod::status_patch(const GenericJob& remote) const {
  const auto* theirs = dynamic_cast<const Pod*>(&remote);
  if (!theirs || metadata_.deleting() || theirs->is_ended_by_manager()) return Json::object();
  Json after = theirs->status();
  const Json* placed = condition_in(after, "PodScheduled");
  const Json* mine = condition_in(status(), "PodScheduled");
  const bool waits = !placed || text_at(*placed, "status") != "True";
  if (suspended() && waits && mine) put_condition(&after, *mine);
  return status_becomes(after);
}

Json Pod::final_patch(bool success, const std::string& message, TimePoint) const {
  if (ended()) return Json::object();
  Json after = status();
  after["phase"] = success ? "Succeeded" : "Failed";
  if (!message.empty()) after["message"] = message;
  return status_becomes(after);
}

}  // namespace regatta::jobs
