#include "lib/manifest/builtin/event_views.h"

#include <nlohmann/json.hpp>

#include <array>
#include <utility>

namespace regatta::manifest::builtin {

namespace {

using Pair = std::pair<const char*, const char*>;

/// Names in events.k8s.io/v1 and in core/v1.
constexpr std::array<Pair, 7> renamed{{
    {"regarding", "involvedObject"},
    {"note", "message"},
    {"reportingController", "reportingComponent"},
    {"deprecatedSource", "source"},
    {"deprecatedFirstTimestamp", "firstTimestamp"},
    {"deprecatedLastTimestamp", "lastTimestamp"},
    {"deprecatedCount", "count"},
}};

void rename(Json& event, const char* from, const char* to) {
  if (!event.is_object()) return;
  const auto found = event.find(from);
  if (found == event.end()) return;
  Json value = std::move(*found);
  event.erase(found);
  event[to] = std::move(value);
}

void drop_empty_text(Json& event, const char* name) {
  const auto found = event.find(name);
  if (found != event.end() && found->is_string() && found->get_ref<const std::string&>().empty()) {
    event.erase(found);
  }
}

}  // namespace

Json event_to_core(Json event) {
  for (const auto& [theirs, core] : renamed) rename(event, theirs, core);
  if (event.is_object()) event["apiVersion"] = "v1";
  return event;
}

Json event_from_core(Json event) {
  for (const auto& [theirs, core] : renamed) rename(event, core, theirs);
  if (!event.is_object()) return event;
  event["apiVersion"] = "events.k8s.io/v1";
  for (const char* name : {"reportingController", "reportingInstance", "note"}) {
    drop_empty_text(event, name);
  }
  return event;
}

}  // namespace regatta::manifest::builtin
