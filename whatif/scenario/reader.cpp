#include "lib/api/codec.h"
#include "whatif/scenario/scenario.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <string_view>

namespace regatta::whatif {
namespace {

Error invalid_file(std::string_view where, std::string_view problem) {
  return Error(Errc::invalid, std::string(where) + ": " + std::string(problem));
}

std::string at(std::string_view list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

/// Unknown fields of the format itself are refused. The contents of objects are read as leniently
/// as by a store without schemas.
Status only(const Json& object, std::initializer_list<std::string_view> known,
            const std::string& where) {
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return invalid_file(where.empty() ? key : where + "." + key, "unknown field");
    }
  }
  return ok();
}

/// A member that must exist and have that type.
Result<std::string> text_of(const Json& object, const char* key, const std::string& where) {
  const auto it = object.find(key);
  const std::string path = where + "." + key;
  if (it == object.end()) return invalid_file(path, "missing");
  if (!it->is_string()) return invalid_file(path, "expected a string");
  return it->get<std::string>();
}

Result<std::int32_t> int_of(const Json& object, const char* key, const std::string& where) {
  const auto it = object.find(key);
  const std::string path = where + "." + key;
  if (it == object.end()) return invalid_file(path, "missing");
  if (!it->is_number_integer()) return invalid_file(path, "expected a whole number");
  const auto value = it->get<std::int64_t>();
  if (value < std::numeric_limits<std::int32_t>::min() ||
      value > std::numeric_limits<std::int32_t>::max()) {
    return invalid_file(path, "does not fit 32 bits");
  }
  return static_cast<std::int32_t>(value);
}

template <class T>
Result<ScenarioObject> read_as(const Json& json) {
  Result<T> object = api::from_json<T>(json);
  if (!object) return object.error();
  return ScenarioObject(std::move(*object));
}

Result<ScenarioObject> read_kind(const Json& json, std::string_view kind) {
  if (kind == "Namespace") return read_as<api::Namespace>(json);
  if (kind == "Node") return read_as<api::Node>(json);
  if (kind == "Pod") return read_as<api::Pod>(json);
  if (kind == "Topology") return read_as<api::Topology>(json);
  if (kind == "ResourceFlavor") return read_as<api::ResourceFlavor>(json);
  if (kind == "Cohort") return read_as<api::Cohort>(json);
  if (kind == "ClusterQueue") return read_as<api::ClusterQueue>(json);
  if (kind == "LocalQueue") return read_as<api::LocalQueue>(json);
  if (kind == "Workload") return read_as<api::Workload>(json);
  return invalid_file("kind", "\"" + std::string(kind) + "\" has no effect in a scenario");
}

Result<ScenarioObject> read_object(const Json& json, const std::string& where) {
  if (!json.is_object()) return invalid_file(where, "expected an object");
  const auto kind = text_of(json, "kind", where);
  if (!kind) return kind.error();
  auto object = read_kind(json, *kind);
  if (!object) return Error(Errc::invalid, where + "." + object.error().what());
  return object;
}

/// The contents of an event that names a workload and has further fields.
Result<ScenarioEvent> read_change(const Json& what, bool priority, const std::string& where) {
  if (!what.is_object()) return invalid_file(where, "expected an object");
  const Status known = priority ? only(what, {"workload", "value"}, where)
                                : only(what, {"workload", "podSet", "count"}, where);
  if (!known) return known.error();
  const auto workload = text_of(what, "workload", where);
  if (!workload) return workload.error();
  const auto number = int_of(what, priority ? "value" : "count", where);
  if (!number) return number.error();
  if (priority) return ScenarioEvent(SetPriority{*workload, *number});
  const auto pod_set = text_of(what, "podSet", where);
  if (!pod_set) return pod_set.error();
  return ScenarioEvent(SetReclaimable{*workload, *pod_set, *number});
}

Result<ScenarioEvent> read_event(const Json& json, const std::string& where) {
  if (!json.is_object() || json.size() != 1) {
    return invalid_file(where, "expected an object with exactly one key");
  }
  const std::string& key = json.begin().key();
  const Json& value = json.begin().value();
  const std::string inside = where + "." + key;
  if (key == "create" || key == "update") {
    auto object = read_object(value, inside);
    if (!object) return object.error();
    return ScenarioEvent(PutObject{std::move(*object)});
  }
  if (key == "delete" || key == "finish") {
    if (!value.is_string()) return invalid_file(inside, "expected \"namespace/name\"");
    if (key == "delete") return ScenarioEvent(DeleteWorkload{value.get<std::string>()});
    return ScenarioEvent(FinishWorkload{value.get<std::string>()});
  }
  if (key == "priority" || key == "reclaim") return read_change(value, key == "priority", inside);
  return invalid_file(where,
                      "unknown event \"" + key +
                          "\"; there are create, update, delete, finish, priority and reclaim");
}

Result<ScenarioStep> read_step(const Json& json, const std::string& where) {
  if (!json.is_object()) return invalid_file(where, "expected an object");
  if (const Status known = only(json, {"events", "expect"}, where); !known) return known.error();
  ScenarioStep step;
  const auto events = json.find("events");
  if (events == json.end() || events->is_null()) return step;
  if (!events->is_array()) return invalid_file(where + ".events", "expected a list");
  for (std::size_t i = 0; i < events->size(); ++i) {
    auto event = read_event((*events)[i], at(where + ".events", i));
    if (!event) return event.error();
    step.events.push_back(std::move(*event));
  }
  return step;
}

Result<const Json*> list_of(const Json& json, const char* key) {
  const auto it = json.find(key);
  if (it == json.end()) return invalid_file(key, "missing");
  if (!it->is_array()) return invalid_file(key, "expected a list");
  return &*it;
}

Status read_objects(const Json& json, Scenario* out) {
  const auto objects = list_of(json, "objects");
  if (!objects) return objects.error();
  for (std::size_t i = 0; i < (*objects)->size(); ++i) {
    auto object = read_object((**objects)[i], at("objects", i));
    if (!object) return object.error();
    out->objects.push_back(std::move(*object));
  }
  return ok();
}

Status read_steps(const Json& json, Scenario* out) {
  const auto steps = list_of(json, "steps");
  if (!steps) return steps.error();
  if ((*steps)->size() > scenario_steps_max) {
    return invalid_file("steps", "at most " + std::to_string(scenario_steps_max) + " steps");
  }
  for (std::size_t i = 0; i < (*steps)->size(); ++i) {
    auto step = read_step((**steps)[i], at("steps", i));
    if (!step) return step.error();
    out->steps.push_back(std::move(*step));
  }
  return ok();
}

}  // namespace

