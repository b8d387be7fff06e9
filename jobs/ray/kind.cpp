#include "jobs/ray/kind.h"

#include "jobs/elastic.h"
#include "jobs/ray/cluster_spec.h"
#include "lib/api/metadata.h"
#include "lib/api/names.h"
#include "lib/base/json_access.h"
#include "lib/base/merge_patch.h"

namespace regatta::jobs {
namespace {

using ray::Place;
using ray::Submission;

JobShape shape_with(const char* suspend) {
  return {.suspend = Json::json_pointer(suspend), .own_controller = "ray.io/kuberay-operator"};
}

JobShape shape_of_cluster() {
  JobShape shape = shape_with("/spec/suspend");
  shape.topology = TopologyChecks::to_unreadable;
  return shape;
}

JobShape shape_of_job() {
  JobShape shape = shape_with("/spec/suspend");
  shape.starts_without_suspend = true;
  return shape;
}

/// A status as KubeRay itself writes it where nothing is wanted.
void drop_zero_wishes(Json* status) {
  for (const char* name : {"desiredCPU", "desiredMemory", "desiredGPU", "desiredTPU"}) {
    if (text_at(*status, name) == "0") status->erase(name);
  }
}

/// Of the RayCluster that a job made, noted at the job.
constexpr const char* generation_note = "kueue.x-k8s.io/raycluster-generation";
constexpr api::ResourceInfo cluster_resource{"ray.io", "v1", "RayCluster", "rayclusters"};

/// How objects of a kind are read.
struct Reading {
  const JobKind& kind;
  const JobShape& shape;
  const Place& place;
  Submission submission = Submission::none;
};

/// `made` (may be null) is the RayCluster that the object made.
std::vector<PodSlot> slots_in(const Json& object, const Reading& how, const Json* made) {
  std::vector<PodSlot> slots = ray::slots_of(object, how.place, how.submission);
  if (made && ray::autoscales(ray::cluster_in(object, how.place))) ray::take_sizes(*made, &slots);
  return slots;
}

/// What the kinds of Ray have in common.
class RayObject : public TemplatedJob {
 public:
  RayObject(const Reading& how, const Json& object, api::ObjectMeta metadata,
            const Json* made = nullptr)
      : TemplatedJob(object, std::move(metadata), how.shape, slots_in(object, how, made)),
        how_(how) {}

  const JobKind& kind() const final { return how_.kind; }
  std::string pod_selector() const override {
    return cluster_name().empty() ? std::string() : "ray.io/cluster=" + cluster_name();
  }
  std::vector<api::ReclaimablePod> reclaimable_pods() const final { return {}; }
  void check(const CheckOptions& options, api::ErrorList* errors) const override {
    ray::check_cluster(object(), place(), errors);
    TemplatedJob::check(options, errors);
  }

 protected:
  virtual const std::string& cluster_name() const = 0;
  const Reading& how() const { return how_; }
  const Place& place() const { return how_.place; }
  const Json& cluster() const { return ray::cluster_in(object(), place()); }
  bool keeps_state() const { return ray::keeps_state(object(), cluster()); }
  /// The gates of pods that wait for their part of the quota.
  Json gates_patch() const {
    Json patch = Json::object();
    Json gates = merge_patch_between(cluster(), ray::gated(cluster()));
    if (!gates.empty()) patch[place().path] = std::move(gates);
    return patch;
  }
  /// Ray adds and removes workers by itself, so that only a job that may grow can do so.
  void check_autoscaling(const CheckOptions& options, const std::string& field,
                         const std::string& why, api::ErrorList* errors) const {
    const bool may = options.elastic && is_marked_elastic(*this);
    if (ray::autoscales(cluster()) && !may) errors->invalid(field, "true", why);
  }

