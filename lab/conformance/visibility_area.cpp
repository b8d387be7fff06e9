#include "lab/conformance/areas.h"
#include "lab/conformance/queue_world.h"
#include "lib/base/json_access.h"
#include "visibility/api.h"

#include <nlohmann/json.hpp>

namespace regatta::lab {
namespace {

visibility::Query query_of(const Json& request) {
  visibility::Query query;
  query.target = text_at(request, "path");
  if (const std::string& method = text_at(request, "method"); !method.empty())
    query.method = method;
  query.accept = text_at(request, "accept");
  if (query.accept.empty()) query.accept = "application/json";
  return query;
}

Json answer_of(QueueWorld& world, const Json& request) {
  const admission::StatusReader reader = world.state().reader();
  const visibility::Source source{
      reader, [&](const api::ObjectKey& key) -> std::optional<visibility::WorkloadSeen> {
        const auto found = world.workloads().find(key);
        if (found == world.workloads().end()) return std::nullopt;
        return visibility::WorkloadSeen{{std::shared_ptr<void>(), &found->second.metadata},
                                        found->second.spec.priority.value_or(0)};
      }};
  const visibility::Answer answer = visibility::answer(query_of(request), source);
  Json out{{"status", answer.status}, {"contentType", answer.content_type}};
  const bool json = answer.content_type.starts_with("application/json");
  const auto body = json ? parse_json(answer.body) : Result<Json>(Json());
  if (json && body) {
    out["body"] = *body;
  } else {
    out["text"] = answer.body;
  }
  return out;
}

}  // namespace

Result<Json> play_visibility(const Json& scenario) {
  QueueWorld world(scenario);
  if (const Status loaded = world.load(list_or_empty(scenario, "objects")); !loaded) {
    return loaded.error();
  }
  Json out = Json::array();
  for (const Json& step : list_or_empty(scenario, "steps")) {
    for (const Json& event : list_or_empty(step, "events")) {
      if (const Status applied = world.apply(event); !applied) return applied.error();
    }
    Json responses = Json::array();
    for (const Json& request : list_or_empty(step, "requests")) {
      responses.push_back(answer_of(world, request));
    }
    out.push_back(Json{{"responses", std::move(responses)}});
  }
  return out;
}

}  // namespace regatta::lab
