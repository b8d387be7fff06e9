#include "jobs/spark/kind.h"

#include "jobs/templated_job.h"
#include "lib/api/metadata.h"
#include "lib/api/names.h"
#include "lib/api/quantity.h"
#include "lib/base/json_access.h"
#include "lib/base/lower_case.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace regatta::jobs {
namespace {

constexpr api::ResourceInfo spark_resource{"sparkoperator.k8s.io", "v1beta2", "SparkApplication",
                                           "sparkapplications"};

/// The operator sends no other pods than those of these two.
struct SparkRole {
  const char* name;       ///< of the pod set, and of its field in the spec
  const char* container;  ///< in which Spark runs
};
constexpr SparkRole roles[] = {{"driver", "spark-kubernetes-driver"},
                               {"executor", "spark-kubernetes-executor"}};

const JobShape& spark_shape() {
  static const JobShape shape{.managed_by = Json::json_pointer(),
                              .topology = TopologyChecks::unreadable_first};
  return shape;
}

// --- what the pods ask for ----------------------------------------------------------------------

/// "2g" of Spark is "2Gi" of Kubernetes; a number alone counts mebibytes. Text in another form is
/// left as it is.
std::string memory_quantity(const std::string& given) {
  const std::size_t digits = given.find_first_not_of("0123456789");
  const std::string number = given.substr(0, digits);
  std::string unit = digits == std::string::npos ? "m" : lower_case(given.substr(digits));
  if (unit.size() == 2 && unit[1] == 'b') unit.pop_back();
  if (number.empty() || unit.size() != 1) return given;
  const std::size_t known = std::string_view("bkmgtp").find(unit[0]);
  if (known == std::string_view::npos) return given;
  constexpr const char* suffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
  return number + suffixes[known];
}

void put_quantity(Json& holder, const std::string& resource, const std::string& text) {
  if (text.empty()) return;
  const auto read = api::Quantity::parse(text);
  holder[resource] = read ? read->str() : text;
}

/// As upstream counts them: `cores` alone request no CPU, and `memoryOverhead` no memory.
Json resources_of(const Json& role) {
  Json requests = Json::object(), limits = Json::object();
  put_quantity(requests, "cpu", text_at(role, "coreRequest"));
  put_quantity(requests, "memory", memory_quantity(text_at(role, "memory")));
  put_quantity(limits, "cpu", text_at(role, "coreLimit"));
  put_quantity(limits, "memory", memory_quantity(text_at(role, "memoryLimit")));
  const Json& gpu = object_or_empty(role, {"gpu"});
  if (const std::string& name = text_at(gpu, "name"); !name.empty()) {
    put_quantity(limits, name, std::to_string(integer_at(gpu, "quantity").value_or(0)));
  }
  Json out = Json::object();
  if (!requests.empty()) out["requests"] = std::move(requests);
  if (!limits.empty()) out["limits"] = std::move(limits);
  return out;
}

/// `from` fills what `into` does not have.
void fill(Json& into, const Json& from) {
  for (const auto& [key, value] : from.items()) {
    if (!into.contains(key)) into[key] = value;
  }
}

/// A pod of the role as its Workload shows it. Of the role's own template only labels and
/// annotations count.
Json pod_of(const Json& role, const char* container) {
  Json metadata = Json::object();
  for (const char* map : {"labels", "annotations"}) {
    Json all = object_or_empty(role, {map});
    fill(all, object_or_empty(role, {"template", "metadata", map}));
    if (!all.empty()) metadata[map] = std::move(all);
  }
  Json spark{{"name", container}};
  if (Json resources = resources_of(role); !resources.empty()) spark["resources"] = resources;
  Json spec{{"containers", Json::array({std::move(spark)})}};
  for (const char* field : {"nodeSelector", "tolerations", "affinity", "priorityClassName"}) {
    if (role.contains(field)) spec[field] = role[field];
  }
  Json out{{"spec", std::move(spec)}};
  if (!metadata.empty()) out["metadata"] = std::move(metadata);
  return out;
}

std::vector<PodSlot> slots_of(const Json& object) {
  std::vector<PodSlot> slots;
  for (const SparkRole& role : roles) {
    const Json& given = object_or_empty(object, {"spec", role.name});
    PodSlot& slot = slots.emplace_back();
    slot.name = role.name;
    slot.path = Json::json_pointer("/spec/" + slot.name);
    slot.field = "spec." + slot.name;
    slot.annotated_field = slot.field;
    slot.count = &role == &roles[0] ? 1 : count_at(given, "instances", 0);
    slot.asked = pod_of(given, role.container);
  }
  return slots;
}

// --- what an admission adds ---------------------------------------------------------------------

const Json::json_pointer gates_path("/template/spec/schedulingGates");

/// Gates have no field of their own. So a role that is started has a template, and keeps it.
Json bare_template(const char* container) {
  return Json{{"spec", {{"containers", Json::array({Json{{"name", container}}})}}}};
}

/// The fields of a role that a start adds to, in the form of a pod template.
Json as_template(const Json& role) {
  Json out{{"metadata", Json::object()}, {"spec", Json::object()}};
  for (const char* map : {"labels", "annotations"}) {
    if (role.contains(map)) out["metadata"][map] = role[map];
  }
  for (const char* field : {"nodeSelector", "tolerations"}) {
    if (role.contains(field)) out["spec"][field] = role[field];
  }
  if (role.contains(gates_path)) out["spec"]["schedulingGates"] = role.at(gates_path);
  return out;
}

void take(Json& role, const Json& from, const char* field) {
  if (from.contains(field)) {
    role[field] = from[field];
  } else {
    role.erase(field);
  }
}

/// The reverse of as_template().
void write_back(Json& role, const Json& filled, const char* container) {
  if (!object_at(role, "template")) role["template"] = bare_template(container);
  for (const char* map : {"labels", "annotations"}) take(role, filled["metadata"], map);
  for (const char* field : {"nodeSelector", "tolerations"}) take(role, filled["spec"], field);
  if (filled["spec"].contains("schedulingGates")) {
    role[gates_path] = filled["spec"]["schedulingGates"];
  } else if (role.contains(gates_path)) {
    role["template"]["spec"].erase("schedulingGates");
  }
}

class SparkApplication final : public TemplatedJob {
 public:
  SparkApplication(const Json& object, api::ObjectMeta metadata)
      : TemplatedJob(object, std::move(metadata), spark_shape(), slots_of(object)) {}

