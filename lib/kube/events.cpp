#include "lib/kube/events.h"

#include "lib/base/limited_text.h"
#include "lib/kube/status.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace regatta::kube {
namespace {

constexpr api::ResourceInfo event_resource{"", "v1", "Event", "events", true};
constexpr std::string_view combined_prefix = "(combined from similar events): ";
constexpr std::string_view any_message = "*";
constexpr std::size_t object_name_bytes_max = 253;

std::string event_name(const std::string& object, Rng& rng) {
  char suffix[18];
  std::snprintf(suffix, sizeof suffix, ".%016llx", static_cast<unsigned long long>(rng.next()));
  return object.substr(0, object_name_bytes_max - 17) + suffix;
}

/// Events of cluster-scoped objects live here.
std::string namespace_of(const EventSubject& about) {
  return about.ns.empty() ? "default" : about.ns;
}

}  // namespace

EventRecorder::EventRecorder(Client& client, Clock& clock, Rng& rng, Executor executor, Log log,
                             EventRecorderOptions options)
    : client_(client),
      clock_(clock),
      rng_(rng),
      log_(std::move(log)),
      options_(std::move(options)),
      normal_budget_(clock, options_.normal_per_second, options_.normal_burst),
      work_(executor),
      idle_(executor) {}

// --- what is worth writing ---

void EventRecorder::event(const EventSubject& about, EventType type, std::string reason,
                          std::string message, Repeats repeats) {
  ++counters_.recorded;
  EventSubject object = about;
  object.resource_version.clear();
  const bool affordable = type == EventType::warning || normal_budget_.try_take();
  if (!affordable || !within_budget(object)) {
    ++counters_.suppressed;
    return;
  }
  forget_old();
  message = limited_text(std::move(message), message_bytes_max - combined_prefix.size());
  const bool by_reason = repeats == Repeats::any_message;
  const SeriesKey key = by_reason ? SeriesKey{object, type, reason, std::string(any_message)}
                                  : combine(object, type, reason, message);
  const TimePoint wall = clock_.now();
  const SteadyPoint now = clock_.steady();
  Series& series = series_[key];
  if (!series.busy() && (series.name.empty() || now - series.heard > options_.series_window)) {
    series = Series();
    series.name = event_name(about.name, rng_);
    series.first = wall;
  }
  const bool combined = !by_reason && key.message != message;
  if (!by_reason || series.message.empty()) {
    series.message = combined ? std::string(combined_prefix) + message : message;
  }
  series.last = wall;
  series.heard = now;
  ++series.count;
  enqueue(key, &series);
}

bool EventRecorder::within_budget(const EventSubject& about) {
  const SteadyPoint now = clock_.steady();
  const double burst = options_.burst_per_object;
  const auto [it, fresh] = budgets_.try_emplace(about, Budget{burst, now});
  Budget& budget = it->second;
  const double passed = std::chrono::duration<double>(now - budget.refilled).count();
  const double refill = std::chrono::duration<double>(options_.refill_per_object).count();
  budget.tokens = std::min(burst, budget.tokens + passed / refill);
  budget.refilled = now;
  if (budget.tokens < 1) return false;
  budget.tokens -= 1;
  return true;
}

/// The series of this message, or the one that all further messages share once there are too many.
EventRecorder::SeriesKey EventRecorder::combine(const EventSubject& about, EventType type,
                                                const std::string& reason,
                                                const std::string& message) {
  const SteadyPoint now = clock_.steady();
  SeriesKey key{about, type, reason, {}};
  Similar& similar = similar_[key];
  std::erase_if(similar.messages,
                [&](const auto& m) { return now - m.second > options_.series_window; });
  const bool known = similar.messages.contains(message);
  const bool full = similar.messages.size() >= static_cast<std::size_t>(options_.similar_max);
  if (known || !full) {
    similar.messages[message] = now;
    key.message = message;
  } else {
    key.message = combined_prefix;
  }
  return key;
}

/// A series that is forgotten too early only costs one more Event instead of a higher count.
void EventRecorder::forget_old() {
  const SteadyPoint now = clock_.steady();
  if (series_.size() > options_.known_max) {
    std::erase_if(series_, [&](const auto& s) {
      return !s.second.busy() && now - s.second.heard > options_.series_window;
    });
    if (series_.size() > options_.known_max) {
      std::erase_if(series_, [](const auto& s) { return !s.second.busy(); });
    }
  }
  if (similar_.size() > options_.known_max) similar_.clear();
  if (budgets_.size() > options_.known_max) budgets_.clear();
}

