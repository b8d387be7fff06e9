#include "lib/kube/informer_core.h"

#include "lib/base/check.h"
#include "lib/base/json_access.h"
#include "lib/base/limited_text.h"
#include "lib/kube/known_spec.h"
#include "lib/kube/status.h"
#include "lib/runtime/backoff.h"
#include "lib/runtime/deadline.h"
#include "lib/runtime/turn.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::kube {
namespace {

/// After so many failures of a watch in a row, each answered by the server, the store is listed
/// anew: the cause may be the resourceVersion that we ask for.
constexpr int failures_before_relist = 5;

/// A 410 so long after the one before is no sign of trouble: a server compacts its history every
/// few minutes.
constexpr Duration relist_memory = std::chrono::minutes(2);

/// When a server is asked again after it sent too much for the first time in a while.
constexpr Duration over_limit_base = std::chrono::seconds(20);

/// After so many watches in a row without a single bookmark our resourceVersion is doubted: a
/// server restored from a backup waits silently for a version that it has lost.
constexpr int silent_watches_before_relist = 2;

/// How soon a resource without objects is listed again, at first: a write of another process may
/// arrive late.
constexpr Duration rest_base = std::chrono::seconds(10);

/// Ends when nothing was heard for `limit`, however often that moves: one sleeper for the whole
/// life of a watch instead of one for each event.
Task<> silence(Clock& clock, const SteadyPoint& heard, Duration limit) {
  while (clock.steady() < heard + limit) co_await clock.sleep_until(heard + limit);
}

Task<> store_status(Task<Status> op, Status* into) {
  *into = co_await std::move(op);
}

/// Does without the codec, which may be what failed.
api::ObjectKey key_of(const Json& object) {
  const Json* metadata = member(object, "metadata");
  if (!metadata) return {};
  return api::ObjectKey(text_at(*metadata, "namespace"), text_at(*metadata, "name"));
}

api::ObjectKey key_of(const Outline& object) {
  return {std::string(object.ns), std::string(object.name)};
}

/// Kubernetes allows no longer name of an object or a namespace.
constexpr std::size_t name_bytes_max = 253;

/// Names are kept without being counted: those of objects that went, or cannot be decoded.
Status check_name(const api::ObjectKey& key) {
  if (std::max(key.ns.size(), key.name.size()) <= name_bytes_max) return ok();
  return Error(Errc::invalid, "an object with a name or namespace of more than 253 bytes");
}

/// It is kept for each object that cannot be decoded, and may quote it.
Error limited(const Error& error) {
  constexpr std::size_t bytes_max = 1024;
  return Error(error.code(), limited_text(error.what(), bytes_max));
}

bool ends_initial_events(const WatchEvent& event) {
  if (event.type != WatchEventType::bookmark) return false;
  const Json* metadata = member(*event.object, "metadata");
  const Json* annotations = metadata ? member(*metadata, "annotations") : nullptr;
  return annotations && text_at(*annotations, "k8s.io/initial-events-end") == "true";
}

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// What many values take in an index, each with the key of the object; a few go without saying.
std::size_t weight_of(const std::vector<std::string>& values) {
  constexpr std::size_t few = 4, node_bytes = 256;
  return values.size() <= few ? 0 : (values.size() - few) * node_bytes;
}

}  // namespace

