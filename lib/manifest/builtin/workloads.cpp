#include "lib/manifest/builtin/workloads.h"

#include "lib/manifest/builtin/access.h"
#include "lib/manifest/builtin/generic.h"
#include "lib/manifest/builtin/human.h"
#include "lib/manifest/builtin/pod_spec.h"
#include "lib/manifest/builtin/strategies.h"

#include <nlohmann/json.hpp>

namespace regatta::manifest::builtin {

namespace {

std::string requirement_text(const Json& requirement) {
  const std::string& key = text_at(requirement, "key");
  const std::string& how = text_at(requirement, "operator");
  if (how == "Exists") return key;
  if (how == "DoesNotExist") return "!" + key;
  std::string values;
  for (const Json& value : list_or_empty(requirement, "values")) {
    if (value.is_string()) values += (values.empty() ? "" : ",") + value.get<std::string>();
  }
  return key + (how == "In" ? " in (" : " notin (") + values + ")";
}

/// Columns and cells about the template, the last ones of most tables.
void add_template_columns(std::vector<TableColumn>* columns, bool selector) {
  columns->push_back(column("Containers", "string", "Names of the containers.", 1));
  columns->push_back(column("Images", "string", "Images of the containers.", 1));
  if (selector) columns->push_back(column("Selector", "string", "Labels of its pods.", 1));
}

void add_template_cells(std::vector<Json>* cells, const Json& spec, bool selector) {
  const Json& pod = object_or_empty(spec, {"template", "spec"});
  cells->emplace_back(container_names(pod));
  cells->emplace_back(container_images(pod));
  if (selector) cells->emplace_back(selector_text(object_or_empty(spec, {"selector"})));
}

/// The part that all of these kinds share.
class PodKeeperStrategy : public GenericStrategy {
 public:
  PodKeeperStrategy() : GenericStrategy({.status = true, .generation = true}) {}

  FieldErrors validate_create(const Json& object) const override {
    FieldErrors errors;
    const Json& spec = object_or_empty(object, {"spec"});
    for (const char* name : {"replicas", "minReadySeconds", "revisionHistoryLimit"}) {
      check_not_negative(spec, name, "spec", &errors);
    }
    validate_pod_keeper(spec, &errors);
    return errors;
  }

  FieldErrors validate_update(const Json& object, const Json& old) const override {
    FieldErrors errors = validate_create(object);
    check_immutable(object_or_empty(object, {"spec"}), object_or_empty(old, {"spec"}), "selector",
                    "spec", &errors);
    return errors;
  }
};

class ReplicaSetStrategy final : public PodKeeperStrategy {
 public:
  void set_defaults(Json& set) const override {
    Json& spec = object_in(set, "spec");
    default_to(spec, "replicas", std::int64_t{1});
    if (member(spec, "template") != nullptr) default_pod_template(spec["template"]);
  }

  std::vector<TableColumn> columns() const override {
    std::vector<TableColumn> columns = {
        name_column(), column("Desired", "integer", "Replicas wanted."),
        column("Current", "integer", "Replicas there are."),
        column("Ready", "integer", "Replicas that are ready."), age_column()};
    add_template_columns(&columns, true);
    return columns;
  }
  std::vector<Json> cells(const Json& set, TimePoint now) const override {
    const Json& spec = object_or_empty(set, {"spec"});
    const Json& status = object_or_empty(set, {"status"});
    std::vector<Json> cells = {name_cell(set), count_in(spec, "replicas"),
                               count_in(status, "replicas"), count_in(status, "readyReplicas"),
                               age_cell(set, now)};
    add_template_cells(&cells, spec, true);
    return cells;
  }
  std::vector<std::pair<std::string, std::string>> selectable_fields(
      const Json& set) const override {
    const std::int64_t replicas = count_in(object_or_empty(set, {"status"}), "replicas");
    return {{"status.replicas", std::to_string(replicas)}};
  }

