#pragma once

#include "lib/api/codec.h"
#include "lib/api/meta.h"
#include "lib/api/resource.h"
#include "lib/base/clock.h"
#include "lib/base/json.h"
#include "lib/base/log.h"
#include "lib/base/rng.h"
#include "lib/kube/credentials.h"
#include "lib/kube/known_spec.h"
#include "lib/kube/outline.h"
#include "lib/kube/patch.h"
#include "lib/kube/token_bucket.h"
#include "lib/kube/watch.h"
#include "lib/net/http.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regatta::kube {

struct GetOptions {
  std::string subresource;
  std::string resource_version;
};

/// Objects a page, where nothing speaks for fewer.
constexpr std::int64_t full_page = 500;

struct ListOptions {
  std::string label_selector;
  std::string field_selector;
  std::int64_t limit = full_page;  ///< objects a page; 0 asks for everything at once
  /// Pages grow up to this while they come quickly: a fourth of the time of one call, or less.
  std::int64_t limit_max = 0;
  std::string resource_version;
  std::string resource_version_match;
  bool metadata_only = false;  ///< the items are PartialObjectMetadata
  bool last = false;           ///< no other request is expected soon; see net::SendOptions
};

struct WatchOptions {
  std::string label_selector;
  std::string field_selector;
  std::string resource_version;  ///< events after it; empty: first the present state, as ADDED
  bool bookmarks = true;
  bool send_initial_events = false;  ///< the list comes as events, up to an annotated bookmark
  std::chrono::seconds server_timeout{
      0};                      ///< the server ends the watch after it; 0: its own choice
  bool metadata_only = false;  ///< the objects are PartialObjectMetadata
};

struct WriteOptions {
  std::string subresource;    ///< "status"
  std::string field_manager;  ///< empty: the client's
  bool dry_run = false;
};

enum class PatchType { json, merge, strategic };

struct ApplyOptions {
  std::string subresource;
  std::string field_manager;  ///< empty: the client's
  bool force = false;         ///< take fields over from other managers instead of a conflict
  bool dry_run = false;
};

/// How many objects to ask for after a page of `limit` was too large, or did not come in time; not
/// below 10.
constexpr std::int64_t smaller_page(std::int64_t limit) {
  return std::max(limit / 2, std::min<std::int64_t>(limit, 10));
}

struct DeleteOptions {
  std::string uid;                 ///< precondition; `conflict` when another object has the name
  std::string resource_version;    ///< precondition
  std::string propagation_policy;  ///< Foreground, Background, Orphan; empty: the kind's default
  std::optional<std::int64_t> grace_period_seconds;
  bool dry_run = false;
};

/// Takes an object of a list, which carries its apiVersion and kind, and counted_bytes() of its
/// text. Its managedFields are cut out where API servers write them. Other coroutines may run
/// between two objects.
using OnItem = std::function<void(const Json& item, std::size_t bytes)>;

/// How much a server may make us keep, so that it cannot exhaust our memory: by lists that never
/// end, by what it adds in watches, or by its answers to reads and writes of one object.
struct ListLimits {
  std::size_t pages_max = 20'000;       ///< of one list; see pages_of()
  std::size_t objects_max = 5'000'000;  ///< of one list, or held by the client's informers
  std::size_t bytes_max = 8ULL << 30;   ///< their JSON texts; what is held, by counted_bytes()
  std::string setting;  ///< where it is configured, for messages: "multiKueue.workerLimits"

  /// How many pages a list may have of which some have `limit` objects only: pages_max, or as many
  /// as the same objects need, up to objects_max.
  std::size_t pages_of(std::int64_t limit) const;
  /// The server may not have as many bytes as every server may have.
  bool is_close() const { return bytes_max < ListLimits().bytes_max; }
  Error beyond_pages(std::int64_t limit) const;
  Error beyond_objects() const { return beyond(objects_max, "objects"); }
  Error beyond_bytes() const { return beyond(bytes_max, "bytes"); }

 private:
  Error beyond(std::size_t limit, const char* what) const;
};

/// What the informers of one client hold. Of one that lists, what it has read of the list.
struct Held {
  std::size_t objects = 0;
  std::size_t bytes = 0;  ///< counted_bytes() of their JSON texts
};

/// One request and how it was answered, for metrics and budgets. Each retry counts as a request.
struct RequestSeen {
  std::string_view verb;      ///< get list watch create update patch apply delete deletecollection
  std::string_view resource;  ///< "workloads"
  std::string_view subresource;  ///< "status", or empty
  unsigned http_status = 0;      ///< 0: no answer came
  Duration took{0};              ///< up to the response header for a watch
};

