#include "lab/conformance/areas.h"
#include "lib/api/convert.h"
#include "lib/base/json_access.h"
#include "lib/manifest/assets.h"
#include "lib/manifest/crd/definition.h"
#include "lib/manifest/registry.h"
#include "lib/manifest/schema/structural.h"

#include <nlohmann/json.hpp>

namespace regatta::lab {
namespace {

/// The CustomResourceDefinitions of the binary, read once.
const manifest::Registry& kueue_registry() {
  static const manifest::Registry all = [] {
    manifest::Registry registry;
    for (const Json& definition : manifest::objects_below(manifest::kueue_crds()).value()) {
      for (auto& type : manifest::resource_types(definition, api::convert).value()) {
        registry.add(std::move(type));
      }
    }
    return registry;
  }();
  return all;
}

/// What stands behind the value in a message such as "Invalid value: \"x\": too short". Some rules
/// leave the value out.
std::string detail_in(std::string_view message) {
  const std::size_t words = message.find(": ");
  if (words == std::string_view::npos) return {};
  const std::string_view head = message.substr(0, words);
  const std::string_view rest = message.substr(words + 2);
  if (head == "Required value" || head == "Forbidden" || head == "Too long") {
    return std::string(rest);
  }
  if (Json::accept(rest)) return {};
  for (std::size_t at = rest.find(": "); at != std::string_view::npos;
       at = rest.find(": ", at + 1)) {
    if (Json::accept(rest.substr(0, at))) return std::string(rest.substr(at + 2));
  }
  return std::string(rest);
}

Json errors_of(const manifest::FieldErrors& causes) {
  std::vector<ErrorText> errors;
  for (const manifest::FieldError& cause : causes) {
    errors.push_back(
        {cause.field, cause.reason, detail_in(cause.message), cause.field + ": " + cause.message});
  }
  return sorted_errors(std::move(errors));
}

Json play_create(const manifest::ResourceType& type, const Json& given) {
  Json object = given;
  const std::vector<std::string> pruned = manifest::unknown_fields(object, *type.schema);
  type.strategy->set_defaults(object);
  type.strategy->prepare_for_create(object, TimePoint());
  const manifest::FieldErrors causes = type.strategy->validate_create(object);
  Json out{{"allowed", causes.empty()}, {"errors", errors_of(causes)}};
  if (!causes.empty()) return out;
  if (!member(given, {"metadata", "generation"})) object["metadata"].erase("generation");
  out["object"] = std::move(object);
  if (!pruned.empty()) out["prunedFields"] = pruned;
  return out;
}

Json play_update(const manifest::ResourceType& type, Json object, Json old, bool status) {
  type.strategy->set_defaults(object);
  type.strategy->set_defaults(old);
  manifest::FieldErrors causes;
  if (status) {
    type.strategy->prepare_for_status_update(object, old, TimePoint());
    causes = type.strategy->validate_status_update(object, old);
  } else {
    type.strategy->prepare_for_update(object, old, TimePoint());
    causes = type.strategy->validate_update(object, old);
  }
  return Json{{"allowed", causes.empty()}, {"errors", errors_of(causes)}};
}

}  // namespace

Result<Json> play_crd(const Json& scenario) {
  const Json& object = at_or_null(scenario, "object");
  const std::string& api_version = text_at(object, "apiVersion");
  const std::size_t slash = api_version.find('/');
  if (slash == std::string::npos)
    return Error(Errc::invalid, "object.apiVersion: expected group/version");
  const auto type = kueue_registry().find_kind(
      api_version.substr(0, slash), api_version.substr(slash + 1), text_at(object, "kind"));
  if (!type) return Error(Errc::invalid, "object: there is no such kind in " + api_version);
  const std::string& op = text_at(scenario, "op");
  if (op == "create") return play_create(*type, object);
  if (op == "update" || op == "updateStatus") {
    return play_update(*type, object, at_or_null(scenario, "oldObject"), op == "updateStatus");
  }
  return Error(Errc::invalid, "op: there is no " + op);
}

}  // namespace regatta::lab