Result<Scenario> read_scenario(const Json& json) {
  if (!json.is_object()) return Error(Errc::invalid, "a scenario is an object");
  const Status known =
      only(json, {"name", "family", "seed", "config", "now", "objects", "steps"}, "");
  if (!known) return known.error();
  Scenario out;
  if (json.contains("name")) {
    auto name = text_of(json, "name", "");
    if (!name) return invalid_file("name", "expected a string");
    out.name = std::move(*name);
  }
  const auto now = text_of(json, "now", "");
  const auto time = now ? parse_rfc3339(*now) : Result<TimePoint>(now.error());
  if (!time) return invalid_file("now", "expected a time like 2026-01-02T03:04:05Z");
  out.now = *time;
  auto config = read_scenario_config(json.contains("config") ? json["config"] : Json());
  if (!config) return config.error();
  out.config = std::move(*config);
  if (const Status read = read_objects(json, &out); !read) return read.error();
  if (const Status read = read_steps(json, &out); !read) return read.error();
  return out;
}

Result<Scenario> parse_scenario(std::string_view text) {
  if (text.size() > scenario_bytes_max) {
    return Error(Errc::invalid, "longer than " + std::to_string(scenario_bytes_max >> 20) + " MiB");
  }
  const auto json = parse_json(text);
  if (!json) return json.error();
  return read_scenario(*json);
}

}  // namespace regatta::whatif