std::optional<bool> is_older_version(std::string_view a, std::string_view b) {
  if (!all_digits(a) || !all_digits(b)) return std::nullopt;
  const auto trim = [](std::string_view s) {
    s.remove_prefix(std::min(s.find_first_not_of('0'), s.size()));
    return s;
  };
  a = trim(a);
  b = trim(b);
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

InformerCore::InformerCore(InformerDeps deps, api::ResourceInfo resource, InformerOptions options,
                           Decode decode, TypeInfo type)
    : deps_(std::move(deps)),
      resource_(resource),
      options_(std::move(options)),
      decode_(std::move(decode)),
      type_(type),
      page_limit_(options_.page_limit),
      held_(deps_.client.held()),
      synced_(deps_.executor),
      anew_(deps_.executor) {}

Task<> InformerCore::wait_synced() {
  while (!health_.synced) co_await synced_.wait();
}

// --- the loop ---

Task<> InformerCore::run() {
  struct Disconnect {
    InformerHealth& health;
    ~Disconnect() { health.connected = false; }
  } at_the_end{health_};
  health_.disconnected_since = deps_.clock.now();
  while (!stopped_) {
    if (anew_wanted_ != anew_begun_) version_.clear();
    if (version_.empty()) anew_begun_ = anew_wanted_;
    if (may_rest()) {
      co_await rest();
      continue;
    }
    Status done = ok();
    Task<> following = store_status(follow(), &done);
    Task<> interruption = interrupted();
    if (!co_await finishes_first(std::move(following), std::move(interruption))) continue;
    Error failure;
    if (!done) {
      failure = done.error();
    } else if (may_rest()) {
      continue;
    } else if (deps_.clock.steady() - opened_ < options_.retry_base) {
      failure = Error(Errc::unavailable, "the server ended the watch as soon as it began");
    } else {
      continue;
    }
    looks_ = 0;
    Duration delay{};
    if (says_absent(failure)) {
      delay = note_absent_resource(failure);
    } else {
      ++health_.failures;
      delay = retry_delay(failure);
      health_.next_attempt = deps_.clock.now() + delay;
      note_failure(failure);
    }
    Task<> sleeping = deps_.clock.sleep_for(delay);
    Task<> roused = interrupted();
    co_await finishes_first(std::move(sleeping), std::move(roused));
  }
}

void InformerCore::stop() {
  stopped_ = true;
  anew_.notify_all();
}

/// Ends when the informer is stopped, a new list is wanted or an observed object was refused.
Task<> InformerCore::interrupted() {
  while (!is_interrupted()) co_await anew_.wait();
}

void InformerCore::list_anew() {
  ++anew_wanted_;
  anew_.notify_all();
}

Task<> InformerCore::catch_up() {
  list_anew();
  const std::uint64_t mine = anew_wanted_;
  while (anew_done_ < mine) co_await synced_.wait();
}

Task<> InformerCore::vouch() {
  co_await catch_up();
  vouched_ = true;
}

Task<Status> InformerCore::follow() {
  if (refused_) {
    version_.clear();  // from now on the store would miss something
    co_return *std::exchange(refused_, std::nullopt);
  }
  const bool with_list =
      version_.empty() && options_.watch_list && !watch_list_refused_ && looks_ == 0;
  if (version_.empty() && !with_list) {
    const Status filled = co_await fill_from_list();
    if (!filled) co_return filled;
    // The store may have observed objects that are newer than the list.
    const Status within_limits = check_store();
    if (!within_limits) {
      version_.clear();
      co_return within_limits;
    }
  }
  if (may_rest()) co_return ok();
  looks_ = 0;
  auto stream = co_await open_watch(with_list);
  if (!stream) {
    if (with_list && stream.error().code() == Errc::invalid) {
      watch_list_refused_ = true;  // an older server: list from now on
    }
    co_return stream.error();
  }
  set_connected(true);
  if (!with_list) read_lean(&*stream);
  Listing initial;
  const Status watched =
      co_await read_until_silent(std::move(*stream), with_list ? &initial : nullptr);
  set_held(in_store());
  co_return watched;
}

/// Our own writes were observed from their answers and come back as known events. Others mostly
/// change no spec.
void InformerCore::read_lean(WatchStream* stream) const {
  WatchStream::WithSpec with_spec;
  if (type_.spec_of) {
    with_spec = [this](const Outline& object, std::string_view spec) {
      return stored_with_spec(object, spec);
    };
  }
  stream->read_lean([this](const Outline& object) { return is_stored(object); },
                    std::move(with_spec));
}

bool InformerCore::is_stored(const Outline& object) const {
  const api::ObjectKey key = key_of(object);
  const Entry* stored = store_.find(key);
  if (!stored || undecodable_.contains(key)) return false;
  return stored->resource_version == object.resource_version;
}

/// The stored version of the object, if it has that spec.
InformerCore::Object InformerCore::stored_with_spec(const Outline& object,
                                                    std::string_view spec) const {
  const Entry* stored = store_.find(key_of(object));
  if (!stored) return nullptr;
  const bool same = is_spec(spec, object, resource_, type_.spec_of(stored->object.get()));
  return same ? stored->object : nullptr;
}

Task<Status> InformerCore::fill_from_list() {
  ListOptions options;
  options.label_selector = options_.label_selector;
  options.field_selector = options_.field_selector;
  options.limit = page_limit_;
  options.limit_max = options_.page_limit;
  options.metadata_only = options_.metadata_only;
  options.last = looks_ > 0;
  ++lists_begun_;
  Listing listing;
  Status fits = ok();
  const OnItem add = [&](const Json& item, std::size_t bytes) {
    if (fits) fits = check_name(key_of(item));
    if (fits) add_to(&listing, item, bytes);
    if (fits) fits = check_read(listing);
  };
  auto version = co_await deps_.client.list_raw(resource_, options_.ns, options, add);
  if (!version && version.error().code() == Errc::gone && options.limit != 0) {
    // Paging took longer than the server keeps a snapshot: list again without pages.
    listing = Listing();
    fits = ok();
    options.limit = 0;
    version = co_await deps_.client.list_raw(resource_, options_.ns, options, add);
  }
  note_page(version ? std::nullopt : std::optional(version.error().code()));
  if (version && fits) {
    ++health_.lists;
    replace_store(std::move(listing), std::move(*version));
  }
  set_held(in_store());
  if (!version) co_return version.error();
  if (!fits) co_return fits.error().within("list of " + resource_.group_resource());
  co_return ok();
}

/// A page that did not come in time may have been too much to ask for.
void InformerCore::note_page(std::optional<Errc> failure) {
  if (!failure) {
    page_limit_ = std::min(2 * page_limit_, options_.page_limit);
  } else if (*failure == Errc::timeout) {
    page_limit_ = smaller_page(page_limit_);
  }
}

// --- rest ---

/// An object that was expected a while ago may come late.
bool InformerCore::may_rest() const {
  if (options_.rest <= Duration(0) || refused_) return false;
  if (!store_.empty() || !undecodable_.empty()) return false;
  return !version_.empty() && (!roused_ || deps_.clock.steady() - *roused_ >= options_.rest);
}

/// After the pause the resource is to be listed, unless something ended it earlier.
Task<> InformerCore::rest() {
  note_rest();
  // Informers that began together do not list together for ever.
  const Duration pause = Backoff{rest_base, options_.rest}.after(++looks_);
  const Duration jitter(deps_.rng.between(0, pause.count() / 2));
  Task<> sleeping = deps_.clock.sleep_for(pause - jitter);
  Task<> waking = roused();
  if (co_await finishes_first(std::move(sleeping), std::move(waking))) {
    version_.clear();
  } else {
    looks_ = 0;
  }
}

Task<> InformerCore::roused() {
  while (!is_interrupted() && may_rest()) co_await anew_.wait();
}

void InformerCore::rouse() {
  if (options_.rest <= Duration(0)) return;
  roused_ = deps_.clock.steady();
  anew_.notify_all();
}

void InformerCore::note_rest() {
  health_.resting = true;
  health_.failures = 0;
  health_.last_error.reset();
  if (health_.connected) return set_connected(false);
  for (const auto& handler : health_handlers_) handler();
}

Task<Result<WatchStream>> InformerCore::open_watch(bool with_list) {
  WatchOptions options;
  options.label_selector = options_.label_selector;
  options.field_selector = options_.field_selector;
  options.resource_version = version_;
  options.send_initial_events = with_list;
  if (with_list) ++lists_begun_;
  options.metadata_only = options_.metadata_only;
  const Duration jitter(deps_.rng.between(0, options_.watch_timeout.count()));
  options.server_timeout =
      std::chrono::duration_cast<std::chrono::seconds>(options_.watch_timeout + jitter);
  ++health_.watches;
  auto stream = co_await deps_.client.watch(resource_, options_.ns, std::move(options));
  heard_ = opened_ = deps_.clock.steady();
  co_return stream;
}

Task<Status> InformerCore::read_until_silent(WatchStream stream, Listing* initial) {
  const std::uint64_t events = health_.events;
  Status ended = ok();
  Task<> reading = store_status(read_events(&stream, initial), &ended);
  Task<> waiting = silence(deps_.clock, heard_, options_.idle_timeout);
  const bool spoke = co_await finishes_first(std::move(reading), std::move(waiting));
  if (spoke) {
    silent_watches_ = 0;
    co_return ended;
  }
  silent_watches_ = events == health_.events ? silent_watches_ + 1 : 0;
  if (silent_watches_ >= silent_watches_before_relist) {
    silent_watches_ = 0;
    version_.clear();
  }
  co_return Error(Errc::timeout,
                  "nothing heard for " +
                      std::to_string(options_.idle_timeout / std::chrono::seconds(1)) +
                      " s on the watch: the connection is taken for dead");
}

Task<Status> InformerCore::read_events(WatchStream* stream, Listing* initial) {
  Turn turn;
  for (;;) {
    const bool waits = !stream->has_next();
    const SteadyPoint before = deps_.clock.steady();
    auto event = co_await stream->next();
    if (!event) {
      // The same event would come again and again.
      if (event.error().code() == Errc::too_large) version_.clear();
      co_return event.error();
    }
    if (!*event) co_return ok();
    const Status named = (*event)->object ? check_name(key_of(*(*event)->object)) : ok();
    if (!named) {
      version_.clear();
      co_return named;
    }
    heard_ = deps_.clock.steady();
    told_ = heard_;
    health_.last_event = deps_.clock.now();
    // Neither a list nor an event is progress by itself: "list, event, 410" and "event, cut" must
    // back off.
    if (!initial && heard_ - opened_ >= options_.retry_base) health_.failures = 0;
    if (!initial && is_older_version((*event)->resource_version, reached_).value_or(false)) {
      co_return Error(Errc::gone, "the API server's versions went back from " + reached_ + " to " +
                                      (*event)->resource_version);
    }
    take_event(**event, initial);
    // Events that came together are taken without a wait: each may cost much, or they are many.
    turn.add(deps_.clock.steady() - (waits ? heard_ : before));
    if (turn.is_over()) co_await turn.pass();
    if (initial && ends_initial_events(**event)) initial = nullptr;
    const Status within_limits = initial ? check_read(*initial) : check_store();
    if (!within_limits) {
      version_.clear();  // from now on the store would miss something
      co_return within_limits;
    }
  }
}

void InformerCore::take_event(const WatchEvent& event, Listing* initial) {
  ++health_.events;
  if (!initial) return apply(event);
  if (ends_initial_events(event)) {
    ++health_.lists;
    return replace_store(std::move(*initial), event.resource_version);
  }
  if (event.type == WatchEventType::bookmark) return;
  if (event.type == WatchEventType::deleted) {
    initial->objects.erase(key_of(*event.object));
    initial->undecodable.erase(key_of(*event.object));
    return;
  }
  add_to(initial, *event.object, event.bytes);
}

void InformerCore::set_held(Held mine) {
  held_->objects += mine.objects - counted_.objects;
  held_->bytes += mine.bytes - counted_.bytes;
  counted_ = mine;
}

/// Whether this informer may hold so much, beside the others.
Status InformerCore::check_limits(Held mine) const {
  const ListLimits& limits = deps_.client.config().list_limits;
  const Held others{held_->objects - counted_.objects, held_->bytes - counted_.bytes};
  if (others.objects + mine.objects > limits.objects_max) return limits.beyond_objects();
  if (others.bytes + mine.bytes > limits.bytes_max) return limits.beyond_bytes();
  return ok();
}

Status InformerCore::check_read(const Listing& listing) {
  set_held({listing.objects.size() + listing.undecodable.size(), listing.bytes});
  return check_limits(counted_);
}

Status InformerCore::check_store() {
  set_held(in_store());
  return check_limits(counted_);
}

/// Whether the store has room for it.
Status InformerCore::check_observed(const Decoded& written, const Entry* stored) const {
  const Status named = check_name(written.key);
  if (!named) return named;
  Held with = in_store();
  with.objects += stored ? 0 : 1;
  with.bytes += written.bytes - (stored ? stored->bytes : 0);
  return check_limits(with);
}

// --- failures and health ---

void InformerCore::note_failure(const Error& error) {
  if (error.code() == Errc::gone ||
      (error.details() && health_.failures % failures_before_relist == 0)) {
    version_.clear();
  }
  // A watch that is cut and resumes at once is normal; only a lasting failure is a disconnection.
  const bool followed = health_.connected || health_.resting;
  const bool lasting = !followed || health_.failures > 1 || error.code() == Errc::timeout ||
                       error.code() == Errc::too_large;
  if (!lasting) return;
  if (options_.list_after_loss) version_.clear();
  health_.resting = false;
  const bool news = !health_.last_error || *health_.last_error != error;
  health_.last_error = error;
  if (news) {
    deps_.log.warning("cannot follow the API server", {{"resource", resource_.group_resource()},
                                                       {"code", name_of(error.code())},
                                                       {"error", error.what()}});
  }
  if (health_.connected) return set_connected(false);
  if (!news) return;
  for (const auto& handler : health_handlers_) handler();
}

/// A resource that was served and has objects here is not believed to be gone.
bool InformerCore::says_absent(const Error& failure) const {
  const bool says_so =
      failure.code() == Errc::not_found || (options_.forbidden_is_absent && is_forbidden(failure));
  return options_.absent_retry > Duration(0) && says_so && version_.empty() && store_.empty();
}

/// There are no objects of a resource that there is not. Returns how long to wait.
Duration InformerCore::note_absent_resource(const Error& failure) {
  const bool news = health_.served || health_.last_error;
  health_.served = health_.resting = false;
  health_.last_error.reset();
  health_.failures = 0;
  health_.last_event = deps_.clock.now();
  health_.synced = true;
  anew_done_ = anew_begun_;
  synced_.notify_all();
  if (news) {
    const bool served = failure.code() != Errc::not_found;
    deps_.log.info(served ? "the API server does not let the resource be read"
                          : "the API server does not serve the resource",
                   {{"resource", resource_.group_resource()}, {"answer", failure.what()}});
    for (const auto& handler : health_handlers_) handler();
  }
  return Backoff{std::chrono::seconds(1), options_.absent_retry}.after(++absent_answers_);
}

/// Retries at once after the first failure, so that a cut watch costs nothing; then exponentially.
Duration InformerCore::retry_delay(const Error& failure) {
  const SteadyPoint now = deps_.clock.steady();
  if (failure.code() == Errc::too_large) {
    const Duration limit = options_.over_limit_retry;
    return Backoff{over_limit_base, limit}.after(over_limits_.extend(now, 2 * limit));
  }
  int failures = health_.failures;
  if (failure.code() == Errc::gone) {
    failures = std::max(failures, relists_.extend(now, relist_memory));
  }
  const Duration base = options_.retry_base;
  if (failures <= 1) return Duration(deps_.rng.between(0, base.count() / 8));
  const Duration delay = Backoff{base, options_.retry_limit}.after(failures - 1);
  return delay / 2 + Duration(deps_.rng.between(0, delay.count() / 2));
}

void InformerCore::set_connected(bool connected) {
  if (health_.connected == connected) return;
  health_.connected = connected;
  const TimePoint now = deps_.clock.now();
  if (connected) {
    health_.connected_since = now;
    health_.disconnected_since.reset();
    health_.last_error.reset();
    health_.resting = false;
  } else {
    health_.connected_since.reset();
    health_.disconnected_since = now;
  }
  for (const auto& handler : health_handlers_) handler();
}

// --- the store ---

void InformerCore::add_to(Listing* listing, const Json& item, std::size_t bytes) {
  listing->bytes += bytes;
  Result<Decoded> decoded = decode_(item, nullptr);
  if (!decoded) {
    api::ObjectKey key = key_of(item);
    note_undecodable(key, decoded.error());
    listing->objects.erase(key);
    if (auto part = part_of(key, item, bytes))
      listing->parts.insert_or_assign(key, std::move(*part));
    listing->undecodable.insert_or_assign(std::move(key), limited(decoded.error()));
    return;
  }
  listing->undecodable.erase(decoded->key);
  listing->objects[decoded->key] =
      Entry{std::move(decoded->object), std::move(decoded->resource_version), bytes};
}

void InformerCore::note_undecodable(const api::ObjectKey& key, const Error& error) {
  ++health_.decode_failures;
  deps_.log.error(
      "ignoring an object that cannot be decoded",
      {{"resource", resource_.group_resource()}, {"object", key.str()}, {"error", error.what()}});
}

void InformerCore::replace_store(Listing listing, std::string version) {
  std::vector<Change> changes;
  std::vector<api::ObjectKey> missing;
  // The server was restored from a backup: nothing that the store has is newer than this list.
  const bool went_back = is_older_version(version, reached_).value_or(false);
  for (const auto& [key, entry] : store_) {
    const bool beyond = is_older_version(version, entry.resource_version).value_or(false);
    // Written and observed while the list was made, or one before it. What two lists lack never had
    // that version.
    const bool lately = entry.observed_in != 0 && lists_begun_ - entry.observed_in <= 1;
    const bool newer = beyond && lately && !went_back;
    const bool there = listing.objects.contains(key) || listing.undecodable.contains(key);
    if (!newer && (beyond || !there)) missing.push_back(key);
  }
  for (const api::ObjectKey& key : missing) erase(key, Absence::listed, &changes);
  for (auto& [key, entry] : listing.objects) {
    Entry& stored = store_[key];
    // Written and observed while the list was made.
    if (is_older_version(version, stored.resource_version).value_or(false)) continue;
    // No object is newer than a list that has it. Its events would be ignored.
    if (is_older_version(version, entry.resource_version).value_or(false)) {
      entry.resource_version = version;
    }
    // The list has all that happened up to its version. If it has an older object all the same, the
    // server was restored, and its versions have reached those that the store knew.
    // By then one version may mean two contents.
    const bool same = same_version(stored, entry) && type_.equal &&
                      type_.equal(stored.object.get(), entry.object.get());
    if (!same) replace(key, &stored, std::move(entry), &changes);
  }
  for (auto& [key, part] : listing.parts) {
    if (listing.undecodable.contains(key)) replace(key, &store_[key], std::move(part), &changes);
  }
  replace_unreadable(std::move(listing.undecodable));
  version_ = reached_ = std::move(version);
  told_ = deps_.clock.steady();
  health_.last_event = deps_.clock.now();
  notify(changes);
  health_.synced = true;
  health_.served = true;
  absent_answers_ = 0;
  anew_done_ = anew_begun_;
  synced_.notify_all();
}

void InformerCore::apply(const WatchEvent& event) {
  if (!event.resource_version.empty()) version_ = reached_ = event.resource_version;
  if (event.type == WatchEventType::bookmark || !event.object) return;
  std::vector<Change> changes;
  if (event.type == WatchEventType::deleted) {
    const api::ObjectKey key = key_of(*event.object);
    set_readable(key);
    const Entry* stored = store_.find(key);
    if (!stored) return note_absent(key, Absence::deleted);
    // The object may have been created again since, by a write that was observed.
    const auto outrun = is_older_version(event.resource_version, stored->resource_version);
    if (!outrun.value_or(false)) erase(key, Absence::deleted, &changes);
  } else {
    Result<Decoded> decoded = decode_(*event.object, event.spec_from.get());
    if (decoded) {
      set_readable(decoded->key);
      Entry entry{std::move(decoded->object), std::move(decoded->resource_version), event.bytes};
      put(decoded->key, std::move(entry), &changes);
    } else {
      take_undecodable(event, decoded.error(), &changes);
    }
  }
  notify(changes);
}

void InformerCore::take_undecodable(const WatchEvent& event, const Error& error,
                                    std::vector<Change>* changes) {
  const api::ObjectKey key = key_of(*event.object);
  note_undecodable(key, error);
  set_unreadable(key, error);
  std::optional<Entry> part;
  if (event.spec_from && part_) {
    Json whole = *event.object;
    whole["spec"] = type_.spec_of(event.spec_from.get()).json();
    part = part_of(key, whole, event.bytes);
  } else {
    part = part_of(key, *event.object, event.bytes);
  }
  if (part) replace(key, &store_[key], std::move(*part), changes);
}

std::optional<InformerCore::Entry> InformerCore::part_of(const api::ObjectKey& key,
                                                         const Json& object,
                                                         std::size_t bytes) const {
  if (!part_) return std::nullopt;
  const Entry* stored = store_.find(key);
  Result<Decoded> decoded = part_(object, stored ? stored->object.get() : nullptr);
  if (!decoded) return std::nullopt;
  return Entry{std::move(decoded->object), std::move(decoded->resource_version), bytes};
}

/// No change when the store has this version or a newer one.
void InformerCore::put(const api::ObjectKey& key, Entry entry, std::vector<Change>* changes) {
  Entry& stored = store_[key];
  if (is_older_version(entry.resource_version, stored.resource_version).value_or(false)) return;
  if (!same_version(stored, entry)) replace(key, &stored, std::move(entry), changes);
}

bool InformerCore::same_version(const Entry& stored, const Entry& entry) const {
  if (!stored.object || stored.resource_version != entry.resource_version) return false;
  return !type_.uid_of || type_.uid_of(stored.object.get()) == type_.uid_of(entry.object.get());
}

void InformerCore::replace(const api::ObjectKey& key, Entry* stored, Entry entry,
                           std::vector<Change>* changes) {
  Change change{key, stored->object, entry.object};
  bytes_ += entry.bytes - stored->bytes;
  *stored = std::move(entry);
  reindex(key, change.before.get(), change.after.get());
  // A list does not show that an object was deleted and made again. A watch would have.
  const bool both = type_.uid_of && change.before && change.after;
  const bool another =
      both && type_.uid_of(change.before.get()) != type_.uid_of(change.after.get());
  if (another) changes->push_back({key, std::exchange(change.before, nullptr), nullptr});
  changes->push_back(std::move(change));
}

void InformerCore::erase(const api::ObjectKey& key, Absence how, std::vector<Change>* changes) {
  note_absent(key, how);
  Entry* stored = store_.find(key);
  if (!stored) return;
  Change change{key, std::move(stored->object), nullptr};
  bytes_ -= stored->bytes;
  store_.erase(change.key);
  reindex(change.key, change.before.get(), nullptr);
  changes->push_back(std::move(change));
}

void InformerCore::notify(const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    for (const auto& handler : change_handlers_) handler(change.key, change.before, change.after);
  }
}

