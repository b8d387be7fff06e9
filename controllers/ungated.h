#pragma once

#include "lib/api/core.h"
#include "lib/base/json.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace regatta::controllers {

/// The merge patch that opens one scheduling gate of a pod. It applies to the pod as it was read
/// and to no later version.
inline Json ungated(const api::Pod& pod, std::string_view gate) {
  Json left = Json::array();
  for (const std::string& one : pod.spec.scheduling_gates) {
    if (one != gate) left.push_back({{"name", one}});
  }
  Json patch = Json::object();
  patch["metadata"] = {{"uid", pod.metadata.uid},
                       {"resourceVersion", pod.metadata.resource_version}};
  patch["spec"] = {{"schedulingGates", std::move(left)}};
  return patch;
}

}  // namespace regatta::controllers