 protected:
  Json initial_status() const override { return Json{{"replicas", 0}}; }
};

class StatefulSetStrategy final : public PodKeeperStrategy {
 public:
  void set_defaults(Json& set) const override {
    Json& spec = object_in(set, "spec");
    default_to(spec, "replicas", std::int64_t{1});
    default_to(spec, "revisionHistoryLimit", std::int64_t{10});
    default_to(spec, "podManagementPolicy", "OrderedReady");
    Json& strategy = object_in(spec, "updateStrategy");
    default_to(strategy, "type", "RollingUpdate");
    if (text_at(strategy, "type") == "RollingUpdate") {
      default_to(object_in(strategy, "rollingUpdate"), "partition", std::int64_t{0});
    }
    Json& retention = object_in(spec, "persistentVolumeClaimRetentionPolicy");
    default_to(retention, "whenDeleted", "Retain");
    default_to(retention, "whenScaled", "Retain");
    default_pod_template(object_in(spec, "template"));
  }

  FieldErrors validate_update(const Json& set, const Json& old) const override {
    FieldErrors errors = validate_create(set);
    Json spec = object_or_empty(set, {"spec"});
    const Json& before = object_or_empty(old, {"spec"});
    for (const char* name :
         {"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
          "persistentVolumeClaimRetentionPolicy", "minReadySeconds"}) {
      copy_member(spec, before, name);
    }
    if (spec != before) {
      errors.push_back(forbidden(
          "spec",
          "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
          "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
          "'minReadySeconds' are forbidden"));
    }
    return errors;
  }

  std::vector<TableColumn> columns() const override {
    std::vector<TableColumn> columns = {
        name_column(), column("Ready", "string", "Ready replicas of those wanted."), age_column()};
    add_template_columns(&columns, false);
    return columns;
  }
  std::vector<Json> cells(const Json& set, TimePoint now) const override {
    const Json& spec = object_or_empty(set, {"spec"});
    const std::string ready =
        std::to_string(count_in(object_or_empty(set, {"status"}), "readyReplicas")) + "/" +
        std::to_string(count_in(spec, "replicas"));
    std::vector<Json> cells = {name_cell(set), ready, age_cell(set, now)};
    add_template_cells(&cells, spec, false);
    return cells;
  }

 protected:
  Json initial_status() const override { return Json{{"replicas", 0}, {"availableReplicas", 0}}; }
};

}  // namespace

std::string selector_text(const Json& selector) {
  const Json& labels = object_or_empty(selector, {"matchLabels"});
  std::string all = labels.empty() ? "" : labels_text(labels);
  for (const Json& requirement : list_or_empty(selector, "matchExpressions")) {
    all += (all.empty() ? "" : ",") + requirement_text(requirement);
  }
  return all.empty() ? "<none>" : all;
}

void validate_pod_keeper(const Json& spec, FieldErrors* errors) {
  const Json* selector = member(spec, "selector");
  if (selector == nullptr) {
    errors->push_back(required("spec.selector"));
  } else if (object_or_empty(*selector, {"matchLabels"}).empty() &&
             list_or_empty(*selector, "matchExpressions").empty()) {
    errors->push_back(invalid("spec.selector", *selector, "empty selector is invalid"));
  }
  const Json& labels = object_or_empty(spec, {"template", "metadata", "labels"});
  for (const auto& [key, value] : object_or_empty(spec, {"selector", "matchLabels"}).items()) {
    const auto found = labels.find(key);
    if (found != labels.end() && *found == value) continue;
    errors->push_back(invalid("spec.template.metadata.labels", labels,
                              "`selector` does not match template `labels`"));
    break;
  }
  validate_pod_template(object_or_empty(spec, {"template"}), "spec.template", errors);
  const std::string& restart = text_at(spec, {"template", "spec", "restartPolicy"});
  if (restart != "Always") {
    errors->push_back(not_supported("spec.template.spec.restartPolicy", restart, {"Always"}));
  }
}

StrategyPtr replica_set_strategy() {
  return std::make_shared<ReplicaSetStrategy>();
}

StrategyPtr stateful_set_strategy() {
  return std::make_shared<StatefulSetStrategy>();
}

}  // namespace regatta::manifest::builtin
