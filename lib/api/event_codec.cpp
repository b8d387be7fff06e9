#include "lib/api/fields.h"

namespace regatta::api {

template <class V, Is<ObjectReference> T>
void fields(V& v, T& o) {
  v("apiVersion", o.api_version);
  v("kind", o.kind);
  v("namespace", o.ns);
  v("name", o.name);
  v("uid", o.uid);
  v("resourceVersion", o.resource_version);
  v("fieldPath", o.field_path);
}

template <class V, Is<EventSeries> T>
void fields(V& v, T& o) {
  v("count", o.count);
  v.micro("lastObservedTime", o.last_observed_time);
}

template <class V, Is<CoreEvent> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v("involvedObject", o.involved_object);
  v("reason", o.reason);
  v("message", o.message);
  v.inside("source", [&](auto& source) {
    source("component", o.source_component);
    source("host", o.source_host);
  });
  v("firstTimestamp", o.first_timestamp);
  v("lastTimestamp", o.last_timestamp);
  v("count", o.count);
  v("type", o.type);
}

template <class V, Is<Event> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v.micro("eventTime", o.event_time);
  v("series", o.series);
  v("reportingController", o.reporting_controller);
  v("reportingInstance", o.reporting_instance);
  v("action", o.action);
  v("reason", o.reason);
  v("regarding", o.regarding);
  v("related", o.related);
  v("note", o.note);
  v("type", o.type);
}

REGATTA_API_CODEC(CoreEvent);
REGATTA_API_CODEC(Event);

}  // namespace regatta::api