  const JobKind& kind() const override { return *spark_application_kind(); }
  std::string pod_selector() const override {
    return "sparkoperator.k8s.io/app-name=" + metadata().name;
  }
  bool active() const override;
  std::optional<Finished> finished() const override;
  bool pods_ready() const override;
  std::vector<api::ReclaimablePod> reclaimable_pods() const override { return {}; }
  void check(const CheckOptions& options, api::ErrorList* errors) const override;
  // MultiKueue does not run it.
  Json release_patch() const override { return Json::object(); }
  Json final_patch(bool, const std::string&, TimePoint) const override { return Json::object(); }

 protected:
  Result<Json> started(const std::vector<PodSetInfo>& infos) const override;
  Json restored_object(const api::Workload& workload) const override;

 private:
  const std::string& state() const { return text_at(status(), {"applicationState", "state"}); }
};

/// From its submission until its operator has removed its pods. Whatever it does, one that is
/// suspended becomes SUSPENDING and then SUSPENDED, unless it has ended.
bool SparkApplication::active() const {
  constexpr std::array<std::string_view, 7> states = {
      "SUBMITTED", "RUNNING", "SUCCEEDING", "FAILING", "INVALIDATING", "SUSPENDING", "UNKNOWN"};
  return std::find(states.begin(), states.end(), state()) != states.end();
}

/// SUBMISSION_FAILED is no end: the operator submits it again, or gives it up as FAILED.
std::optional<Finished> SparkApplication::finished() const {
  const bool success = state() == "COMPLETED";
  if (!success && state() != "FAILED") return std::nullopt;
  return Finished{success, text_at(status(), {"applicationState", "errorMessage"})};
}

/// The driver runs, and as many executors as were asked for run or ended well.
bool SparkApplication::pods_ready() const {
  if (state() != "RUNNING") return false;
  const Json& executors = object_or_empty(status(), {"executorState"});
  const auto there = std::count_if(executors.begin(), executors.end(), [](const Json& one) {
    return one == "RUNNING" || one == "COMPLETED";
  });
  return there >= slots().back().count;
}

void SparkApplication::check(const CheckOptions& options, api::ErrorList* errors) const {
  const std::string& mode = text_at(spec(), "mode");
  if (mode != "cluster") {
    errors->invalid("spec.mode", api::in_quotes(mode),
                    "only Cluster mode is supported for a kueue managed job");
  }
  const bool elastic = options.elastic &&
                       metadata().annotation(std::string(api::annotations::elastic_job)) == "true";
  if (true_at(object_or_empty(spec(), {"dynamicAllocation"}), "enabled") && !elastic) {
    errors->invalid(
        "spec.dynamicAllocation.enabled", "true",
        "a kueue managed job can use dynamicAllocation only when the "
        "ElasticJobsViaWorkloadSlices feature gate is on and the job is an elastic job");
  }
  TemplatedJob::check(options, errors);
}

Result<Json> SparkApplication::started(const std::vector<PodSetInfo>& infos) const {
  Json after = object();
  for (std::size_t i = 0; i < std::size(roles); ++i) {
    Json& role = after["spec"][roles[i].name];
    auto filled = with_info(as_template(role), infos[i]);
    if (!filled) return filled.error();
    write_back(role, *filled, roles[i].container);
  }
  return after;
}

Json SparkApplication::restored_object(const api::Workload& workload) const {
  Json after = object();
  const auto& sets = workload.spec.pod_sets;
  for (std::size_t i = 0; i < std::size(roles) && sets.size() == std::size(roles); ++i) {
    Json& role = after["spec"][roles[i].name];
    write_back(role, restored(as_template(role), sets[i].pod_template.json()), roles[i].container);
  }
  return after;
}

class SparkApplicationKind final : public JobKind {
 public:
  std::string_view framework() const override { return "sparkoperator.k8s.io/sparkapplication"; }
  const api::ResourceInfo& resource() const override { return spark_resource; }
  bool may_be_prebuilt() const override { return false; }
  bool dispatched() const override { return false; }
  bool checks_managed_only() const override { return true; }
  UpdateChecks update_checks() const override { return UpdateChecks::change_first; }
  Result<JobPtr> decode(const Json& object, api::TemplatePool*) const override {
    auto metadata = api::read_metadata(object);
    if (!metadata) return metadata.error();
    for (const SparkRole& role : roles) {
      if (object_at(object_or_empty(object, {"spec"}), role.name)) continue;
      return Error(Errc::invalid, std::string("spec.") + role.name + " is missing");
    }
    return std::make_shared<const SparkApplication>(object, std::move(*metadata));
  }
};

}  // namespace

std::shared_ptr<const JobKind> spark_application_kind() {
  static const auto kind = std::make_shared<const SparkApplicationKind>();
  return kind;
}

}  // namespace regatta::jobs
