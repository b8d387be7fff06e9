#pragma once

#include "lib/api/object_map.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/rng.h"
#include "lib/kube/client.h"
#include "lib/runtime/wakeup.h"

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace regatta::kube {

struct InformerDeps {
  Client& client;
  Clock& clock;
  Rng& rng;
  Executor executor;
  Log log;
};

struct InformerOptions {
  std::string ns;  ///< empty: every namespace
  std::string label_selector;
  std::string field_selector;
  std::int64_t page_limit = full_page;
  bool metadata_only = false;  ///< objects come without anything but their metadata
  bool watch_list = false;     ///< fill the store from a watch instead of a list, where served
  /// No byte for so long means a dead connection; at least three bookmark intervals (one minute).
  Duration idle_timeout = std::chrono::minutes(3);
  /// The server ends each watch after between one and two times this.
  Duration watch_timeout = std::chrono::minutes(5);
  Duration retry_base{800};
  Duration retry_limit = std::chrono::seconds(30);
  /// After the server sent more than the client's ListLimits allow, and does it again and again:
  /// each try costs both sides much. At first it is sooner, because it may have been a mistake.
  Duration over_limit_retry = std::chrono::minutes(5);
  /// Whether the store is filled from a list after a failure that lasted, instead of resuming the
  /// watch: a watch that resumes is open before it has told what happened meanwhile.
  bool list_after_loss = false;
  /// Above zero: the API may lack the resource, as that of a CRD. A server that says so from the
  /// start is synced, and is asked again, after a second at first and after so long in the end.
  Duration absent_retry{0};
  /// With absent_retry: a resource that may not be read counts as one that is not there.
  bool forbidden_is_absent = false;
  /// Above zero: there may be no object for a long time. While the server has none, the resource is
  /// not watched: it is listed again after a few seconds at first and after so long in the end, and
  /// watched again from rouse() on, for at least so long.
  Duration rest{0};
  /// Objects that went are remembered, up to so many. See absence().
  std::size_t absent_max = 512;
};

struct InformerHealth {
  bool synced = false;     ///< the store has held a complete list once
  bool connected = false;  ///< a watch is open now
  bool served = true;      ///< false: the server says that it has no such resource
  bool resting = false;    ///< the server had no object, so no watch is open; see rest
  std::optional<TimePoint> connected_since;
  std::optional<TimePoint> disconnected_since;  ///< set while not connected, from the start on
  std::optional<TimePoint> last_event;          ///< or bookmark, or list
  std::optional<Error> last_error;  ///< why it is not connected; cleared when it connects
  int failures = 0;                 ///< in a row
  TimePoint next_attempt{};         ///< after the last failure
  std::uint64_t lists = 0, watches = 0, events = 0, decode_failures = 0;
};

/// What an informer knows about an object that its store lacks.
enum class Absence {
  unseen,  ///< only that the store lacks it: the store may be older than the object
  listed,  ///< a complete list lacked it that is later than the store's knowledge of it, or vouch()
  read,    ///< the server answered a read of this object with "not found"
  deleted  ///< a watch showed its deletion
};

/// Informer without its type: see informer.h.
///
/// The server is not trusted with our memory or time. What it sends to all informers of a client
/// stays within the client's ListLimits and has names of at most 253 bytes, or the informer that it
/// is sent to is not connected and says so. A watch is progress when it lasts, not when it brings
/// an event: one that ends at once, again and again, backs off, and so do lists that a 410 asks for
/// soon after the one before.
class InformerCore {
 public:
  using Object = std::shared_ptr<const void>;
  struct Decoded {
    api::ObjectKey key;
    std::string resource_version;
    Object object;
    std::size_t bytes = 0;  ///< counted_bytes() of its text; for observe()
  };
  /// `spec_from`: an object that has the spec which the tree lacks; null when it lacks nothing.
  using Decode = std::function<Result<Decoded>(const Json&, const void* spec_from)>;
  using Part = std::function<Result<Decoded>(const Json&, const void* stored)>;
  using IndexFunction = std::function<std::vector<std::string>(const void*)>;
  /// What is known of the type of the objects.
  struct TypeInfo {
    /// Tells an object from another one of its name. Without it a list does not.
    std::string_view (*uid_of)(const void*) = nullptr;
    /// Whether two objects have the same content. Without it no two have.
    bool (*equal)(const void*, const void*) = nullptr;
    /// The text that the spec was read from. With it, objects are decoded without their spec where
    /// the store has one that is the same.
    const api::RawJson& (*spec_of)(const void*) = nullptr;
  };
  using ChangeHandler =
      std::function<void(const api::ObjectKey&, const Object& before, const Object& after)>;

  InformerCore(InformerDeps deps, api::ResourceInfo resource, InformerOptions options,
               Decode decode, TypeInfo type);
  InformerCore(const InformerCore&) = delete;
  ~InformerCore() { set_held({}); }

  Task<> run();
  /// run() ends soon, whatever it waits for.
  void stop();
  Task<> wait_synced();
  bool has_synced() const { return health_.synced; }
  bool is_close() const { return deps_.client.config().list_limits.is_close(); }
  const api::ResourceInfo& resource() const { return resource_; }
  const InformerHealth& health() const { return health_; }
  std::optional<SteadyPoint> told() const { return told_; }
  const std::map<api::ObjectKey, Error>& undecodable() const { return undecodable_; }
  const std::string& resource_version() const { return version_; }
  /// Lists anew at once, and returns when the store holds a list that was begun after the call.
  Task<> catch_up();
  /// The same, without waiting for it.
  void list_anew();
  /// catch_up(), after which what the store lacks and nothing was said of counts as `listed`. For
  /// an only writer: no other one makes objects that the store has not heard of.
  Task<> vouch();
  /// Whether every list that was asked for is in the store.
  bool caught_up() const { return anew_done_ == anew_wanted_; }
  /// With InformerOptions::rest: there may soon be an object, so a watch is opened.
  void rouse();

  void add_index(std::string name, IndexFunction function);
  void on_change(ChangeHandler handler) { change_handlers_.push_back(std::move(handler)); }
  void on_health(std::function<void()> handler) { health_handlers_.push_back(std::move(handler)); }
  void on_unreadable(std::function<void(const api::ObjectKey&)> handler) {
    unreadable_handlers_.push_back(std::move(handler));
  }
  /// See ObjectInformer::keep_part.
  void keep_part(Part part) { part_ = std::move(part); }

  Object get(const api::ObjectKey& key) const;
  std::size_t size() const { return store_.size(); }
  void for_each(const std::function<void(const api::ObjectKey&, const Object&)>& visit) const;
  const std::set<api::ObjectKey>& keys_by_index(const std::string& index,
                                                const std::string& value) const;
  void observe(Decoded written);
  /// The server answered a read of `key` with "not found". `before` is what get() returned before
  /// the read: an object that was written since then stays.
  void observe_absent(const api::ObjectKey& key, const Object& before);
  /// A create is sent: until its answer is observed it is not known whether there is an object.
  void may_appear(const api::ObjectKey& key) {
    gone_.how.erase(key);
    if (vouched_) doubtful_.insert(key);
    rouse();
  }
  /// The server has the object, in a form that cannot be decoded.
  void observe_unreadable(const api::ObjectKey& key, const Error& error);
  /// Whether the server's last known version of the object could not be decoded. Then neither the
  /// store's older version nor its absence from the store says how the object is.
  bool unreadable(const api::ObjectKey& key) const { return undecodable_.contains(key); }
  /// Meaningful only for objects that the store lacks.
  Absence absence(const api::ObjectKey& key) const;

 private:
  struct Entry {
    Object object;
    std::string resource_version;
    std::size_t bytes = 0;  ///< counted_bytes() of its JSON text
    /// The number of lists begun when the answer to a write or a read brought it; 0: none did.
    std::uint32_t observed_in = 0;
  };
  struct Index {
    IndexFunction function;
    std::map<std::string, std::set<api::ObjectKey>> keys;
  };
  struct Change {
    api::ObjectKey key;
    Object before, after;
  };
  /// Objects that went, the latest at the end of `order`. Takes no memory until one does, because a
  /// hub has informers for each worker.
  struct Gone {
    std::unordered_map<api::ObjectKey, Absence, api::KeyHash> how;
    std::list<api::ObjectKey> order;
  };
  /// Failures of one kind, each soon after the one before.
  struct Streak {
    int length = 0;
    std::optional<SteadyPoint> last;

    /// With one more, now.
    int extend(SteadyPoint now, Duration soon) {
      length = last && now - *last <= soon ? length + 1 : 1;
      last = now;
      return length;
    }
  };
  /// A complete list on its way into the store.
  struct Listing {
    api::ObjectMap<Entry> objects;
    std::map<api::ObjectKey, Error> undecodable;
    std::map<api::ObjectKey, Entry> parts;  ///< of those that cannot be decoded
    std::size_t bytes = 0;
  };

  /// Lists if needed, then watches once, unless it may rest; ok when the server ended the watch in
  /// order.
  Task<Status> follow();
  Task<Status> fill_from_list();
  void note_page(std::optional<Errc> failure);
  bool may_rest() const;
  Task<> rest();
  Task<> roused();
  void note_rest();
  void read_lean(WatchStream* stream) const;
  bool is_stored(const Outline& object) const;
  Object stored_with_spec(const Outline& object, std::string_view spec) const;
  Task<Result<WatchStream>> open_watch(bool with_list);
  Task<Status> read_until_silent(WatchStream stream, Listing* initial);
  Task<Status> read_events(WatchStream* stream, Listing* initial);
  void set_held(Held mine);
  Held in_store() const { return {store_.size() + undecodable_.size(), bytes_ + indexed_bytes_}; }
  Status check_limits(Held mine) const;
  Status check_read(const Listing& listing);
  Status check_store();
  Status check_observed(const Decoded& written, const Entry* stored) const;
  Duration retry_delay(const Error& failure);
  bool says_absent(const Error& failure) const;
  Duration note_absent_resource(const Error& failure);
  void note_failure(const Error& error);

  void add_to(Listing* listing, const Json& item, std::size_t bytes);
  void replace_store(Listing listing, std::string version);
  void take_event(const WatchEvent& event, Listing* initial);
  void apply(const WatchEvent& event);
  void take_undecodable(const WatchEvent& event, const Error& error, std::vector<Change>* changes);
  /// Unless the store has a newer version.
  void put(const api::ObjectKey& key, Entry entry, std::vector<Change>* changes);
  /// What is to be kept of an object that cannot be decoded, if there is anything.
  std::optional<Entry> part_of(const api::ObjectKey& key, const Json& object,
                               std::size_t bytes) const;
  bool same_version(const Entry& stored, const Entry& entry) const;
  void replace(const api::ObjectKey& key, Entry* stored, Entry entry, std::vector<Change>* changes);
  void erase(const api::ObjectKey& key, Absence how, std::vector<Change>* changes);
  void note_absent(const api::ObjectKey& key, Absence how);
  bool is_interrupted() const { return stopped_ || anew_wanted_ != anew_begun_ || refused_; }
  Task<> interrupted();
  void reindex(const api::ObjectKey& key, const void* before, const void* after);
  void note_undecodable(const api::ObjectKey& key, const Error& error);
  void set_unreadable(const api::ObjectKey& key, const Error& error);
  void set_readable(const api::ObjectKey& key);
  void replace_unreadable(std::map<api::ObjectKey, Error> now);
  void notify(const std::vector<Change>& changes);
  void set_connected(bool connected);

  InformerDeps deps_;
  api::ResourceInfo resource_;
  InformerOptions options_;
  Decode decode_;
  Part part_;  ///< may be null
  TypeInfo type_;
  api::ObjectMap<Entry> store_;
  std::map<api::ObjectKey, Error> undecodable_;
  std::map<std::string, Index> indices_;
  std::vector<ChangeHandler> change_handlers_;
  std::vector<std::function<void()>> health_handlers_;
  std::vector<std::function<void(const api::ObjectKey&)>> unreadable_handlers_;
  InformerHealth health_;
  std::string version_;      ///< up to where the store follows the server; empty: list first
  std::string reached_;      ///< the last version_ that was not empty
  std::int64_t page_limit_;  ///< of the next list
  SteadyPoint heard_{};      ///< when the watch last said anything
  std::optional<SteadyPoint> told_;  ///< when a list, an event or a bookmark last came
  SteadyPoint opened_{};             ///< when the watch was opened
  std::size_t bytes_ = 0;            ///< of the texts of what the store holds
  std::shared_ptr<Held> held_;       ///< by all informers of the client
  Held counted_;                     ///< what this one adds to it
  std::uint32_t lists_begun_ = 0;    ///< see Entry::observed_in
  int absent_answers_ = 0;           ///< in a row: that there is no such resource
  Streak relists_;                   ///< lists that a 410 asked for
  Streak over_limits_;               ///< lists and watches that went beyond a limit
  int silent_watches_ = 0;           ///< watches in a row that ended in silence
  int looks_ = 0;                    ///< lists since the rest began; 0: it does not rest
  bool watch_list_refused_ = false;
  bool stopped_ = false;
  std::optional<Error> refused_;       ///< why an observed object was not kept
  std::optional<SteadyPoint> roused_;  ///< when an object was last expected
  /// Of what objects are indexed by beyond a few values each: a short object may have many.
  std::size_t indexed_bytes_ = 0;
  bool vouched_ = false;
  /// Since vouch(): objects of which a creation is under way.
  std::set<api::ObjectKey> doubtful_;
  Gone gone_;
  std::uint64_t anew_wanted_ = 0;  ///< how often a new list was asked for
  std::uint64_t anew_begun_ = 0;   ///< which of these the list that was begun last answers
  std::uint64_t anew_done_ = 0;    ///< which of these the store answers
  Wakeup synced_, anew_;
};

/// Whether `a` is an older resourceVersion than `b`; nullopt unless both are decimal numbers, the
/// only ones that can be compared.
std::optional<bool> is_older_version(std::string_view a, std::string_view b);

}  // namespace regatta::kube
