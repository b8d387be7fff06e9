#include "lab/apiserver/admission.h"

#include "lab/apiserver/definitions.h"
#include "lab/terms.h"
#include "lib/manifest/builtin/admission.h"
#include "lib/manifest/json_access.h"

#include <nlohmann/json.hpp>

namespace regatta::apiserver {
namespace {

std::optional<Failure> check_namespace(Core& core, const ResourceType& type, const std::string& ns,
                                       const Json& object) {
  if (!type.namespaced) return std::nullopt;
  const StoredPtr home = core.store.shelf("namespaces").find("", ns);
  if (!home) return not_found("", "namespaces", ns);
  if (!is_deleting(home->value())) return std::nullopt;
  const std::string name = text_at(object, {"metadata", "name"});
  Failure failure = forbidden(
      type, name,
      "unable to create new content in namespace " + ns + " because it is being terminated");
  failure.details->causes.push_back(
      {"NamespaceTerminating", "metadata.namespace", "namespace " + ns + " is being terminated"});
  return failure;
}

class StoreView final : public AdmissionView {
 public:
  explicit StoreView(Store& store) : store_(store) {}

  const Json* find(std::string_view resource, std::string_view ns,
                   std::string_view name) const override {
    const Shelf* shelf = store_.find_shelf(resource);
    const StoredPtr object = shelf ? shelf->find(ns, name) : nullptr;
    return object ? &object->value() : nullptr;
  }

  void each(std::string_view resource, std::string_view ns,
            const std::function<void(const Json&)>& visit) const override {
    const Shelf* shelf = store_.find_shelf(resource);
    if (!shelf) return;
    const std::string prefix = ns.empty() ? "" : std::string(ns) + "/";
    auto it = shelf->objects().lower_bound(prefix);
    for (; it != shelf->objects().end() && it->first.starts_with(prefix); ++it) {
      visit(it->second->value());
    }
  }

 private:
  Store& store_;
};

}  // namespace

std::optional<Failure> admit_create(Core& core, Exchange&, const ResourceType& type,
                                    const std::string& ns, Json& object) {
  if (auto refused = check_namespace(core, type, ns, object)) return refused;
  const std::string name = text_at(object, {"metadata", "name"});
  if (auto refused = Definitions::refuse_create(core, type, name)) return refused;
  const StoreView view(core.store);
  const auto why = admit_create(type.group_resource(), object, view);
  if (why) return forbidden(type, name, *why);
  return std::nullopt;
}

}  // namespace regatta::apiserver
