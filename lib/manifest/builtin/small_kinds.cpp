#include "lib/manifest/builtin/access.h"
#include "lib/manifest/builtin/generic.h"
#include "lib/manifest/builtin/strategies.h"

#include <nlohmann/json.hpp>

namespace regatta::manifest::builtin {

namespace {

constexpr std::int64_t user_priority_max = 1'000'000'000;
constexpr std::int64_t cluster_critical = 2'000'000'000;
constexpr std::int64_t node_critical = 2'000'001'000;

class LeaseStrategy final : public GenericStrategy {
 public:
  LeaseStrategy() : GenericStrategy({.unconditional_update = false}) {}

  void set_defaults(Json& lease) const override { object_in(lease, "spec"); }

  FieldErrors validate_create(const Json& lease) const override {
    FieldErrors errors;
    const Json& spec = object_or_empty(lease, {"spec"});
    const auto duration = integer_at(spec, "leaseDurationSeconds");
    if (duration && *duration <= 0) {
      errors.push_back(invalid("spec.leaseDurationSeconds", *duration, "must be greater than 0"));
    }
    check_not_negative(spec, "leaseTransitions", "spec", &errors);
    return errors;
  }
  FieldErrors validate_update(const Json& lease, const Json&) const override {
    return validate_create(lease);
  }

  std::vector<TableColumn> columns() const override {
    return {name_column(), column("Holder", "string", "The holder of the lease."), age_column()};
  }
  std::vector<Json> cells(const Json& lease, TimePoint now) const override {
    return {name_cell(lease), text_at(lease, {"spec", "holderIdentity"}), age_cell(lease, now)};
  }
  bool allow_create_on_update() const override { return true; }
};

class PriorityClassStrategy final : public GenericStrategy {
 public:
  PriorityClassStrategy() : GenericStrategy({.generation = true, .versioned = "value"}) {}

  void set_defaults(Json& object) const override {
    default_to(object, "value", std::int64_t{0});
    default_to(object, "preemptionPolicy", "PreemptLowerPriority");
    drop_empty(object, "globalDefault");
    drop_empty(object, "description");
  }

  FieldErrors validate_create(const Json& object) const override {
    FieldErrors errors;
    const std::string& name = name_cell(object);
    const std::int64_t value = integer_at(object, "value").value_or(0);
    if (name.starts_with("system-")) {
      const bool known = (name == "system-node-critical" && value == node_critical) ||
                         (name == "system-cluster-critical" && value == cluster_critical);
      if (!known) {
        errors.push_back(forbidden(
            "metadata.name",
            "priority class names with 'system-' prefix are reserved for system use only. error: " +
                name + " is not a known system priority class"));
      }
    } else if (value > user_priority_max) {
      errors.push_back(
          forbidden("value", "maximum allowed value of a user defined priority is 1000000000"));
    }
    const std::string& policy = text_at(object, "preemptionPolicy");
    if (policy != "PreemptLowerPriority" && policy != "Never") {
      errors.push_back(
          not_supported("preemptionPolicy", policy, {"Never", "PreemptLowerPriority"}));
    }
    return errors;
  }

  FieldErrors validate_update(const Json& object, const Json& old) const override {
    FieldErrors errors;
    if (!same_member(object, old, "value")) {
      errors.push_back(forbidden("value", "may not be changed in an update."));
    }
    check_immutable(object, old, "preemptionPolicy", "", &errors);
    return errors;
  }

  std::vector<TableColumn> columns() const override {
    return {name_column(), column("Value", "integer", "The priority pods get."),
            column("Global-Default", "boolean", "Whether pods without a class get it."),
            age_column(),
            column("PreemptionPolicy", "string", "Whether pods of it preempt others.")};
  }
  std::vector<Json> cells(const Json& object, TimePoint now) const override {
    return {name_cell(object), integer_at(object, "value").value_or(0),
            true_at(object, "globalDefault"), age_cell(object, now),
            text_at(object, "preemptionPolicy")};
  }
};

class ServiceAccountStrategy final : public GenericStrategy {
 public:
  std::vector<TableColumn> columns() const override {
    return {name_column(), column("Secrets", "string", "Number of secrets."), age_column()};
  }
  std::vector<Json> cells(const Json& object, TimePoint now) const override {
    return {name_cell(object), list_or_empty(object, "secrets").size(), age_cell(object, now)};
  }
};

}  // namespace

StrategyPtr lease_strategy() {
  return std::make_shared<LeaseStrategy>();
}

StrategyPtr priority_class_strategy() {
  return std::make_shared<PriorityClassStrategy>();
}

StrategyPtr service_account_strategy() {
  return std::make_shared<ServiceAccountStrategy>();
}

}  // namespace regatta::manifest::builtin
