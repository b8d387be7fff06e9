#include "lab/conformance/areas.h"
#include "lab/conformance/metric_calls.h"
#include "lab/conformance/metric_states.h"
#include "lib/base/json_access.h"
#include "manager/metrics/catalogue.h"

#include <nlohmann/json.hpp>

#include <array>
#include <charconv>

namespace regatta::lab {
namespace {

using manager::MetricInfo;
using manager::MetricKind;

std::string bound_text(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end.ptr};
}

Json listed(const MetricInfo& info, const std::vector<manager::CustomMetricLabel>& custom) {
  Json out{{"name", info.name}};
  out["type"] = info.kind == MetricKind::counter     ? "counter"
                : info.kind == MetricKind::histogram ? "histogram"
                                                     : "gauge";
  out["labels"] = info.labels;
  for (const std::string& name : custom_names(custom, info.custom)) out["labels"].push_back(name);
  for (const double bound : info.buckets) out["buckets"].push_back(bound_text(bound));
  return out;
}

Json play_list(const Json& scenario) {
  const Json& gates = object_or_empty(scenario, {"featureGates"});
  Json out = Json::array();
  if (text_at(scenario, "which") == "library") return Json{{"metrics", out}};
  const auto enabled = [&](std::string_view gate) { return at_or_null(gates, gate) != false; };
  const auto custom = configured_labels(scenario);
  for (const MetricInfo& info : manager::metric_catalogue(enabled)) {
    out.push_back(listed(info, custom));
  }
  return Json{{"metrics", std::move(out)}};
}

Result<Json> play_calls(const Json& scenario) {
  MetricCalls calls(scenario);
  for (const Json& call : list_or_empty(scenario, "calls")) {
    const Status done = calls.call(text_at(call, "fn"), list_or_empty(call, "args"));
    if (!done) return done.error();
  }
  return Json{{"samples", samples_of(calls.collect(), scenario)}};
}

}  // namespace

Result<Json> play_metrics(const Json& scenario) {
  const std::string& op = text_at(scenario, "op");
  if (op == "list") return play_list(scenario);
  if (op == "calls") return play_calls(scenario);
  if (op == "state") return play_metric_states(scenario);
  return Error(Errc::invalid, "unknown op " + op);
}

}  // namespace regatta::lab
