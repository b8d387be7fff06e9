#include "jobs/template_update.h"

#include "jobs/role_hash.h"
#include "lib/api/names.h"
#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

namespace regatta::jobs {
namespace {

constexpr std::string_view fixed = "field is immutable";

/// Those of the same number are compared one by one.
void check_containers(const std::string& field, const Json& before, const Json& after,
                      api::ErrorList* errors) {
  if (before.size() != after.size()) {
    return errors->invalid(field, dump_json(after), fixed);
  }
  for (std::size_t i = 0; i < after.size(); ++i) {
    const std::string one = api::at(field, i);
    const Json& ports = at_or_null(after[i], "ports");
    if (at_or_null(before[i], "ports") != ports) {
      errors->invalid(one + ".ports", dump_json(ports), fixed);
    }
    const Json& requests = at_or_null(after[i]["resources"], "requests");
    if (at_or_null(before[i]["resources"], "requests") != requests) {
      errors->invalid(one + ".resources.requests", dump_json(requests), fixed);
    }
  }
}

}  // namespace

void check_template_update(const std::string& field, const Json& before, const Json& after,
                           api::ErrorList* errors) {
  const Json was = pod_shape(object_or_empty(before, {"spec"}));
  const Json is = pod_shape(object_or_empty(after, {"spec"}));
  for (const char* name : {"initContainers", "containers"}) {
    check_containers(field + ".spec." + name, list_or_empty(was, name), list_or_empty(is, name),
                     errors);
  }
  for (const char* name : {"nodeSelector", "affinity", "tolerations", "runtimeClassName",
                           "priority", "topologySpreadConstraints", "overhead", "resourceClaims"}) {
    if (at_or_null(was, name) == at_or_null(is, name)) continue;
    errors->invalid(field + ".spec." + name, dump_json(at_or_null(is, name)), fixed);
  }
}

Json marked_metadata(const TemplateMarks& marks) {
  Json metadata = Json::object();
  if (!marks.labels.empty()) metadata["labels"] = marks.labels;
  metadata["annotations"] = marks.annotations;
  metadata["annotations"][std::string(api::annotations::pod_suspending_parent)] = marks.parent;
  return metadata;
}

api::StringMap queue_labels(const api::StringMap& labels) {
  api::StringMap out;
  for (const std::string_view key : {api::labels::queue_name, api::labels::priority_class}) {
    const auto found = labels.find(std::string(key));
    if (found != labels.end() && !found->second.empty()) out.insert(*found);
  }
  return out;
}

}  // namespace regatta::jobs