void EventRecorder::enqueue(const SeriesKey& key, Series* series) {
  if (series->queued) return;
  if (queue_.size() >= options_.queue_max) {
    ++counters_.dropped;
    return;
  }
  series->queued = true;
  if (series->writing) return;  // queued again when that write is done
  queue_.push_back(key);
  work_.notify_one();
}

// --- writing ---

Task<> EventRecorder::run() {
  for (;;) {
    while (queue_.empty()) co_await work_.wait();
    SeriesKey key = std::move(queue_.front());
    queue_.pop_front();
    if (!queue_.empty()) work_.notify_one();
    struct Writing {
      EventRecorder& recorder;
      explicit Writing(EventRecorder& r) : recorder(r) { ++recorder.writing_; }
      ~Writing() { --recorder.writing_; }
    };
    {
      const Writing writing(*this);
      co_await write_with_retries(key);
    }
    if (queue_.empty() && writing_ == 0) idle_.notify_all();
  }
}

Task<> EventRecorder::write_with_retries(SeriesKey key) {
  series_[key].queued = false;
  series_[key].writing = true;
  for (int attempt = 1;; ++attempt) {
    const Status written = co_await write(key);
    if (written) {
      ++counters_.written;
      break;
    }
    if (!written.error().retryable() || attempt == attempts_max) {
      ++counters_.failed;
      log_.warning("dropping an event", {{"object", key.about.ns + "/" + key.about.name},
                                         {"reason", key.reason},
                                         {"error", written.error().what()}});
      break;
    }
    co_await clock_.sleep_for(std::chrono::seconds(attempt));
  }
  Series& series = series_[key];
  series.writing = false;
  if (!series.queued) co_return;
  queue_.push_back(key);
  work_.notify_one();
}

Task<Status> EventRecorder::write(const SeriesKey& key) {
  const std::string ns = namespace_of(key.about);
  if (series_[key].created) {
    const Series& series = series_[key];
    const Json patch = {{"count", series.count},
                        {"lastTimestamp", format_rfc3339(series.last)},
                        {"message", series.message}};
    auto patched = co_await client_.patch_raw(event_resource, api::ObjectKey(ns, series.name),
                                              PatchType::merge, dump_json(patch));
    if (patched) co_return ok();
    if (patched.error().code() != Errc::not_found) co_return patched.error();
    // The Event expired: write the whole series again under a new name.
    series_[key].created = false;
    series_[key].name = event_name(key.about.name, rng_);
  }
  auto created = co_await client_.create_raw(event_resource, ns, event_json(key, series_[key]));
  // already_exists: an earlier create went through although its answer was lost.
  if (!created && created.error().code() != Errc::already_exists) co_return created.error();
  series_[key].created = true;
  co_return ok();
}

std::string EventRecorder::event_json(const SeriesKey& key, const Series& series) const {
  Json object = {
      {"apiVersion", key.about.api_version}, {"kind", key.about.kind}, {"name", key.about.name}};
  if (!key.about.ns.empty()) object["namespace"] = key.about.ns;
  if (!key.about.uid.empty()) object["uid"] = key.about.uid;
  const Json event = {{"apiVersion", "v1"},
                      {"kind", "Event"},
                      {"metadata", {{"name", series.name}, {"namespace", namespace_of(key.about)}}},
                      {"involvedObject", std::move(object)},
                      {"type", key.type == EventType::normal ? "Normal" : "Warning"},
                      {"reason", key.reason},
                      {"message", series.message},
                      {"source", {{"component", options_.component}}},
                      {"reportingComponent", options_.component},
                      {"reportingInstance", options_.instance},
                      {"firstTimestamp", format_rfc3339(series.first)},
                      {"lastTimestamp", format_rfc3339(series.last)},
                      {"count", series.count}};
  return dump_json(event);
}

Task<> EventRecorder::flush() {
  while (!queue_.empty() || writing_ > 0) co_await idle_.wait();
}

}  // namespace regatta::kube
