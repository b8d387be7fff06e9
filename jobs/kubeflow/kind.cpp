#include "jobs/kubeflow/kind.h"

#include "jobs/templated_job.h"
#include "lib/api/metadata.h"
#include "lib/base/json_access.h"
#include "lib/base/lower_case.h"

#include <algorithm>

namespace regatta::jobs {
namespace {

constexpr std::string_view label_prefix = "training.kubeflow.org/";

/// What tells the kinds apart.
struct Trainer {
  std::string_view framework;
  api::ResourceInfo resource;
  std::string_view replicas;            ///< the field of the spec that holds the roles
  std::string_view operated;            ///< the value of the label operator-name
  std::vector<std::string_view> roles;  ///< in the order of the pod sets
  bool mpi = false;                     ///< of the MPI operator, not of the training operator
};

using Names = std::vector<std::string_view>;

const std::vector<Trainer>& trainers() {
  static const Names master_and_worker = {"Master", "Worker"};
  static const std::vector<Trainer> all = {
      {"kubeflow.org/tfjob",
       {"kubeflow.org", "v1", "TFJob", "tfjobs"},
       "tfReplicaSpecs",
       "tfjob-controller",
       {"Chief", "Master", "PS", "Worker", "Evaluator"}},
      {"kubeflow.org/pytorchjob",
       {"kubeflow.org", "v1", "PyTorchJob", "pytorchjobs"},
       "pytorchReplicaSpecs",
       "pytorchjob-controller",
       master_and_worker},
      {"kubeflow.org/xgboostjob",
       {"kubeflow.org", "v1", "XGBoostJob", "xgboostjobs"},
       "xgbReplicaSpecs",
       "xgboostjob-controller",
       master_and_worker},
      {"kubeflow.org/paddlejob",
       {"kubeflow.org", "v1", "PaddleJob", "paddlejobs"},
       "paddleReplicaSpecs",
       "paddlejob-controller",
       master_and_worker},
      {"kubeflow.org/jaxjob",
       {"kubeflow.org", "v1", "JAXJob", "jaxjobs"},
       "jaxReplicaSpecs",
       "jaxjob-controller",
       {"Worker"}},
      {"kubeflow.org/mpijob",
       {"kubeflow.org", "v2beta1", "MPIJob", "mpijobs"},
       "mpiReplicaSpecs",
       "mpi-operator",
       {"Launcher", "Worker"},
       true},
  };
  return all;
}

JobShape shape_of(const Trainer& trainer) {
  return {.suspend = Json::json_pointer("/spec/runPolicy/suspend"),
          .managed_by = Json::json_pointer("/spec/runPolicy/managedBy"),
          .managed_by_field = trainer.mpi ? "spec.runPolicy.managedBy" : "spec.managedBy",
          .own_controller =
              trainer.mpi ? "kubeflow.org/mpi-operator" : "kubeflow.org/training-operator",
          .topology = trainer.mpi ? TopologyChecks::unreadable_first : TopologyChecks::sets};
}

std::vector<PodSlot> slots_of(const Trainer& trainer, const Json& object) {
  const std::string holder(trainer.replicas);
  const Json& specs = object_or_empty(object, {"spec", holder.c_str()});
  std::vector<PodSlot> slots;
  for (const std::string_view role : trainer.roles) {
    const std::string name(role);
    if (!specs.contains(name)) continue;
    PodSlot& slot = slots.emplace_back();
    slot.name = lower_case(name);
    slot.path = Json::json_pointer("/spec/" + holder + "/" + name + "/template");
    slot.field = "spec." + holder + "[" + name + "].template";
    slot.count = count_at(specs[name], "replicas", 1);
    slot.numbering.pod_index_label = std::string(label_prefix) + "replica-index";
  }
  return slots;
}

class TrainingJob final : public TemplatedJob {
 public:
  TrainingJob(const JobKind& kind, const Trainer& trainer, const JobShape& shape,
              const Json& object, api::ObjectMeta metadata)
      : TemplatedJob(object, std::move(metadata), shape, slots_of(trainer, object)),
        kind_(kind),
        trainer_(trainer) {}

  const JobKind& kind() const override { return kind_; }
  std::string pod_priority_class() const override;
  std::string pod_selector() const override;
  bool active() const override { return any_replica("active"); }
  std::optional<Finished> finished() const override;
  bool pods_ready() const override;
  std::vector<api::ReclaimablePod> reclaimable_pods() const override { return {}; }
  Json release_patch() const override;
  Json final_patch(bool success, const std::string& message, TimePoint now) const override;

