#pragma once

#include "lib/api/meta.h"
#include "lib/api/resource.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/rng.h"
#include "lib/kube/client.h"
#include "lib/kube/token_bucket.h"
#include "lib/runtime/wakeup.h"

#include <deque>
#include <map>
#include <string>

namespace regatta::kube {

enum class EventType { normal, warning };

/// Which events of one object, type and reason are repeats, and so a count on one Event.
enum class Repeats {
  same_message,
  any_message,  ///< the Event keeps its first message
};

/// What an Event is about.
struct EventSubject {
  std::string api_version;
  std::string kind;
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;
  friend auto operator<=>(const EventSubject&, const EventSubject&) = default;
};

template <class T>
EventSubject reference_to(const T& object) {
  return EventSubject{T::resource.api_version(), std::string(T::resource.kind),
                      object.metadata.ns,        object.metadata.name,
                      object.metadata.uid,       object.metadata.resource_version};
}

/// The same for an object whose kind is only known at run time.
inline EventSubject reference_to(const api::ResourceInfo& resource,
                                 const api::ObjectMeta& metadata) {
  return EventSubject{
      resource.api_version(), std::string(resource.kind), metadata.ns, metadata.name,
      metadata.uid,           metadata.resource_version};
}

struct EventRecorderOptions {
  std::string component;      ///< source.component: "kueue-workload-controller"
  std::string instance;       ///< reportingInstance: the pod or host name
  int burst_per_object = 25;  ///< events at once; after them one in each refill interval
  Duration refill_per_object = std::chrono::minutes(5);
  /// Normal events beyond `normal_burst` and then this rate are suppressed, so that under load the
  /// API server has time for the controllers. Warnings always pass. 0: no limit.
  double normal_per_second = 0;
  int normal_burst = 100;
  Duration series_window = std::chrono::minutes(10);  ///< repeats within it share one Event
  int similar_max = 10;  ///< messages of one object and reason before they are combined
  std::size_t queue_max = 1000;
  std::size_t known_max = 4096;  ///< series and objects remembered
};

/// Tells users what happened to an object, as core/v1 Events. Repeats become a count on one Event.
/// Many different messages of one object, type and reason are combined into one. An object with too
/// many events gets no more for a while. event() never waits and never fails: beyond the queue's
/// limit, and after a failed write, events are dropped and counted.
class EventRecorder {
 public:
  EventRecorder(Client& client, Clock& clock, Rng& rng, Executor executor, Log log,
                EventRecorderOptions options);
  EventRecorder(const EventRecorder&) = delete;

  void event(const EventSubject& about, EventType type, std::string reason, std::string message,
             Repeats repeats = Repeats::same_message);

  /// Writes queued events, one at a time, until cancelled. Spawn it several times for as many
  /// writes in flight.
  Task<> run();
  /// Returns when nothing is queued or being written. For orderly shutdown, while run() runs.
  Task<> flush();

  struct Counters {
    std::uint64_t recorded = 0, written = 0, suppressed = 0, dropped = 0, failed = 0;
  };
  const Counters& counters() const { return counters_; }

  static constexpr std::size_t message_bytes_max = 1024;

 private:
  struct SeriesKey {
    EventSubject about;  ///< without its resourceVersion
    EventType type;
    std::string reason;
    std::string message;  ///< or the marker of combined events, or of repeats with any message
    friend auto operator<=>(const SeriesKey&, const SeriesKey&) = default;
  };
  struct Series {
    std::string name;       ///< of the Event
    std::string message;    ///< what is written: differs from the key's for combined events
    TimePoint first, last;  ///< as written
    SteadyPoint heard{};    ///< for the window
    int count = 0;
    bool created = false;  ///< the Event exists: repeats are patches
    bool queued = false;
    bool writing = false;
    bool busy() const { return queued || writing; }
  };
  struct Similar {
    std::map<std::string, SteadyPoint> messages;
  };
  struct Budget {
    double tokens = 0;
    SteadyPoint refilled{};
  };
  static constexpr int attempts_max = 3;

  bool within_budget(const EventSubject& about);
  SeriesKey combine(const EventSubject& about, EventType type, const std::string& reason,
                    const std::string& message);
  void enqueue(const SeriesKey& key, Series* series);
  Task<> write_with_retries(SeriesKey key);
  Task<Status> write(const SeriesKey& key);
  std::string event_json(const SeriesKey& key, const Series& series) const;
  void forget_old();

  Client& client_;
  Clock& clock_;
  Rng& rng_;
  Log log_;
  EventRecorderOptions options_;
  std::map<SeriesKey, Series> series_;
  std::map<SeriesKey, Similar> similar_;  ///< message empty
  std::map<EventSubject, Budget> budgets_;
  std::deque<SeriesKey> queue_;
  int writing_ = 0;
  Counters counters_;
  TokenBucket normal_budget_;
  Wakeup work_, idle_;
};

}  // namespace regatta::kube
