#include "lib/manifest/builtin/access.h"
#include "lib/manifest/builtin/generic.h"
#include "lib/manifest/builtin/pod_spec.h"
#include "lib/manifest/builtin/strategies.h"
#include "lib/manifest/builtin/workloads.h"

#include <nlohmann/json.hpp>

namespace regatta::manifest::builtin {

namespace {

class DeploymentStrategy final : public GenericStrategy {
 public:
  DeploymentStrategy() : GenericStrategy({.status = true, .generation = true}) {}

  void set_defaults(Json& deployment) const override {
    Json& spec = object_in(deployment, "spec");
    default_to(spec, "replicas", std::int64_t{1});
    default_to(spec, "revisionHistoryLimit", std::int64_t{10});
    default_to(spec, "progressDeadlineSeconds", std::int64_t{600});
    Json& strategy = object_in(spec, "strategy");
    default_to(strategy, "type", "RollingUpdate");
    if (text_at(strategy, "type") == "RollingUpdate") {
      Json& rolling = object_in(strategy, "rollingUpdate");
      default_to(rolling, "maxUnavailable", "25%");
      default_to(rolling, "maxSurge", "25%");
    }
    default_pod_template(object_in(spec, "template"));
    Json& status = object_in(deployment, "status");
    for (const char* name : {"replicas", "readyReplicas", "updatedReplicas", "availableReplicas",
                             "unavailableReplicas", "observedGeneration", "conditions"}) {
      drop_empty(status, name);
    }
  }

  FieldErrors validate_create(const Json& deployment) const override {
    FieldErrors errors;
    const Json& spec = object_or_empty(deployment, {"spec"});
    check_not_negative(spec, "replicas", "spec", &errors);
    for (const char* name :
         {"minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"}) {
      check_not_negative(spec, name, "spec", &errors);
    }
    const auto deadline = integer_at(spec, "progressDeadlineSeconds");
    if (deadline && *deadline <= integer_at(spec, "minReadySeconds").value_or(0)) {
      errors.push_back(invalid("spec.progressDeadlineSeconds", *deadline,
                               "must be greater than minReadySeconds"));
    }
    const std::string& type = text_at(spec, {"strategy", "type"});
    if (type == "Recreate" && member(spec, {"strategy", "rollingUpdate"}) != nullptr) {
      errors.push_back(forbidden("spec.strategy.rollingUpdate",
                                 "may not be specified when strategy `type` is 'Recreate'"));
    } else if (type != "Recreate" && type != "RollingUpdate") {
      errors.push_back(not_supported("spec.strategy.type", type, {"Recreate", "RollingUpdate"}));
    }
    validate_pod_keeper(spec, &errors);
    return errors;
  }

  FieldErrors validate_update(const Json& deployment, const Json& old) const override {
    FieldErrors errors = validate_create(deployment);
    check_immutable(object_or_empty(deployment, {"spec"}), object_or_empty(old, {"spec"}),
                    "selector", "spec", &errors);
    return errors;
  }

  std::vector<TableColumn> columns() const override {
    return {name_column(),
            column("Ready", "string", "Ready replicas of those wanted."),
            column("Up-to-date", "string", "Replicas made of the current template."),
            column("Available", "string", "Replicas that have been ready long enough."),
            age_column(),
            column("Containers", "string", "Names of the containers.", 1),
            column("Images", "string", "Images of the containers.", 1),
            column("Selector", "string", "Labels of its pods.", 1)};
  }

  std::vector<Json> cells(const Json& deployment, TimePoint now) const override {
    const Json& spec = object_or_empty(deployment, {"spec"});
    const Json& status = object_or_empty(deployment, {"status"});
    const Json& pod = object_or_empty(spec, {"template", "spec"});
    const std::string ready = std::to_string(integer_at(status, "readyReplicas").value_or(0)) +
                              "/" + std::to_string(integer_at(spec, "replicas").value_or(0));
    return {name_cell(deployment),
            ready,
            integer_at(status, "updatedReplicas").value_or(0),
            integer_at(status, "availableReplicas").value_or(0),
            age_cell(deployment, now),
            container_names(pod),
            container_images(pod),
            selector_text(object_or_empty(spec, {"selector"}))};
  }
};

}  // namespace

StrategyPtr deployment_strategy() {
  return std::make_shared<DeploymentStrategy>();
}

}  // namespace regatta::manifest::builtin