 protected:
  Json shown_status() const override;

 private:
  bool any_replica(const char* count) const;
  /// The status in which no pod runs.
  Json released() const;

  const JobKind& kind_;
  const Trainer& trainer_;
};

/// The priority class of the whole job comes before those of its roles.
std::string TrainingJob::pod_priority_class() const {
  const std::string& named = text_at(spec(), {"runPolicy", "schedulingPolicy", "priorityClass"});
  return named.empty() ? TemplatedJob::pod_priority_class() : named;
}

std::string TrainingJob::pod_selector() const {
  const std::string prefix(label_prefix);
  return prefix + "job-name=" + metadata().name + "," + prefix +
         "operator-name=" + std::string(trainer_.operated);
}

bool TrainingJob::any_replica(const char* count) const {
  const Json& roles = object_or_empty(status(), {"replicaStatuses"});
  return std::any_of(roles.begin(), roles.end(),
                     [&](const Json& role) { return count_at(role, count, 0) > 0; });
}

/// The first of the conditions that says so decides.
std::optional<Finished> TrainingJob::finished() const {
  for (const Json& condition : list_or_empty(status(), "conditions")) {
    const std::string& type = text_at(condition, "type");
    const bool ends = type == "Succeeded" || type == "Failed";
    if (ends && text_at(condition, "status") == "True") {
      return Finished{type == "Succeeded", text_at(condition, "message")};
    }
  }
  return std::nullopt;
}

bool TrainingJob::pods_ready() const {
  const Json* running = condition_in(status(), "Running");
  return running && text_at(*running, "status") == "True";
}

Json TrainingJob::released() const {
  Json after = status();
  if (!object_at(after, "replicaStatuses")) return after;
  for (Json& role : after["replicaStatuses"]) {
    if (role.is_object() && role.contains("active")) role["active"] = 0;
  }
  return after;
}

/// As the operator itself writes it: without empty texts and without counts of nothing.
Json TrainingJob::shown_status() const {
  Json shown = status();
  const auto drop = [](Json& holder, auto unwanted) {
    if (!holder.is_object()) return;
    for (auto at = holder.begin(); at != holder.end();) {
      at = unwanted(*at) ? holder.erase(at) : std::next(at);
    }
  };
  if (list_at(shown, "conditions")) {
    for (Json& condition : shown["conditions"])
      drop(condition, [](const Json& v) { return v == ""; });
  }
  if (object_at(shown, "replicaStatuses")) {
    for (Json& role : shown["replicaStatuses"]) drop(role, [](const Json& v) { return v == 0; });
  }
  return shown;
}

Json TrainingJob::release_patch() const {
  return active() ? status_becomes(released()) : Json::object();
}

Json TrainingJob::final_patch(bool success, const std::string& message, TimePoint now) const {
  if (finished()) return Json::object();
  Json after = released();
  const std::string time = format_rfc3339(now);
  put_condition(&after, Json{{"type", success ? "Succeeded" : "Failed"},
                             {"status", "True"},
                             {"reason", "MultiKueueAdapter"},
                             {"message", message},
                             {"lastUpdateTime", time},
                             {"lastTransitionTime", time}});
  after["completionTime"] = time;
  return status_becomes(after);
}

class TrainingJobKind final : public JobKind {
 public:
  explicit TrainingJobKind(const Trainer& trainer) : trainer_(trainer), shape_(shape_of(trainer)) {}

  std::string_view framework() const override { return trainer_.framework; }
  const api::ResourceInfo& resource() const override { return trainer_.resource; }
  Result<JobPtr> decode(const Json& object, api::TemplatePool*) const override {
    auto metadata = api::read_metadata(object);
    if (!metadata) return metadata.error();
    return std::make_shared<const TrainingJob>(*this, trainer_, shape_, object,
                                               std::move(*metadata));
  }
  UpdateChecks update_checks() const override {
    return trainer_.mpi ? UpdateChecks::change_first : UpdateChecks::change_only;
  }

 private:
  const Trainer& trainer_;
  const JobShape shape_;
};

}  // namespace

std::vector<std::shared_ptr<const JobKind>> kubeflow_kinds() {
  static const auto kinds = [] {
    std::vector<std::shared_ptr<const JobKind>> all;
    for (const Trainer& trainer : trainers()) {
      all.push_back(std::make_shared<const TrainingJobKind>(trainer));
    }
    return all;
  }();
  return kinds;
}

}  // namespace regatta::jobs