void InformerCore::observe(Decoded written) {
  // The store holds the server's history up to version_: an older object is in it, or was in it and
  // has been deleted. Between a 410 and the next list only objects in the store are updated.
  const Entry* stored = store_.find(written.key);
  const bool relisting = version_.empty();
  if (relisting && !stored) return;
  const std::string& known = relisting ? stored->resource_version : version_;
  if (!is_older_version(known, written.resource_version).value_or(false)) return;
  if (written.bytes == 0 && stored) written.bytes = stored->bytes;
  const Status fits = check_observed(written, stored);
  if (!fits) {
    if (relisting) return;  // the list says how the object is
    refused_ = fits.error();
    return anew_.notify_all();
  }
  std::vector<Change> changes;
  put(written.key,
      Entry{std::move(written.object), std::move(written.resource_version), written.bytes,
            lists_begun_},
      &changes);
  set_held(in_store());
  notify(changes);
  rouse();
}

void InformerCore::observe_absent(const api::ObjectKey& key, const Object& before) {
  if (get(key) != before) return;
  set_readable(key);
  std::vector<Change> changes;
  erase(key, Absence::read, &changes);
  set_held(in_store());
  notify(changes);
}

void InformerCore::observe_unreadable(const api::ObjectKey& key, const Error& error) {
  if (!undecodable_.contains(key)) note_undecodable(key, error);
  set_unreadable(key, error);
  rouse();
}

