#include "lib/manifest/builtin/access.h"
#include "lib/manifest/builtin/generic.h"
#include "lib/manifest/builtin/strategies.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::manifest::builtin {

namespace {

constexpr const char* name_label = "kubernetes.io/metadata.name";

class NamespaceStrategy final : public GenericStrategy {
 public:
  NamespaceStrategy() : GenericStrategy({.status = true, .names = NameRule::label}) {}

  void set_defaults(Json& ns) const override {
    const std::string& name = name_cell(ns);
    if (!name.empty()) object_in(ns["metadata"], "labels")[name_label] = name;
    drop_empty(object_in(ns, "spec"), "finalizers");
  }

  void prepare_for_create(Json& ns, TimePoint now) const override {
    GenericStrategy::prepare_for_create(ns, now);
    set_defaults(ns);
    Json& spec = object_in(ns, "spec");
    const Json& given = list_or_empty(spec, "finalizers");
    if (std::find(given.begin(), given.end(), "kubernetes") == given.end()) {
      Json finalizers = given;
      finalizers.push_back("kubernetes");
      spec["finalizers"] = std::move(finalizers);
    }
  }

  void prepare_for_update(Json& ns, const Json& old, TimePoint now) const override {
    GenericStrategy::prepare_for_update(ns, old, now);
    copy_member(object_in(ns, "spec"), object_or_empty(old, {"spec"}), "finalizers");
  }

  std::vector<TableColumn> columns() const override {
    return {name_column(), column("Status", "string", "Active or Terminating."), age_column()};
  }
  std::vector<Json> cells(const Json& ns, TimePoint now) const override {
    return {name_cell(ns), text_at(ns, {"status", "phase"}), age_cell(ns, now)};
  }
  std::vector<std::pair<std::string, std::string>> selectable_fields(
      const Json& ns) const override {
    const std::string& phase = text_at(ns, {"status", "phase"});
    return {{"status.phase", phase}, {"name", name_cell(ns)}};
  }

 protected:
  Json initial_status() const override {
    Json status = Json::object();
    status["phase"] = "Active";
    return status;
  }
};

}  // namespace

StrategyPtr namespace_strategy() {
  return std::make_shared<NamespaceStrategy>();
}

}  // namespace regatta::manifest::builtin
