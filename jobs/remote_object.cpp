#include "jobs/remote_object.h"

#include "lib/api/names.h"
#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

namespace regatta::jobs {
namespace {

constexpr std::size_t label_value_max = 63;

}  // namespace

Json remote_metadata(const api::ObjectMeta& metadata, const api::Workload& workload,
                     const std::string& origin) {
  Json labels = metadata.labels;
  labels[std::string(api::labels::multikueue_origin)] = origin;
  labels.erase(std::string(api::labels::prebuilt_workload_name));
  Json annotations = metadata.annotations;
  annotations.erase(std::string(api::annotations::stopping));
  // This annotation says what was applied to the hub, not to the worker.
  annotations.erase("kubectl.kubernetes.io/last-applied-configuration");
  annotations[std::string(api::annotations::prebuilt_workload_name)] = workload.metadata.name;
  return {{"name", metadata.name},
          {"namespace", metadata.ns},
          {"labels", std::move(labels)},
          {"annotations", std::move(annotations)}};
}

void name_workload_by_label(Json* copy) {
  Json& metadata = (*copy)["metadata"];
  const std::string key(api::annotations::prebuilt_workload_name);
  const std::string name = text_at(at_or_null(metadata, "annotations"), key);
  if (name.empty() || name.size() > label_value_max) return;
  metadata["annotations"].erase(key);
  metadata["labels"][key] = name;
}

void rename_workload(const api::ObjectMeta& copy, const std::string& workload, Json* patch) {
  const std::string key(api::annotations::prebuilt_workload_name);
  const bool labelled = !copy.label(key).empty() && copy.annotation(key).empty();
  if (labelled && workload.size() <= label_value_max) {
    (*patch)["metadata"]["labels"][key] = workload;
    return;
  }
  if (labelled) (*patch)["metadata"]["labels"][key] = nullptr;
  (*patch)["metadata"]["annotations"][key] = workload;
}

Json status_patch_of(const api::ObjectMeta& metadata, Json status) {
  return {{"metadata", {{"uid", metadata.uid}}}, {"status", std::move(status)}};
}

}  // namespace regatta::jobs
