#include "lib/manifest/builtin/access.h"
#include "lib/manifest/builtin/generic.h"
#include "lib/manifest/builtin/strategies.h"

#include <nlohmann/json.hpp>

namespace regatta::manifest::builtin {

namespace {

constexpr const char* rbac_group = "rbac.authorization.k8s.io";

class RoleStrategy final : public GenericStrategy {
 public:
  explicit RoleStrategy(bool namespaced)
      : GenericStrategy({.names = NameRule::path_segment}), namespaced_(namespaced) {}

  FieldErrors validate_create(const Json& role) const override {
    FieldErrors errors;
    const Json& rules = list_or_empty(role, "rules");
    for (std::size_t i = 0; i < rules.size(); ++i) {
      check_rule(rules[i], index_path("rules", i), &errors);
    }
    return errors;
  }
  FieldErrors validate_update(const Json& role, const Json&) const override {
    return validate_create(role);
  }

 private:
  void check_rule(const Json& rule, const std::string& path, FieldErrors* errors) const {
    if (list_or_empty(rule, "verbs").empty()) {
      errors->push_back(required(path + ".verbs", "verbs must contain at least one value"));
    }
    const Json& urls = list_or_empty(rule, "nonResourceURLs");
    if (!urls.empty()) {
      const std::string field = path + ".nonResourceURLs";
      if (namespaced_) {
        errors->push_back(
            invalid(field, urls, "namespaced rules cannot apply to non-resource URLs"));
      }
      for (const char* name : {"apiGroups", "resources", "resourceNames"}) {
        if (list_or_empty(rule, name).empty()) continue;
        errors->push_back(invalid(field, urls,
                                  "rules cannot apply to both regular resources and non-resource "
                                  "URLs"));
        break;
      }
      return;
    }
    if (list_or_empty(rule, "apiGroups").empty()) {
      errors->push_back(
          required(path + ".apiGroups", "resource rules must supply at least one api group"));
    }
    if (list_or_empty(rule, "resources").empty()) {
      errors->push_back(
          required(path + ".resources", "resource rules must supply at least one resource"));
    }
  }

  bool namespaced_;
};

class RoleBindingStrategy final : public GenericStrategy {
 public:
  explicit RoleBindingStrategy(bool namespaced)
      : GenericStrategy({.names = NameRule::path_segment}), namespaced_(namespaced) {}

  void set_defaults(Json& binding) const override {
    Json& role = object_in(binding, "roleRef");
    if (text_at(role, "apiGroup").empty()) role["apiGroup"] = rbac_group;
    const auto subjects = binding.find("subjects");
    if (subjects == binding.end() || !subjects->is_array()) return;
    for (Json& subject : *subjects) {
      const std::string& kind = text_at(subject, "kind");
      if ((kind == "User" || kind == "Group") && text_at(subject, "apiGroup").empty()) {
        subject["apiGroup"] = rbac_group;
      }
    }
  }

  FieldErrors validate_create(const Json& binding) const override {
    FieldErrors errors;
    const Json& role = object_or_empty(binding, {"roleRef"});
    if (text_at(role, "apiGroup") != rbac_group) {
      errors.push_back(not_supported("roleRef.apiGroup", text_at(role, "apiGroup"), {rbac_group}));
    }
    const std::string& kind = text_at(role, "kind");
    if (namespaced_ && kind != "Role" && kind != "ClusterRole") {
      errors.push_back(not_supported("roleRef.kind", kind, {"ClusterRole", "Role"}));
    } else if (!namespaced_ && kind != "ClusterRole") {
      errors.push_back(not_supported("roleRef.kind", kind, {"ClusterRole"}));
    }
    if (text_at(role, "name").empty()) errors.push_back(required("roleRef.name"));
    const Json& subjects = list_or_empty(binding, "subjects");
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      check_subject(subjects[i], index_path("subjects", i), &errors);
    }
    return errors;
  }

  FieldErrors validate_update(const Json& binding, const Json& old) const override {
    FieldErrors errors = validate_create(binding);
    if (!same_member(binding, old, "roleRef")) {
      errors.push_back(
          invalid("roleRef", object_or_empty(binding, {"roleRef"}), "cannot change roleRef"));
    }
    return errors;
  }

  std::vector<TableColumn> columns() const override {
    return {name_column(),
            column("Role", "string", "The role that is bound."),
            age_column(),
            column("Users", "string", "Users that have it.", 1),
            column("Groups", "string", "Groups that have it.", 1),
            column("ServiceAccounts", "string", "Service accounts that have it.", 1)};
  }
  std::vector<Json> cells(const Json& binding, TimePoint now) const override {
    const Json& role = object_or_empty(binding, {"roleRef"});
    std::string users, groups, accounts;
    for (const Json& subject : list_or_empty(binding, "subjects")) {
      const std::string& kind = text_at(subject, "kind");
      std::string& list = kind == "User" ? users : kind == "Group" ? groups : accounts;
      const std::string ns = kind == "ServiceAccount" ? text_at(subject, "namespace") + "/" : "";
      list += (list.empty() ? "" : ", ") + ns + text_at(subject, "name");
    }
    return {name_cell(binding),
            text_at(role, "kind") + "/" + text_at(role, "name"),
            age_cell(binding, now),
            users,
            groups,
            accounts};
  }

 private:
  static void check_subject(const Json& subject, const std::string& path, FieldErrors* errors) {
    if (text_at(subject, "name").empty()) errors->push_back(required(path + ".name"));
    const std::string& kind = text_at(subject, "kind");
    const std::string& group = text_at(subject, "apiGroup");
    if (kind == "ServiceAccount") {
      if (!group.empty()) errors->push_back(not_supported(path + ".apiGroup", group, {""}));
      if (text_at(subject, "namespace").empty()) errors->push_back(required(path + ".namespace"));
    } else if (kind == "User" || kind == "Group") {
      if (group != rbac_group) {
        errors->push_back(not_supported(path + ".apiGroup", group, {rbac_group}));
      }
    } else {
      errors->push_back(not_supported(path + ".kind", kind, {"Group", "ServiceAccount", "User"}));
    }
  }

  bool namespaced_;
};

}  // namespace

StrategyPtr role_strategy(bool namespaced) {
  return std::make_shared<RoleStrategy>(namespaced);
}

StrategyPtr role_binding_strategy(bool namespaced) {
  return std::make_shared<RoleBindingStrategy>(namespaced);
}

}  // namespace regatta::manifest::builtin