struct ClientConfig {
  std::string user_agent = "regatta";
  std::string field_manager = "regatta";
  std::string base_path;  ///< of the server's URL, without a trailing slash: "/k8s/clusters/c-1"
  double qps = 0;         ///< requests per second in the long run, watches aside; 0: unlimited
  int burst = 0;          ///< requests at once; at least 1 when `qps` is set
  Duration timeout = std::chrono::seconds(30);  ///< of one call, its retries included
  int retries_max = 5;                          ///< after answers that say Retry-After
  ListLimits list_limits;
  /// Asked before each request that is no GET; null: they may leave. Outlives the client.
  const net::SendGate* write_gate = nullptr;
  std::function<void(const RequestSeen&)> observer;
};

struct ClientDeps {
  net::HttpSender& sender;
  Clock& clock;
  Rng& rng;
  std::shared_ptr<Credentials> credentials;  ///< null: none
  ClientConfig config;
};

/// Speaks to one API server with one identity.
///
/// Failures: the Errc says what to do, `error.details()` holds the Status reason and causes.
/// Answers 429, 503 and 5xx that carry Retry-After are retried inside, within the call's timeout,
/// because the server did not act on them. Everything else surfaces at once, and the caller decides
/// anew. After a write that ended in `timeout`, or in `unavailable` without an answer, the write
/// may have happened (may_have_happened() in status.h): read again, and expect `already_exists` or
/// `conflict` because of your own write.
///
/// Typed calls need `T::resource`, `T::metadata` and the codec of lib/api. update<T> sends only the
/// fields T knows, so use patches or apply on objects that other clients extend.
class Client {
 public:
  explicit Client(ClientDeps deps);
  Client(const Client&) = delete;

  // --- JSON text ---

  // An answer of more than object_bytes_max is `too_large`; a write has happened then.

  Task<Result<std::string>> get_raw(api::ResourceInfo resource, api::ObjectKey key,
                                    GetOptions options = {});
  /// Calls `on_item` for each object and returns the list's resourceVersion. The result is `gone`
  /// when the continue token expires half way, `too_large` when the list is beyond
  /// config().list_limits, an item beyond object_bytes_max or even a small page beyond what an
  /// answer may have, `invalid` when some of it is no JSON: after any error the objects that were
  /// handed over are no consistent list.
  Task<Result<std::string>> list_raw(api::ResourceInfo resource, std::string ns,
                                     ListOptions options, OnItem on_item);
  Task<Result<std::string>> create_raw(api::ResourceInfo resource, std::string ns, std::string body,
                                       WriteOptions options = {});
  Task<Result<std::string>> update_raw(api::ResourceInfo resource, api::ObjectKey key,
                                       std::string body, WriteOptions options = {});
  Task<Result<std::string>> patch_raw(api::ResourceInfo resource, api::ObjectKey key,
                                      PatchType type, std::string body, WriteOptions options = {});
  /// Server-side apply.
  Task<Result<std::string>> apply_raw(api::ResourceInfo resource, api::ObjectKey key,
                                      std::string body, ApplyOptions options = {});
  Task<Status> remove(api::ResourceInfo resource, api::ObjectKey key, DeleteOptions options = {});
  Task<Status> remove_collection(api::ResourceInfo resource, std::string ns, ListOptions selection,
                                 DeleteOptions options = {});
  /// Answers when the server accepted the watch. `unavailable` when it succeeds with another status
  /// than 200: such an answer is no stream.
  Task<Result<WatchStream>> watch(api::ResourceInfo resource, std::string ns, WatchOptions options);
  /// GET of any other path: "/version", "/readyz", "/apis". The answer may be a list, of any
  /// length that the sender takes.
  Task<Result<std::string>> get_path(std::string path);

  // --- typed ---

  template <class T>
  Task<Result<T>> get(api::ObjectKey key) {
    co_return decoded<T>(co_await get_raw(T::resource, std::move(key)));
  }
  /// The list is consistent even if paging takes longer than the server keeps the snapshot. Fails
  /// when one object cannot be decoded.
  template <class T>
  Task<Result<std::vector<T>>> list(std::string ns = {}, ListOptions options = {});
  template <class T>
  Task<Result<T>> create(T object, WriteOptions options = {}) {
    co_return decoded<T>(co_await create_raw(T::resource, object.metadata.ns,
                                             dump_json(api::to_json(object)), std::move(options)));
  }
  template <class T>
  Task<Result<T>> update(T object, WriteOptions options = {}) {
    co_return decoded<T>(co_await update_raw(T::resource, object.metadata.key(),
                                             dump_json(api::to_json(object)), std::move(options)));
  }
  template <class T>
  Task<Result<T>> patch(api::ObjectKey key, PatchType type, std::string body,
                        WriteOptions options = {}) {
    co_return decoded<T>(
        co_await patch_raw(T::resource, std::move(key), type, std::move(body), std::move(options)));
  }
  template <class T>
  Task<Result<T>> apply(api::ObjectKey key, std::string body, ApplyOptions options = {}) {
    co_return decoded<T>(
        co_await apply_raw(T::resource, std::move(key), std::move(body), std::move(options)));
  }
  template <class T>
  Task<Status> remove(api::ObjectKey key, DeleteOptions options = {}) {
    return remove(T::resource, std::move(key), std::move(options));
  }

