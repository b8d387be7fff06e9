#include "lib/api/quantity.h"
#include "lib/manifest/builtin/access.h"
#include "lib/manifest/builtin/generic.h"
#include "lib/manifest/builtin/human.h"
#include "lib/manifest/builtin/pod_spec.h"
#include "lib/manifest/builtin/strategies.h"
#include "lib/manifest/builtin/workloads.h"

#include <nlohmann/json.hpp>

#include <map>

namespace regatta::manifest::builtin {

namespace {

/// What tables show between the name and the age, and what a kind refuses.
struct Shown {
  Traits traits;
  std::vector<TableColumn> columns;
  std::vector<Json> (*cells)(const Json& object, TimePoint now) = nullptr;
  void (*validate)(const Json& object, FieldErrors* errors) = nullptr;
  const char* status = "{}";
  std::vector<TableColumn> wide_columns{};  ///< after the age
  std::vector<Json> (*wide_cells)(const Json& object) = nullptr;
};

class ShownStrategy final : public GenericStrategy {
 public:
  explicit ShownStrategy(Shown shown) : GenericStrategy(shown.traits), shown_(std::move(shown)) {}

  FieldErrors validate_create(const Json& object) const override {
    FieldErrors errors;
    if (shown_.validate != nullptr) shown_.validate(object, &errors);
    return errors;
  }
  FieldErrors validate_update(const Json& object, const Json&) const override {
    return validate_create(object);
  }

  std::vector<TableColumn> columns() const override {
    std::vector<TableColumn> columns = {name_column()};
    columns.insert(columns.end(), shown_.columns.begin(), shown_.columns.end());
    columns.push_back(age_column());
    columns.insert(columns.end(), shown_.wide_columns.begin(), shown_.wide_columns.end());
    return columns;
  }

  std::vector<Json> cells(const Json& object, TimePoint now) const override {
    std::vector<Json> cells = {name_cell(object)};
    for (Json& cell : shown_.cells(object, now)) cells.push_back(std::move(cell));
    cells.emplace_back(age_cell(object, now));
    if (shown_.wide_cells == nullptr) return cells;
    for (Json& cell : shown_.wide_cells(object)) cells.push_back(std::move(cell));
    return cells;
  }

 protected:
  Json initial_status() const override { return Json::parse(shown_.status); }

