#include "lab/conformance/areas.h"
#include "lib/base/json_access.h"
#include "manager/config/configuration.h"

#include <nlohmann/json.hpp>

namespace regatta::lab {

Result<Json> play_configuration(const Json& scenario) {
  const auto read = manager::check_configuration(text_at(scenario, "file"),
                                                 text_at(scenario, "featureGatesFlag"));
  if (!read) return Json{{"loadError", read.error().what()}};
  Json out{{"config", manager::shown_configuration(read->document.effective)}};
  if (read->gate_errors.empty()) {
    out["errors"] = sorted_errors(read->errors);
  } else {
    out["featureGateErrors"] = sorted_errors(read->gate_errors);
  }
  return out;
}

}  // namespace regatta::lab
