#include "lib/kube/watch.h"

#include "lib/kube/object_limits.h"
#include "lib/kube/status.h"

#include <nlohmann/json.hpp>

namespace regatta::kube {
namespace {

/// A value that is freed from below.
struct Tree {
  ~Tree() { discard(&json); }
  Json json;
};

std::string version_of(const Json& object) {
  const auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->is_object()) return {};
  const auto version = metadata->find("resourceVersion");
  if (version == metadata->end() || !version->is_string()) return {};
  return version->get<std::string>();
}

std::optional<WatchEventType> type_of(std::string_view name) {
  if (name == "ADDED") return WatchEventType::added;
  if (name == "MODIFIED") return WatchEventType::modified;
  if (name == "DELETED") return WatchEventType::deleted;
  if (name == "BOOKMARK") return WatchEventType::bookmark;
  return std::nullopt;
}

/// Without its bytes.
Result<WatchEvent> parse_watch_event(std::string_view line) {
  Result<Json> event = parse_json(line);
  if (!event) return Error(Errc::unavailable, "broken watch event: " + event.error().what());
  if (!event->is_object() || !event->contains("type") || !event->contains("object") ||
      !(*event)["type"].is_string() || !(*event)["object"].is_object()) {
    return Error(Errc::unavailable, "a watch event without type or object");
  }
  const auto& name = (*event)["type"].get_ref<const std::string&>();
  Json& object = (*event)["object"];
  if (name == "ERROR") return error_of_status_object(object);
  const auto type = type_of(name);
  if (!type) return Error(Errc::unavailable, "unknown watch event type " + name);
  WatchEvent decoded;
  decoded.type = *type;
  decoded.resource_version = version_of(object);
  const auto tree = std::make_shared<Tree>(std::move(object));
  decoded.object = {tree, &tree->json};
  return decoded;
}

}  // namespace

Result<WatchEvent> decode_watch_event(std::string_view line) {
  Result<WatchEvent> event = parse_watch_event(line);
  if (event) event->bytes = counted_bytes(line);
  return event;
}

Task<Result<std::optional<WatchEvent>>> WatchStream::next() {
  while (lines_.empty()) {
    auto piece = co_await body_->next();
    if (!piece) co_return piece.error();
    if (!*piece) {
      if (partial_.empty()) co_return std::optional<WatchEvent>();
      co_return Error(Errc::unavailable, "the watch ended inside an event");
    }
    split(**piece);
    const Status readable = check_object_bytes(partial_.size());
    if (!readable) co_return readable.error();
  }
  std::string line = std::move(lines_.front());
  lines_.pop_front();
  const Status readable = check_object_bytes(line.size());
  if (!readable) co_return readable.error();
  Result<WatchEvent> event = read(std::move(line));
  if (!event) co_return event.error();
  co_return std::optional<WatchEvent>(std::move(*event));
}

Result<WatchEvent> WatchStream::read(std::string line) const {
  const auto outline = is_known_ ? outline_of_event(line) : std::nullopt;
  if (!outline) return decode_watch_event(line);
  const Outline& object = outline->object;
  const auto type = type_of(outline->type);
  const bool state = type == WatchEventType::added || type == WatchEventType::modified;
  if (state && is_known_(object)) {
    WatchEvent known;
    known.type = *type;
    known.resource_version = object.resource_version;
    return known;
  }
  const auto spec = with_spec_ ? spec_after(object) : std::nullopt;
  const auto spec_from = spec ? with_spec_(object, spec->value) : nullptr;
  // The metadata, which have the managedFields, stand before the spec.
  const std::size_t moved = object.managed_fields.size();
  cut(object.managed_fields, &line);
  const std::size_t bytes = counted_bytes(line);
  if (spec_from) cut({spec->whole.data() - moved, spec->whole.size()}, &line);
  Result<WatchEvent> event = parse_watch_event(line);
  if (!event) return event;
  event->bytes = bytes;
  event->spec_from = spec_from;
  return event;
}

void WatchStream::split(std::string_view piece) {
  for (;;) {
    const std::size_t end = piece.find('\n');
    partial_ += piece.substr(0, end);
    if (end == std::string_view::npos) return;
    if (!partial_.empty()) lines_.push_back(std::exchange(partial_, {}));
    piece.remove_prefix(end + 1);
  }
}

}  // namespace regatta::kube
