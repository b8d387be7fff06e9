#include "lib/manifest/builtin/access.h"
#include "lib/manifest/builtin/event_views.h"
#include "lib/manifest/builtin/generic.h"
#include "lib/manifest/builtin/human.h"
#include "lib/manifest/builtin/strategies.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>

namespace regatta::manifest::builtin {

namespace {

constexpr std::size_t name_max = 128;
constexpr std::size_t message_max = 1024;

void check_text(const Json& event, const char* name, const std::string& field,
                FieldErrors* errors) {
  const std::string& text = text_at(event, name);
  if (text.empty()) errors->push_back(required(field));
  if (text.size() > name_max) {
    errors->push_back(invalid(field, "", "can have at most 128 characters"));
  }
}

/// An event without eventTime has the old form, of which little is checked.
void check_old_event(const Json& event, FieldErrors* errors) {
  const std::string& ns = text_at(event, {"metadata", "namespace"});
  const std::string& about = text_at(event, {"involvedObject", "namespace"});
  const bool fine = about.empty() ? ns.empty() || ns == "default" : about == ns;
  if (!fine) {
    errors->push_back(invalid("involvedObject.namespace", about, "does not match event.namespace"));
  }
}

void check_new_event(const Json& event, const char* controller_field, FieldErrors* errors) {
  const std::string& ns = text_at(event, {"metadata", "namespace"});
  const std::string& about = text_at(event, {"involvedObject", "namespace"});
  if (about.empty() && ns != "default" && ns != "kube-system") {
    errors->push_back(invalid("involvedObject.namespace", about, "does not match event.namespace"));
  }
  if (text_at(event, "reportingComponent").empty()) errors->push_back(required(controller_field));
  check_text(event, "reportingInstance", "reportingInstance", errors);
  check_text(event, "action", "action", errors);
  check_text(event, "reason", "reason", errors);
  if (text_at(event, "message").size() > message_max) {
    errors->push_back(invalid("message", "", "can have at most 1024 characters"));
  }
}

FieldErrors check_event(const Json& event, const char* controller_field) {
  FieldErrors errors;
  if (member(event, "eventTime") == nullptr) {
    check_old_event(event, &errors);
  } else {
    check_new_event(event, controller_field, &errors);
  }
  return errors;
}

std::string source_text(const Json& event) {
  const std::string& component = text_at(event, {"source", "component"});
  const bool old = !component.empty() || !text_at(event, {"source", "host"}).empty();
  std::string out = old ? component : text_at(event, "reportingComponent");
  const std::string& host =
      old ? text_at(event, {"source", "host"}) : text_at(event, "reportingInstance");
  if (!host.empty()) out.append(", ").append(host);
  return out;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::vector<Json> event_cells(const Json& event, TimePoint now) {
  const std::string& first = text_at(event, "firstTimestamp");
  const std::string& last = text_at(event, "lastTimestamp");
  const std::string& time = text_at(event, "eventTime");
  const std::string first_seen = age_of(first.empty() ? time : first, now);
  std::string last_seen = last.empty() ? first_seen : age_of(last, now);
  std::int64_t count = std::max<std::int64_t>(1, integer_at(event, "count").value_or(0));
  if (const Json* series = member(event, "series")) {
    last_seen = age_of(text_at(*series, "lastObservedTime"), now);
    count = integer_at(*series, "count").value_or(0);
  }
  const std::string object = lower(text_at(event, {"involvedObject", "kind"})) + "/" +
                             text_at(event, {"involvedObject", "name"});
  return {last_seen,
          text_at(event, "type"),
          text_at(event, "reason"),
          object,
          text_at(event, {"involvedObject", "fieldPath"}),
          source_text(event),
          text_at(event, "message"),
          first_seen,
          count,
          name_cell(event)};
}

class EventTable : public GenericStrategy {
 public:
  std::vector<TableColumn> columns() const override {
    TableColumn name = name_column();
    name.priority = 1;
    return {column("Last Seen", "string", "Time since the event was last seen."),
            column("Type", "string", "Normal or Warning."),
            column("Reason", "string", "Why, in one word."),
            column("Object", "string", "What the event is about."),
            column("Subobject", "string", "Which part of the object.", 1),
            column("Source", "string", "The component that reported the event.", 1),
            column("Message", "string", "What happened."),
            column("First Seen", "string", "Time since the event was first seen.", 1),
            column("Count", "string", "How often it was seen.", 1),
            name};
  }
};

std::vector<std::pair<std::string, std::string>> fields_of(const Json& core, const char* about,
                                                           const char* controller) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const char* name :
       {"kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"}) {
    out.emplace_back(join_path(about, name), text_at(core, {"involvedObject", name}));
  }
  const std::string& component = text_at(core, {"source", "component"});
  const std::string& reporter = text_at(core, "reportingComponent");
  out.emplace_back("reason", text_at(core, "reason"));
  out.emplace_back(controller, reporter);
  out.emplace_back("source", component.empty() ? reporter : component);
  out.emplace_back("type", text_at(core, "type"));
  return out;
}

class CoreEventStrategy final : public EventTable {
 public:
  void set_defaults(Json& event) const override {
    object_in(event, "involvedObject");
    object_in(event, "source");
    for (const char* name : {"firstTimestamp", "lastTimestamp", "eventTime"}) {
      if (!event.contains(name)) event[name] = nullptr;
    }
    default_to(event, "reportingComponent", "");
    default_to(event, "reportingInstance", "");
    drop_empty(event, "count");
  }
  FieldErrors validate_create(const Json& event) const override {
    return check_event(event, "reportingController");
  }
  FieldErrors validate_update(const Json& event, const Json&) const override {
    return check_event(event, "reportingController");
  }
  std::vector<Json> cells(const Json& event, TimePoint now) const override {
    return event_cells(event, now);
  }
  std::vector<std::pair<std::string, std::string>> selectable_fields(
      const Json& event) const override {
    return fields_of(event, "involvedObject", "reportingComponent");
  }
};

class EventsEventStrategy final : public EventTable {
 public:
  void set_defaults(Json& event) const override {
    object_in(event, "regarding");
    object_in(event, "deprecatedSource");
    for (const char* name : {"deprecatedFirstTimestamp", "deprecatedLastTimestamp", "eventTime"}) {
      if (!event.contains(name)) event[name] = nullptr;
    }
    drop_empty(event, "deprecatedCount");
  }

