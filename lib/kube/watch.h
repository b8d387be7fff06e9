#pragma once

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/task.h"
#include "lib/kube/outline.h"
#include "lib/net/http.h"

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace regatta::kube {

enum class WatchEventType { added, modified, deleted, bookmark };

struct WatchEvent {
  WatchEventType type = WatchEventType::added;
  std::shared_ptr<const Json> object;  ///< null only for a state that is known already
  /// An object of the reader whose spec is that of `object`, which lacks it; null: it lacks
  /// nothing.
  std::shared_ptr<const void> spec_from;
  std::string resource_version;  ///< of the object
  std::size_t bytes = 0;         ///< counted_bytes() of its text
};

/// An open watch. Destroying it closes the connection.
class WatchStream {
 public:
  explicit WatchStream(std::shared_ptr<net::BodyStream> body) : body_(std::move(body)) {}

  /// Whether the reader has the object in this state. Such events are not decoded.
  using IsKnown = std::function<bool(const Outline&)>;
  /// An object of the reader whose spec is that text; null when there is none.
  using WithSpec =
      std::function<std::shared_ptr<const void>(const Outline&, std::string_view spec)>;
  /// For readers of typed objects: events come without managedFields, without an object when it is
  /// known, and without its spec when that is. `with_spec` may be null.
  void read_lean(IsKnown is_known, WithSpec with_spec) {
    is_known_ = std::move(is_known);
    with_spec_ = std::move(with_spec);
  }

  /// The next event; nullopt at the clean end (the server's own timeout); an error otherwise: the
  /// one an in-stream ERROR event carries (`gone`: list again), `too_large` when an event is beyond
  /// object_bytes_max, or `unavailable` when the connection was cut. After either the stream is
  /// over. The call has no deadline: an idle server
  /// and a dead one look the same, so the caller sets the limit.
  Task<Result<std::optional<WatchEvent>>> next();
  /// Whether next() has its event without a wait.
  bool has_next() const { return !lines_.empty(); }

 private:
  void split(std::string_view piece);
  /// The event of a line, decoded as far as the reader needs it.
  Result<WatchEvent> read(std::string line) const;

  std::shared_ptr<net::BodyStream> body_;
  std::string partial_;
  std::deque<std::string> lines_;
  IsKnown is_known_;
  WithSpec with_spec_;
};

/// Decodes one line of a watch.
Result<WatchEvent> decode_watch_event(std::string_view line);

}  // namespace regatta::kube
