#include "jobs/leaderworkerset/kind.h"

#include "jobs/annotation_values.h"
#include "jobs/serving_job.h"
#include "jobs/template_update.h"
#include "lib/api/names.h"
#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::jobs {
namespace {

constexpr api::ResourceInfo lws_resource{"leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet",
                                         "leaderworkersets"};
constexpr std::string_view lws_framework = "leaderworkerset.x-k8s.io/leaderworkerset";
constexpr std::string_view lws_prefix = "leaderworkerset.sigs.k8s.io/";
constexpr const char* lws_name_label = "leaderworkerset.sigs.k8s.io/name";
constexpr const char* group_index_label = "leaderworkerset.sigs.k8s.io/group-index";
constexpr const char* worker_index_label = "leaderworkerset.sigs.k8s.io/worker-index";
constexpr const char* template_field = "spec.leaderWorkerTemplate";
constexpr std::int64_t replicas_max = 1000000;

/// Labels of the controller are different for each Pod, but for the name of the LeaderWorkerSet.
Json asked_template_of(const Json& pod_template) {
  Json out = pod_template;
  if (!out.contains("metadata") || !out["metadata"].contains("labels")) return out;
  Json& labels = out["metadata"]["labels"];
  for (const auto& [key, value] : object_or_empty(pod_template, {"metadata", "labels"}).items()) {
    if (key.starts_with(lws_prefix) && key != lws_name_label) labels.erase(key);
  }
  return out;
}

class LeaderWorkerSet final : public ServingJob {
 public:
  LeaderWorkerSet(const JobKind& kind, Json object, api::ObjectMeta metadata)
      : ServingJob(kind, std::move(object), std::move(metadata)) {}

  std::vector<std::int32_t> pod_counts() const override {
    if (!leader()) return {size()};
    return {1, size() - 1};
  }
  std::string pod_priority_class() const override;
  Result<std::vector<api::PodSet>> pod_sets(const TopologyOptions& topology) const override;

  Result<std::vector<ServingGroup>> groups(const ServingNames& names,
                                           std::size_t most) const override;
  bool follows_priority() const override { return true; }
  std::string group_of(const GenericJob& pod, const ServingNames& names) const override;
  Json pod_patch(const ServedPod& pod, const ServingNames& names) const override;

  Json pods_patch(const api::StringMap& labels) const override;
  void check(const CheckOptions& options, api::ErrorList* errors) const override;
  void check_update(const GenericJob& before, const CheckOptions& options,
                    api::ErrorList* errors) const override;
  Json remote_job(const api::Workload& workload, const std::string& origin) const override;
  Json follow_patch(const GenericJob& remote) const override;