void InformerCore::set_unreadable(const api::ObjectKey& key, const Error& error) {
  if (!undecodable_.insert_or_assign(key, limited(error)).second) return;
  for (const auto& handler : unreadable_handlers_) handler(key);
}

void InformerCore::set_readable(const api::ObjectKey& key) {
  if (undecodable_.erase(key) == 0) return;
  for (const auto& handler : unreadable_handlers_) handler(key);
}

void InformerCore::replace_unreadable(std::map<api::ObjectKey, Error> now) {
  const std::map<api::ObjectKey, Error> before = std::exchange(undecodable_, std::move(now));
  for (const auto& handler : unreadable_handlers_) {
    for (const auto& [key, error] : before) {
      if (!undecodable_.contains(key)) handler(key);
    }
    for (const auto& [key, error] : undecodable_) {
      if (!before.contains(key)) handler(key);
    }
  }
}

/// Remembers the last objects that went. What is stored again is forgotten in its turn, because
/// absence() is asked only for objects that are not in the store.
void InformerCore::note_absent(const api::ObjectKey& key, Absence how) {
  doubtful_.erase(key);
  if (!gone_.how.insert_or_assign(key, how).second) return;
  gone_.order.push_back(key);
  if (gone_.order.size() <= options_.absent_max) return;
  gone_.how.erase(gone_.order.front());
  gone_.order.pop_front();
}