 private:
  const Reading how_;
};

/// A job that makes a RayCluster of its description, which Ray may make larger and smaller by
/// itself.
class ClusterMaker : public RayObject {
 public:
  ClusterMaker(const Reading& how, const Json& object, api::ObjectMeta metadata,
               const Json* made = nullptr)
      : RayObject(how, object, std::move(metadata), made) {
    if (made)
      made_generation_ = std::to_string(
          integer_at(object_or_empty(*made, {"metadata"}), "generation").value_or(0));
  }

  Result<std::optional<RuntimeRef>> runtime() const final {
    if (!is_marked_elastic(*this) || cluster_name().empty()) return std::optional<RuntimeRef>();
    return RuntimeRef{&cluster_resource, {metadata().ns, cluster_name()}, true};
  }
  std::string size_version() const final {
    const std::string of_job = TemplatedJob::size_version();
    const std::string of_cluster = made_generation_.empty() ? noted() : made_generation_;
    return of_cluster.empty() ? of_job : of_job + "_" + of_cluster;
  }
  /// While the cluster is not known, the last one that was is still noted.
  Json size_patch() const final {
    const std::string key(generation_note);
    const bool silent = made_generation_.empty() && metadata().annotations.contains(key);
    if (silent || (!made_generation_.empty() && noted() == made_generation_)) return Json::object();
    return Json{
        {"metadata", {{"uid", metadata().uid}, {"annotations", {{key, made_generation_}}}}}};
  }

 private:
  const std::string& noted() const { return metadata().annotation(generation_note); }

  std::string made_generation_;  ///< empty while the cluster is not known
};

class RayCluster final : public RayObject {
 public:
  using RayObject::RayObject;

  bool active() const override { return ready(); }
  std::optional<Finished> finished() const override { return std::nullopt; }
  bool pods_ready() const override { return ready(); }
  Json elastic_patch() const override { return gates_patch(); }
  Json release_patch() const override {
    if (!ready()) return Json::object();
    Json after = status();
    after["state"] = "suspended";
    return status_becomes(after);
  }
  /// A cluster has no end.
  Json final_patch(bool, const std::string&, TimePoint) const override { return release_patch(); }
  Json resize_patch(const GenericJob& remote) const override {
    const auto* theirs = dynamic_cast<const RayCluster*>(&remote);
    if (!theirs) return Json::object();
    Json groups = ray::resized_groups(spec(), theirs->spec());
    return groups.is_null() ? Json::object()
                            : Json{{"spec", {{"workerGroupSpecs", std::move(groups)}}}};
  }
  void check(const CheckOptions& options, api::ErrorList* errors) const override {
    check_autoscaling(options, "spec.enableInTreeAutoscaling",
                      "a kueue-managed RayCluster can use autoscaling only as an elastic job: "
                      "enable the ElasticJobsViaWorkloadSlices feature gate and set the "
                      "\"kueue.x-k8s.io/elastic-job\": \"true\" annotation",
                      errors);
    if (options.elastic && is_marked_elastic(*this)) {
      ray::check_elastic_gates(object(), place(), errors);
    }
    RayObject::check(options, errors);
  }

 protected:
  const std::string& cluster_name() const override { return metadata().name; }
  Json shown_status() const override {
    Json shown = status();
    drop_zero_wishes(&shown);
    return shown;
  }

 private:
  bool ready() const { return text_at(status(), "state") == "ready"; }
};

class RayService final : public ClusterMaker {
 public:
  using ClusterMaker::ClusterMaker;

  JobPtr with_runtime(const Json& made) const override {
    return std::make_shared<const RayService>(how(), object(), metadata(), &made);
  }
  Json elastic_patch() const override { return gates_patch(); }