  /// Writes the difference between `before`, as it was read, and `after` as a merge patch that
  /// applies only while the object is still at before's resourceVersion (`conflict` otherwise).
  /// Without a difference no request is sent, and the answer is `after`. Parts of the object that T
  /// does not know stay as they are, except inside lists that changed.
  template <class T>
  Task<Result<T>> patch_status(T before, T after) {
    return patch_difference(std::move(before), std::move(after), PatchScope::status);
  }
  template <class T>
  Task<Result<T>> patch_metadata(T before, T after) {
    return patch_difference(std::move(before), std::move(after), PatchScope::metadata);
  }
  template <class T>
  Task<Result<T>> patch_object(T before, T after) {
    return patch_difference(std::move(before), std::move(after), PatchScope::object);
  }

  const ClientConfig& config() const { return deps_.config; }
  /// Kept by the informers that read through this client.
  const std::shared_ptr<Held>& held() const { return held_; }

 private:
  struct Call;

  template <class T>
  static Result<T> decoded(Result<std::string> text) {
    if (!text) return text.error();
    return api::decode<T>(without_managed_fields(std::move(*text)));
  }
  template <class T>
  static Result<T> decoded_like(const T& known, Result<std::string> text) {
    if (!text) return text.error();
    return decode_like(known, without_managed_fields(std::move(*text)));
  }
  template <class T>
  Task<Result<T>> patch_difference(T before, T after, PatchScope scope);

  Task<Result<net::HttpResponse>> send(Call call);
  Task<Result<net::HttpResponse>> send_authenticated(Call call, SteadyPoint deadline);
  Task<Result<net::HttpResponse>> send_once(Call call, std::string token, SteadyPoint deadline);
  Task<Result<std::string>> send_text(Result<Call> call);
  std::optional<Duration> retry_delay(const Error& error, int attempt);
  std::string write_query(const WriteOptions& options) const;
  Result<Call> object_call(std::string_view verb, std::string method,
                           const api::ResourceInfo& resource, const api::ObjectKey& key,
                           const std::string& subresource) const;

  ClientDeps deps_;
  TokenBucket bucket_;
  std::shared_ptr<Held> held_ = std::make_shared<Held>();
};

template <class T>
Task<Result<std::vector<T>>> Client::list(std::string ns, ListOptions options) {
  std::vector<T> objects;
  Status decoding = ok();
  const OnItem add = [&](const Json& item, std::size_t) {
    Result<T> object = api::from_json<T>(item);
    if (object) {
      objects.push_back(std::move(*object));
    } else if (decoding) {
      decoding = object.error();
    }
  };
  auto version = co_await list_raw(T::resource, ns, options, add);
  if (!version && version.error().code() == Errc::gone && options.limit != 0) {
    objects.clear();
    decoding = ok();
    options.limit = 0;
    version = co_await list_raw(T::resource, std::move(ns), std::move(options), add);
  }
  if (!version) co_return version.error();
  if (!decoding) co_return decoding.error();
  co_return objects;
}

/// guarded_merge_patch() of two typed objects. What it does not look at is not printed, which would
/// cost more than all the rest.
template <class T>
std::string difference_between(const T& before, const T& after, PatchScope scope) {
  T from, to;
  from.metadata.resource_version = before.metadata.resource_version;
  if (scope == PatchScope::metadata) {
    from.metadata = before.metadata;
    to.metadata = after.metadata;
    return guarded_merge_patch(api::to_json(from), api::to_json(to), scope);
  }
  if constexpr (requires { before.status; }) {
    if (scope == PatchScope::status) {
      from.status = before.status;
      to.status = after.status;
      if constexpr (requires { leave_out_common(&from.status, &to.status); }) {
        leave_out_common(&from.status, &to.status);
      }
      return guarded_merge_patch(api::to_json(from), api::to_json(to), scope);
    }
  }
  return guarded_merge_patch(api::to_json(before), api::to_json(after), scope);
}

template <class T>
Task<Result<T>> Client::patch_difference(T before, T after, PatchScope scope) {
  std::string body = difference_between(before, after, scope);
  if (body.empty()) co_return after;
  WriteOptions options;
  if (scope == PatchScope::status) options.subresource = "status";
  co_return decoded_like<T>(before,
                            co_await patch_raw(T::resource, before.metadata.key(), PatchType::merge,
                                               std::move(body), std::move(options)));
}

}  // namespace regatta::kube