// --- reading ---

Absence InformerCore::absence(const api::ObjectKey& key) const {
  const auto found = gone_.how.find(key);
  if (found != gone_.how.end()) return found->second;
  return vouched_ && !doubtful_.contains(key) ? Absence::listed : Absence::unseen;
}

void InformerCore::add_index(std::string name, IndexFunction function) {
  REGATTA_CHECK(store_.empty(), "index " + name + " is added after run()");
  indices_[std::move(name)].function = std::move(function);
}

void InformerCore::reindex(const api::ObjectKey& key, const void* before, const void* after) {
  for (auto& [name, index] : indices_) {
    std::vector<std::string> was, is;
    if (before) was = index.function(before);
    if (after) is = index.function(after);
    if (was == is) continue;
    indexed_bytes_ += weight_of(is) - weight_of(was);
    for (const std::string& value : was) {
      const auto it = index.keys.find(value);
      if (it == index.keys.end()) continue;
      it->second.erase(key);
      if (it->second.empty()) index.keys.erase(it);
    }
    for (const std::string& value : is) index.keys[value].insert(key);
  }
}

InformerCore::Object InformerCore::get(const api::ObjectKey& key) const {
  const Entry* stored = store_.find(key);
  return stored ? stored->object : nullptr;
}

void InformerCore::for_each(
    const std::function<void(const api::ObjectKey&, const Object&)>& visit) const {
  for (const auto& [key, entry] : store_) visit(key, entry.object);
}

const std::set<api::ObjectKey>& InformerCore::keys_by_index(const std::string& index,
                                                            const std::string& value) const {
  static const std::set<api::ObjectKey> none;
  const auto it = indices_.find(index);
  REGATTA_CHECK(it != indices_.end(), "there is no index " + index);
  const auto found = it->second.keys.find(value);
  return found == it->second.keys.end() ? none : found->second;
}

}  // namespace regatta::kube