 private:
  Shown shown_;
};

std::string or_none(std::string text) {
  return text.empty() ? "<none>" : std::move(text);
}

const Json& spec_of(const Json& object) {
  return object_or_empty(object, {"spec"});
}
const Json& status_of(const Json& object) {
  return object_or_empty(object, {"status"});
}

/// A number or a percentage.
std::string amount(const Json& object, const char* name, const char* missing) {
  const Json* value = member(object, name);
  if (value == nullptr) return missing;
  return value->is_string() ? value->get<std::string>() : value->dump();
}

/// The last columns in the tables of kinds that make pods.
std::vector<TableColumn> template_columns() {
  return {column("Containers", "string", "Names of the containers.", 1),
          column("Images", "string", "Images of the containers.", 1),
          column("Selector", "string", "Labels of its pods.", 1)};
}

std::vector<Json> template_cells(const Json& spec, std::string selector) {
  const Json& pod = object_or_empty(spec, {"template", "spec"});
  return {container_names(pod), container_images(pod), std::move(selector)};
}

Shown replication_controllers() {
  Shown shown{.traits = {.status = true, .generation = true}};
  shown.columns = {column("Desired", "integer", "Replicas wanted."),
                   column("Current", "integer", "Replicas there are."),
                   column("Ready", "integer", "Replicas that are ready.")};
  shown.wide_columns = template_columns();
  shown.cells = [](const Json& controller, TimePoint) -> std::vector<Json> {
    const Json& status = status_of(controller);
    return {count_in(spec_of(controller), "replicas"), count_in(status, "replicas"),
            count_in(status, "readyReplicas")};
  };
  shown.wide_cells = [](const Json& controller) {
    const Json& spec = spec_of(controller);
    return template_cells(spec, labels_text(object_or_empty(spec, {"selector"})));
  };
  return shown;
}

Shown daemon_sets() {
  Shown shown{.traits = {.status = true, .generation = true}};
  shown.columns = {column("Desired", "integer", "Nodes that shall have a pod."),
                   column("Current", "integer", "Nodes that have one."),
                   column("Ready", "integer", "Nodes with a ready one."),
                   column("Up-to-date", "integer", "Nodes with one of the current template."),
                   column("Available", "integer", "Nodes with one that has long been ready."),
                   column("Node Selector", "string", "Labels of the nodes.")};
  shown.wide_columns = template_columns();
  shown.cells = [](const Json& set, TimePoint) -> std::vector<Json> {
    const Json& status = status_of(set);
    return {count_in(status, "desiredNumberScheduled"),
            count_in(status, "currentNumberScheduled"),
            count_in(status, "numberReady"),
            count_in(status, "updatedNumberScheduled"),
            count_in(status, "numberAvailable"),
            labels_text(object_or_empty(set, {"spec", "template", "spec", "nodeSelector"}))};
  };
  shown.wide_cells = [](const Json& set) {
    const Json& spec = spec_of(set);
    return template_cells(spec, selector_text(object_or_empty(spec, {"selector"})));
  };
  return shown;
}

Shown cron_jobs() {
  Shown shown{.traits = {.status = true, .generation = true}};
  shown.columns = {column("Schedule", "string", "When Jobs start."),
                   column("Timezone", "string", "The time zone of the schedule."),
                   column("Suspend", "boolean", "Whether none start."),
                   column("Active", "integer", "Jobs that run."),
                   column("Last Schedule", "string", "Time since the last start.")};
  shown.wide_columns = template_columns();
  shown.cells = [](const Json& job, TimePoint now) -> std::vector<Json> {
    const std::string& last = text_at(status_of(job), "lastScheduleTime");
    return {text_at(spec_of(job), "schedule"), or_none(text_at(spec_of(job), "timeZone")),
            true_at(spec_of(job), "suspend"), list_or_empty(status_of(job), "active").size(),
            last.empty() ? "<none>" : age_of(last, now)};
  };
  shown.wide_cells = [](const Json& job) {
    const Json& spec = object_or_empty(job, {"spec", "jobTemplate", "spec"});
    return template_cells(spec, selector_text(object_or_empty(spec, {"selector"})));
  };
  return shown;
}

/// "cpu: <unknown>/80%" for each metric of a resource.
std::string targets_of(const Json& scaler) {
  std::string all;
  for (const Json& metric : list_or_empty(spec_of(scaler), "metrics")) {
    const Json& resource = object_or_empty(metric, {"resource"});
    const std::string wanted =
        amount(object_or_empty(resource, {"target"}), "averageUtilization", "<auto>");
    all += (all.empty() ? "" : ", ") + text_at(resource, "name") + ": <unknown>/" + wanted +
           (wanted == "<auto>" ? "" : "%");
  }
  return or_none(all);
}

Shown autoscalers() {
  Shown shown{.traits = {.status = true}};
  shown.columns = {column("Reference", "string", "What is scaled."),
                   column("Targets", "string", "What it is scaled by."),
                   column("MinPods", "string", "Fewest replicas."),
                   column("MaxPods", "string", "Most replicas."),
                   column("Replicas", "string", "Replicas there are.")};
  shown.status = R"({"desiredReplicas":0,"currentMetrics":null})";
  shown.cells = [](const Json& scaler, TimePoint) -> std::vector<Json> {
    const Json& target = object_or_empty(scaler, {"spec", "scaleTargetRef"});
    return {text_at(target, "kind") + "/" + text_at(target, "name"), targets_of(scaler),
            amount(spec_of(scaler), "minReplicas", "<unset>"),
            amount(spec_of(scaler), "maxReplicas", "0"),
            amount(status_of(scaler), "currentReplicas", "0")};
  };
  return shown;
}

/// "pods: 1/5, cpu: 0/2" of the resources with names that start with "limits.", or of all others.
std::string quota_text(const Json& quota, bool limits) {
  std::string all;
  for (const auto& [name, hard] : object_or_empty(quota, {"status", "hard"}).items()) {
    if (name.starts_with("limits.") != limits) continue;
    const std::string used = amount(object_or_empty(quota, {"status", "used"}), name.c_str(), "0");
    all += (all.empty() ? "" : ", ") + name + ": " + used + "/" +
           (hard.is_string() ? hard.get<std::string>() : hard.dump());
  }
  return all;
}

Shown quotas() {
  Shown shown{.traits = {.status = true}};
  shown.columns = {column("Request", "string", "Requests used of those allowed."),
                   column("Limit", "string", "Limits used of those allowed.")};
  shown.validate = [](const Json& quota, FieldErrors* errors) {
    for (const auto& [name, amount] : object_or_empty(quota, {"spec", "hard"}).items()) {
      if (!amount.is_string()) continue;
      const auto parsed = api::Quantity::parse(amount.get_ref<const std::string&>());
      if (parsed && parsed->is_negative()) {
        errors->push_back(invalid(key_path("spec.hard", name), parsed->str(),
                                  "must be greater than or equal to 0"));
      }
    }
  };
  shown.cells = [](const Json& quota, TimePoint) -> std::vector<Json> {
    return {quota_text(quota, false), quota_text(quota, true)};
  };
  return shown;
}

Shown budgets() {
  Shown shown{.traits = {.status = true, .generation = true}};
  shown.columns = {column("Min Available", "string", "Pods that must stay."),
                   column("Max Unavailable", "string", "Pods that may be away."),
                   column("Allowed Disruptions", "integer", "Pods that may go now.")};
  shown.status =
      R"({"disruptionsAllowed":0,"currentHealthy":0,"desiredHealthy":0,"expectedPods":0})";
  shown.validate = [](const Json& budget, FieldErrors* errors) {
    const Json& spec = spec_of(budget);
    if (member(spec, "minAvailable") != nullptr && member(spec, "maxUnavailable") != nullptr) {
      errors->push_back(
          invalid("spec", spec, "minAvailable and maxUnavailable cannot be both set"));
    }
    for (const char* name : {"minAvailable", "maxUnavailable"}) {
      check_not_negative(spec, name, "spec", errors);
    }
  };
  shown.cells = [](const Json& budget, TimePoint) -> std::vector<Json> {
    return {amount(spec_of(budget), "minAvailable", "N/A"),
            amount(spec_of(budget), "maxUnavailable", "N/A"),
            integer_at(status_of(budget), "disruptionsAllowed").value_or(0)};
  };
  return shown;
}

}  // namespace

StrategyPtr shown_strategy(const std::string& plural) {
  static const std::map<std::string, Shown (*)()> kinds = {
      {"cronjobs", cron_jobs},
      {"daemonsets", daemon_sets},
      {"horizontalpodautoscalers", autoscalers},
      {"poddisruptionbudgets", budgets},
      {"replicationcontrollers", replication_controllers},
      {"resourcequotas", quotas},
  };
  const auto found = kinds.find(plural);
  if (found == kinds.end()) return std::make_shared<GenericStrategy>();
  return std::make_shared<ShownStrategy>(found->second());
}

}  // namespace regatta::manifest::builtin
