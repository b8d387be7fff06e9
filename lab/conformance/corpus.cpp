#include "lab/conformance/corpus.h"

#include "lab/conformance/areas.h"
#include "lib/base/json_access.h"
#include "whatif/scenario/run.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <tuple>

namespace regatta::lab {
namespace {

Result<Json> play_admission(const Json& scenario) {
  const auto read = whatif::read_scenario(scenario);
  if (!read) return read.error();
  const auto steps = whatif::run_scenario(*read);
  if (!steps) return steps.error();
  return whatif::to_json(read->name, *steps);
}

Result<Json> play_area(const std::string& area, const Json& scenario) {
  if (area == "webhooks") {
    return text_at(scenario, "layer") == "crd" ? play_crd(scenario) : play_webhook(scenario);
  }
  if (area == "conversion") return play_conversion(scenario);
  if (area == "configuration") return play_configuration(scenario);
  if (area == "visibility") return play_visibility(scenario);
  if (area == "metrics") return play_metrics(scenario);
  return Error(Errc::unavailable, "scenarios of the area " + area + " cannot be played yet");
}

}  // namespace

std::string group_of(const Json& scenario) {
  if (is_jobs_scenario(scenario)) return "jobs/" + text_at(scenario, "kind");
  const std::string& area = text_at(scenario, "area");
  return area.empty() ? text_at(scenario, "family") : area + "/" + text_at(scenario, "group");
}

Result<Json> play(const Json& scenario) {
  if (!scenario.is_object()) return Error(Errc::invalid, "a scenario is a JSON object");
  if (is_jobs_scenario(scenario)) {
    Result<Json> steps = play_jobs(scenario);
    if (!steps) return steps.error();
    return Json{{"name", text_at(scenario, "name")}, {"steps", std::move(*steps)}};
  }
  const std::string& area = text_at(scenario, "area");
  if (area.empty()) return play_admission(scenario);
  Result<Json> outcome = play_area(area, scenario);
  if (!outcome) return outcome.error();
  return Json{{"name", text_at(scenario, "name")}, {"expect", std::move(*outcome)}};
}

webhooks::Gates gates_in(const Json& scenario) {
  std::map<std::string, bool> gates;
  for (const auto& [name, value] : object_or_empty(scenario, {"featureGates"}).items()) {
    if (value.is_boolean()) gates[name] = value.get<bool>();
  }
  return webhooks::gates_of(gates);
}

Json sorted_errors(std::vector<ErrorText> errors) {
  std::sort(errors.begin(), errors.end(), [](const ErrorText& a, const ErrorText& b) {
    return std::tie(a.field, a.type, a.message) < std::tie(b.field, b.type, b.message);
  });
  Json out = Json::array();
  for (ErrorText& error : errors) {
    Json& one = out.emplace_back(
        Json{{"field", error.field}, {"type", error.type}, {"message", error.message}});
    if (!error.detail.empty()) one["detail"] = error.detail;
  }
  return out;
}

Json sorted_errors(const api::FieldErrors& errors) {
  std::vector<ErrorText> texts;
  for (const api::FieldError& error : errors) {
    texts.push_back({error.field, std::string(error.type), error.detail, error.text()});
  }
  return sorted_errors(std::move(texts));
}

std::string body_text(const Json& body) {
  return body.is_string() ? body.get<std::string>() : dump_json(body);
}

}  // namespace regatta::lab