  bool active() const override { return ready(); }
  std::optional<Finished> finished() const override { return std::nullopt; }
  bool pods_ready() const override { return ready(); }
  /// KubeRay cleans Redis up after the service was deleted, in a pod that takes the place of the
  /// head.
  bool passed_over() const override { return metadata().deleting() && keeps_state(); }
  Json release_patch() const override {
    if (!ready()) return Json::object();
    Json after = status();
    Json condition = *condition_in(after, "Ready");
    condition["status"] = "False";
    put_condition(&after, std::move(condition));
    return status_becomes(after);
  }
  /// A service has no end.
  Json final_patch(bool, const std::string&, TimePoint) const override { return release_patch(); }
  void check(const CheckOptions& options, api::ErrorList* errors) const override {
    // Users of Kueue know the field by this name.
    check_autoscaling(options, "spec.rayClusterSpec.enableInTreeAutoscaling",
                      "a kueue managed job should only use autoscaling when workload slicing is "
                      "enabled",
                      errors);
    RayObject::check(options, errors);
  }

 protected:
  const std::string& cluster_name() const override {
    return text_at(status(), {"activeServiceStatus", "rayClusterName"});
  }

 private:
  bool ready() const {
    const Json* found = condition_in(status(), "Ready");
    return found && text_at(*found, "status") == "True";
  }
};

class RayJob final : public ClusterMaker {
 public:
  using ClusterMaker::ClusterMaker;

  JobPtr with_runtime(const Json& made) const override {
    return std::make_shared<const RayJob>(how(), object(), metadata(), &made);
  }

  bool active() const override {
    const std::string& phase = text_at(status(), "jobDeploymentStatus");
    return !phase.empty() && phase != "Suspended" && !refused();
  }
  std::optional<Finished> finished() const override;
  bool pods_ready() const override {
    return text_at(status(), {"rayClusterStatus", "state"}) == "ready";
  }
  /// It uses a cluster that is there already.
  bool passed_over() const override { return selects_cluster(); }
  bool on_hold() const override {
    return text_at(status(), "jobDeploymentStatus") == "ValidationFailed";
  }
  Json remote_job(const api::Workload& workload, const std::string& origin) const override;
  Json release_patch() const override;
  Json final_patch(bool success, const std::string& message, TimePoint now) const override;
  void check(const CheckOptions& options, api::ErrorList* errors) const override;

 protected:
  const std::string& cluster_name() const override { return text_at(status(), "rayClusterName"); }
  Json shown_status() const override {
    Json shown = status();
    if (object_at(shown, "rayClusterStatus")) drop_zero_wishes(&shown["rayClusterStatus"]);
    return shown;
  }