  FieldErrors validate_create(const Json& event) const override {
    const Json core = event_to_core(event);
    FieldErrors errors = check_event(core, "reportingController");
    if (member(core, "eventTime") == nullptr) errors.push_back(required("eventTime"));
    const std::string& type = text_at(core, "type");
    if (type != "Normal" && type != "Warning") {
      errors.push_back(invalid("type", "", "has invalid value: " + type));
    }
    for (const char* name : {"firstTimestamp", "lastTimestamp", "count", "source"}) {
      const Json* value = member(core, name);
      if (value != nullptr && !(value->is_object() && value->empty())) {
        errors.push_back(invalid(name, "", "needs to be unset"));
      }
    }
    return errors;
  }

  FieldErrors validate_update(const Json& event, const Json& old) const override {
    const Json core = event_to_core(event);
    const Json before = event_to_core(old);
    FieldErrors errors = check_event(core, "reportingController");
    for (const char* name : {"involvedObject", "reason", "message", "source", "firstTimestamp",
                             "lastTimestamp", "count", "reason", "type", "eventTime", "action",
                             "related", "reportingComponent", "reportingInstance"}) {
      check_immutable(core, before, name, "", &errors);
    }
    return errors;
  }

  std::vector<Json> cells(const Json& event, TimePoint now) const override {
    return event_cells(event_to_core(event), now);
  }
  std::vector<std::pair<std::string, std::string>> selectable_fields(
      const Json& event) const override {
    return fields_of(event_to_core(event), "regarding", "reportingController");
  }
};

}  // namespace

StrategyPtr core_event_strategy() {
  return std::make_shared<CoreEventStrategy>();
}

StrategyPtr events_event_strategy() {
  return std::make_shared<EventsEventStrategy>();
}

}  // namespace regatta::manifest::builtin