 private:
  struct Part {
    const char* name;   ///< of the pod set
    const char* field;  ///< below the template of a group
    const Json* pods;
    std::int32_t count;
  };
  const Json& group_template() const { return object_or_empty(spec(), {"leaderWorkerTemplate"}); }
  const Json& workers() const { return object_or_empty(group_template(), {"workerTemplate"}); }
  /// Null when leaders are as workers are.
  const Json* leader() const { return object_at(group_template(), "leaderTemplate"); }
  std::int32_t size() const {
    return static_cast<std::int32_t>(integer_at(group_template(), "size").value_or(1));
  }
  std::int64_t replicas() const { return integer_at(spec(), "replicas").value_or(1); }
  std::optional<std::string> wrong_replicas() const;
  /// With those that a rolling update adds. A worker's copy has the first one in any case.
  std::int64_t groups_now() const;
  std::vector<Part> parts() const;
  const char* role_of(const GenericJob& pod) const;
};

std::optional<std::string> LeaderWorkerSet::wrong_replicas() const {
  const std::string got = ", got " + std::to_string(replicas());
  if (replicas() < 0) return "invalid LeaderWorkerSet replicas: must be >= 0" + got;
  if (replicas() <= replicas_max) return std::nullopt;
  return "invalid LeaderWorkerSet replicas: must be <= " + std::to_string(replicas_max) + got;
}

/// A surge is a number, or a share of the replicas, rounded up.
std::int64_t LeaderWorkerSet::groups_now() const {
  const Json& rolling = object_or_empty(spec(), {"rolloutStrategy", "rollingUpdateConfiguration"});
  std::int64_t surge = integer_at(rolling, "maxSurge").value_or(0);
  if (const std::string* share = string_at(rolling, "maxSurge"); share && share->ends_with('%')) {
    std::string complaint;
    const auto percent = whole_number(share->substr(0, share->size() - 1), &complaint);
    surge = percent && *percent > 0 ? (replicas() * *percent + 99) / 100 : 0;
  }
  const std::int64_t there = integer_at(status(), "replicas").value_or(0);
  const std::int64_t wanted = std::max<std::int64_t>(replicas(), made_on_hub() ? 1 : 0);
  return std::max(wanted, std::min(there, replicas() + std::max<std::int64_t>(surge, 0)));
}

std::vector<LeaderWorkerSet::Part> LeaderWorkerSet::parts() const {
  if (!leader()) return {{"main", "workerTemplate", &workers(), size()}};
  return {{"leader", "leaderTemplate", leader(), 1},
          {"worker", "workerTemplate", &workers(), size() - 1}};
}

std::string LeaderWorkerSet::pod_priority_class() const {
  for (const Part& part : parts()) {
    const std::string& name = text_at(*part.pods, {"spec", "priorityClassName"});
    if (!name.empty()) return name;
  }
  return {};
}

Result<std::vector<api::PodSet>> LeaderWorkerSet::pod_sets(const TopologyOptions& topology) const {
  std::vector<api::PodSet> sets;
  for (const Part& part : parts()) {
    api::PodSet& set = sets.emplace_back();
    set.name = part.name;
    set.count = part.count;
    auto read = api::PodTemplate::from(asked_template_of(*part.pods), part.field);
    if (!read) return read.error();
    set.pod_template = std::move(*read);
    PodNumbering numbering;
    if (part.pods != leader()) numbering.pod_index_label = worker_index_label;
    auto request = topology_request(template_annotations(*part.pods), numbering, topology);
    if (!request) return request.error();
    set.topology_request = std::move(*request);
  }
  return sets;
}

Result<std::vector<ServingGroup>> LeaderWorkerSet::groups(const ServingNames& names,
                                                          std::size_t most) const {
  if (const auto wrong = wrong_replicas()) return Error(Errc::invalid, *wrong);
  std::vector<ServingGroup> out;
  for (std::int32_t i = 0; i < groups_now() && out.size() < most; ++i) {
    out.push_back({group_name(names, std::to_string(i)), i});
  }
  return out;
}

const char* LeaderWorkerSet::role_of(const GenericJob& pod) const {
  if (!leader()) return "main";
  return pod.metadata().label(worker_index_label) == "0" ? "leader" : "worker";
}

std::string LeaderWorkerSet::group_of(const GenericJob& pod, const ServingNames& names) const {
  const std::string& index = pod.metadata().label(group_index_label);
  return index.empty() ? std::string() : group_name(names, index);
}

/// A Pod of an older template that comes again while its StatefulSet is updated runs with the place
/// that its group has.
Json LeaderWorkerSet::pod_patch(const ServedPod& pod, const ServingNames& names) const {
  const ServingJob* maker = pod.maker ? pod.maker->serving() : nullptr;
  if (maker && maker->is_outdated(*pod.pod)) return ungate_patch(pod);
  PodTie tie;
  tie.group = group_of(*pod.pod, names);
  if (tie.group.empty()) return Json::object();
  tie.total = size();
  tie.role = role_of(*pod.pod);
  const std::string queue(api::labels::queue_name);
  if (const std::string& name = metadata().label(queue); !name.empty()) tie.labels[queue] = name;
  return tie_patch(*pod.pod, tie, names);
}

/// Workers are numbered after their leader, unless both are placed as one.
Json LeaderWorkerSet::pods_patch(const api::StringMap& labels) const {
  TemplateMarks marks{std::string(lws_framework), queue_labels(labels), {}};
  marks.annotations[std::string(api::annotations::pod_group_serving)] = "true";
  Json parts_patch = Json::object();
  for (const Part& part : parts()) {
    TemplateMarks own = marks;
    const bool grouped =
        template_annotations(*part.pods).contains(std::string(api::annotations::podset_group_name));
    if (leader() && part.pods != leader() && !grouped) {
      own.annotations[std::string(api::annotations::pod_index_offset)] = "1";
    }
    parts_patch[part.field]["metadata"] = marked_metadata(own);
  }
  return {{"spec", {{"leaderWorkerTemplate", std::move(parts_patch)}}}};
}

void LeaderWorkerSet::check(const CheckOptions& options, api::ErrorList* errors) const {
  if (const auto wrong = wrong_replicas()) {
    errors->invalid("spec.replicas", std::to_string(replicas()), *wrong);
  }
  std::map<std::string, std::string> paths;
  api::FieldErrors wrong;
  for (const Part& part : parts()) {
    const std::string path = std::string(template_field) + "." + part.field + ".metadata";
    paths[part.name] = path + ".annotations";
    const api::FieldErrors found =
        check_topology(path, template_annotations(*part.pods), part.count, options.topology);
    wrong.insert(wrong.end(), found.begin(), found.end());
  }
  const auto sets = wrong.empty() ? pod_sets(options.topology) : std::vector<api::PodSet>();
  if (wrong.empty() && sets) wrong = check_topology_groups(*sets, paths);
  errors->append(wrong);
}

void LeaderWorkerSet::check_update(const GenericJob& before, const CheckOptions& options,
                                   api::ErrorList* errors) const {
  const auto* was = dynamic_cast<const LeaderWorkerSet*>(&before);
  check(options, errors);
  if (!was || !options.managed) return;
  const std::string field = template_field;
  if (static_cast<bool>(was->leader()) != static_cast<bool>(leader())) {
    errors->invalid(field + ".leaderTemplate", leader() ? dump_json(*leader()) : "null",
                    "field is immutable");
  } else if (leader()) {
    check_template_update(field + ".leaderTemplate", *was->leader(), *leader(), errors);
  }
  check_template_update(field + ".workerTemplate", was->workers(), workers(), errors);
  if (options.fixed_group_size && was->size() != size()) {
    errors->invalid(field + ".size", std::to_string(size()), "field is immutable");
  }
}

/// The Workloads of its groups are known by the uid of the hub's job.
Json LeaderWorkerSet::remote_job(const api::Workload& workload, const std::string& origin) const {
  Json copy = ServingJob::remote_job(workload, origin);
  copy["metadata"]["annotations"].erase(std::string(api::annotations::prebuilt_workload_name));
  return copy;
}

/// Each replica has a Workload of its own, so their number may change at any time. Without replicas
/// the copy goes with the last Workload.
Json LeaderWorkerSet::follow_patch(const GenericJob& remote) const {
  const auto* copy = dynamic_cast<const LeaderWorkerSet*>(&remote);
  if (!copy || wrong_replicas() || replicas() == 0) return Json::object();
  if (copy->replicas() == replicas()) return Json::object();
  return {{"metadata", {{"uid", remote.metadata().uid}}}, {"spec", {{"replicas", replicas()}}}};
}

class LeaderWorkerSetKind final : public ServingKind<LeaderWorkerSet> {
 public:
  using ServingKind::ServingKind;
  bool dispatched() const override { return true; }
};

std::string lws_of(const api::ObjectMeta& pod) {
  return pod.label(lws_name_label);
}

}  // namespace

std::vector<std::shared_ptr<const JobKind>> leader_worker_set_kinds() {
  static const auto kind = std::make_shared<const LeaderWorkerSetKind>(lws_framework, lws_resource);
  static const auto pods = served_pod_kind({kind, lws_name_label, lws_of});
  return {kind, pods};
}

}  // namespace regatta::jobs