 private:
  bool selects_cluster() const { return !object_or_empty(spec(), {"clusterSelector"}).empty(); }
  /// KubeRay looks at such a job no more, and has made nothing for it.
  bool refused() const { return on_hold() && cluster_name().empty(); }
};

std::optional<Finished> RayJob::finished() const {
  const std::string& phase = text_at(status(), "jobDeploymentStatus");
  if (phase != "Complete" && phase != "Failed" && !refused()) return std::nullopt;
  const bool success = phase == "Complete" && text_at(status(), "jobStatus") == "SUCCEEDED";
  return Finished{success, text_at(status(), "message")};
}

/// KubeRay may delete the job itself at the end of this time, which is none where none is given.
Json RayJob::remote_job(const api::Workload& workload, const std::string& origin) const {
  constexpr const char* ttl = "ttlSecondsAfterFinished";
  Json copy = ClusterMaker::remote_job(workload, origin);
  if (spec().contains(ttl)) copy["spec"][ttl] = spec()[ttl];
  ray::keep_after_end(&copy["spec"]);
  return copy;
}

Json RayJob::release_patch() const {
  if (!active() || finished()) return Json::object();
  Json after = status();
  after["jobDeploymentStatus"] = "Suspended";
  return status_becomes(after);
}

Json RayJob::final_patch(bool success, const std::string& message, TimePoint now) const {
  if (finished()) return Json::object();
  Json after = status();
  after["jobDeploymentStatus"] = success ? "Complete" : "Failed";
  after["jobStatus"] = success ? "SUCCEEDED" : "FAILED";
  after["message"] = message;
  after["endTime"] = format_rfc3339(now);
  return status_becomes(after);
}

void RayJob::check(const CheckOptions& options, api::ErrorList* errors) const {
  const bool described = object_at(spec(), "rayClusterSpec") != nullptr;
  if (selects_cluster() && described) {
    errors->invalid("spec.clusterSelector", spec()["clusterSelector"].dump(),
                    "a kueue managed job should not use an existing cluster");
  }
  if (selects_cluster() && !described) return;
  if (!described) {
    return errors->required(
        "spec.rayClusterSpec",
        "rayClusterSpec is required for Kueue-managed jobs that don't use clusterSelector");
  }
  if (!true_at(spec(), "shutdownAfterJobFinishes")) {
    errors->invalid("spec.shutdownAfterJobFinishes", "false",
                    "a kueue managed job should delete the cluster after finishing");
  }
  check_autoscaling(options, "spec.rayClusterSpec.enableInTreeAutoscaling",
                    "a kueue managed job should only use autoscaling when workload slicing is "
                    "enabled",
                    errors);
  RayObject::check(options, errors);
}

Submission submission_of(const Json& object) {
  const std::string& mode = text_at(object_or_empty(object, {"spec"}), "submissionMode");
  if (mode == "SidecarMode") return Submission::sidecar;
  return mode.empty() || mode == "K8sJobMode" ? Submission::pod : Submission::none;
}

template <class Object>
class RayKind final : public JobKind {
 public:
  RayKind(std::string_view framework, api::ResourceInfo resource, JobShape shape, Place place)
      : framework_(framework),
        resource_(resource),
        shape_(std::move(shape)),
        place_(std::move(place)) {}

  std::string_view framework() const override { return framework_; }
  const api::ResourceInfo& resource() const override { return resource_; }
  bool may_be_elastic() const override { return true; }
  UpdateChecks update_checks() const override { return UpdateChecks::change_first; }
  bool checks_managed_only() const override { return true; }
  std::span<const api::ResourceInfo> runtimes() const override {
    if (std::is_same_v<Object, RayCluster>) return {};
    return {&cluster_resource, 1};
  }
  Result<JobPtr> decode(const Json& object, api::TemplatePool*) const override {
    auto metadata = api::read_metadata(object);
    if (!metadata) return metadata.error();
    const auto submission =
        std::is_same_v<Object, RayJob> ? submission_of(object) : Submission::none;
    return std::make_shared<const Object>(Reading{*this, shape_, place_, submission}, object,
                                          std::move(*metadata));
  }

 private:
  std::string_view framework_;
  api::ResourceInfo resource_;
  JobShape shape_;
  Place place_;
};

}  // namespace

std::vector<std::shared_ptr<const JobKind>> ray_kinds() {
  static const std::vector<std::shared_ptr<const JobKind>> kinds = {
      std::make_shared<const RayKind<RayCluster>>("ray.io/raycluster", cluster_resource,
                                                  shape_of_cluster(),
                                                  Place{Json::json_pointer("/spec"), "spec"}),
      std::make_shared<const RayKind<RayJob>>(
          "ray.io/rayjob", api::ResourceInfo{"ray.io", "v1", "RayJob", "rayjobs"}, shape_of_job(),
          Place{Json::json_pointer("/spec/rayClusterSpec"), "spec.rayClusterSpec"}),
      std::make_shared<const RayKind<RayService>>(
          "ray.io/rayservice", api::ResourceInfo{"ray.io", "v1", "RayService", "rayservices"},
          shape_with("/spec/rayClusterConfig/suspend"),
          // Kueue's messages have the name that the field has in a RayJob.
          Place{Json::json_pointer("/spec/rayClusterConfig"), "spec.rayClusterSpec"}),
  };
  return kinds;
}

}  // namespace regatta::jobs
