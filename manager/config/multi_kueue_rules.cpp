#include "lib/api/names.h"
#include "lib/api/own_names.h"
#include "lib/api/validation.h"
#include "lib/base/contains.h"
#include "lib/base/duration.h"
#include "lib/base/json_access.h"
#include "manager/config/rules.h"
#include "webhooks/field_rules.h"
#include "webhooks/shape.h"

#include <nlohmann/json.hpp>

namespace regatta::manager {
namespace {

constexpr std::string_view needed = "must be specified";

/// Kueue shows these two in nanoseconds.
void not_negative(const Json& multi_kueue, std::string_view name, api::ErrorList* errors) {
  const auto length = parse_go_duration(text_at(multi_kueue, name));
  if (!length || length->count() >= 0) return;
  errors->invalid("multiKueue." + std::string(name), std::to_string(length->count()),
                  webhooks::negative);
}

void check_exec_config(const Json& exec, const std::string& path, api::ErrorList* errors) {
  if (text_at(exec, "command").empty()) errors->required(path + ".command", needed);
  if (text_at(exec, "apiVersion").empty()) errors->required(path + ".apiVersion", needed);
  for (const Json& variable : list_or_empty(exec, "env")) {
    if (text_at(variable, "name").empty()) errors->required(path + ".env.name", needed);
  }
  const std::string& mode = text_at(exec, "interactiveMode");
  if (mode.empty()) return errors->required(path + ".interactiveMode", needed);
  if (mode == "Never" || mode == "IfAvailable" || mode == "Always") return;
  errors->not_supported(path + ".interactiveMode", api::json_quotes(mode),
                        {"Never", "IfAvailable", "Always"});
}

void check_providers(const Json& multi_kueue, api::ErrorList* errors) {
  const Json& profile = at_or_null(multi_kueue, "clusterProfile");
  const Json& access = list_or_empty(profile, "accessProviders");
  const Json& credentials = list_or_empty(profile, "credentialsProviders");
  const std::string path = "multiKueue.clusterProfile.";
  if (!access.empty() && !credentials.empty()) {
    errors->forbidden(path + "credentialsProviders",
                      "must not be specified when accessProviders is specified");
  }
  const std::string list = path + (access.empty() ? "credentialsProviders" : "accessProviders");
  for (const Json& provider : access.empty() ? credentials : access) {
    if (text_at(provider, "name").empty()) errors->required(list + ".name", needed);
    check_exec_config(at_or_null(provider, "execConfig"), list + ".execConfig", errors);
  }
}

/// Any other name may be of a dispatcher that runs elsewhere.
void check_dispatcher(const Json& multi_kueue, api::ErrorList* errors) {
  const std::string& name = text_at(multi_kueue, "dispatcherName");
  if (!name.starts_with(api::dispatchers::domain)) return;
  namespace own = api::dispatchers;
  const std::vector<std::string> known = {std::string(own::capacity), std::string(own::cost),
                                          std::string(own::locality), std::string(own::placement),
                                          std::string(own::spread)};
  if (contains(known, name)) return;
  errors->not_supported("multiKueue.dispatcherName", api::json_quotes(name), known);
}

void check_incremental_dispatcher(const Json& multi_kueue, api::ErrorList* errors) {
  const Json* config = object_at(multi_kueue, "incrementalDispatcherConfig");
  if (!config) return;
  const std::string path = "multiKueue.incrementalDispatcherConfig";
  if (text_at(multi_kueue, "dispatcherName") != api::dispatchers::incremental) {
    const auto type = webhooks::shape_type("config.IncrementalDispatcherConfig");
    errors->invalid(path, webhooks::shaped_text(config, type),
                    "incrementalDispatcherConfig is only valid when dispatcherName is set to the "
                    "incremental dispatcher");
  }
  const auto step = integer_at(*config, "stepSize");
  if (step && *step < 1) {
    errors->invalid(path + ".stepSize", std::to_string(*step),
                    "must be greater than or equal to 1");
  }
}

}  // namespace

void check_multi_kueue(const Json& c, api::ErrorList* errors) {
  const Json& multi_kueue = at_or_null(c, "multiKueue");
  not_negative(multi_kueue, "gcInterval", errors);
  not_negative(multi_kueue, "workerLostTimeout", errors);
  const std::string& origin = text_at(multi_kueue, "origin");
  invalid_joined("multiKueue.origin", origin, api::check_label_value(origin), ",", errors);
  check_external_adapters(c, errors);
  check_providers(multi_kueue, errors);
  check_dispatcher(multi_kueue, errors);
  check_incremental_dispatcher(multi_kueue, errors);
}

}  // namespace regatta::manager
