#pragma once

#include "lib/kube/informer_core.h"
#include "lib/kube/known_spec.h"
#include "lib/kube/object_limits.h"

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace regatta::kube {

/// The metadata of whatever an informer holds: a member of typed objects, a function of others.
template <class T>
const api::ObjectMeta& metadata_of(const T& object) {
  if constexpr (requires { object.metadata(); }) {
    return object.metadata();
  } else {
    return object.metadata;
  }
}

/// counted_bytes() of about the object's JSON text, as far as T holds it.
template <class T>
std::size_t text_bytes(const T& object) {
  if constexpr (requires { object.raw_spec.size(); }) {
    // The spec is there as a text; to parse and print it would cost more than all the rest.
    if (!object.raw_spec.empty()) {
      T lean;
      lean.metadata = object.metadata;
      lean.status = object.status;
      return counted_bytes(object.raw_spec.text()) + counted_bytes(dump_json(api::to_json(lean)));
    }
  }
  return counted_bytes(dump_json(api::to_json(object)));
}

/// An object as an answer of the server had it.
template <class T>
struct Answered {
  std::shared_ptr<const T> object;  ///< not null
  std::size_t bytes = 0;  ///< counted_bytes() of its text; text_bytes() where that is not known

  const T& operator*() const { return *object; }
  const T* operator->() const { return object.get(); }
};

/// A local copy of every object of one resource (within the selectors of its options), kept up to
/// date: list, watch from the list's resourceVersion, resume from the last event or bookmark when a
/// watch ends, list again when the server no longer keeps that version. While the server cannot be
/// reached the copy stays, stale; health() says so.
///
/// Handlers run on the control thread right after the store changed, once for each object that
/// changed, whatever the cause: an event, a list that no longer holds the object, observe(). Of an
/// object that was deleted and made again they are told both, also by a list. Where T has no ==, a
/// list tells of each object that it has. They must only enqueue keys. During the first list they
/// run for every object, before has_synced().
///
/// Objects that cannot be decoded are counted, logged with their key and kept out; an older version
/// that could be decoded stays, unless keep_part() asks for a part of the new one. A caller that
/// acts on absence asks unreadable() and absence() too.
///
/// Lifecycle: construct, add indices and handlers, spawn run() on a TaskScope. Must outlive it.
///
/// T may be abstract: `decode` makes the objects. Informer<T> below is for typed objects.
template <class T>
class ObjectInformer {
 public:
  using Ptr = std::shared_ptr<const T>;
  using Decode = std::function<Result<Ptr>(const Json&)>;

  ObjectInformer(InformerDeps deps, api::ResourceInfo resource, InformerOptions options,
                 Decode decode)
      : core_(
            std::move(deps), resource, std::move(options),
            [decode = std::move(decode)](const Json& value, const void*) {
              return decoded(decode(value));
            },
            type_info()) {}

  const api::ResourceInfo& resource() const { return core_.resource(); }
  /// Runs until cancelled or stopped.
  Task<> run() { return core_.run(); }
  /// run() ends soon, whatever it waits for. For an informer that ends before its TaskScope.
  void stop() { core_.stop(); }
  bool has_synced() const { return core_.has_synced(); }
  Task<> wait_synced() { return core_.wait_synced(); }
  /// Lists anew at once, and returns when the store holds a list that was begun after the call:
  /// then it is as new as the server was. run() must be running.
  Task<> catch_up() { return core_.catch_up(); }
  void list_anew() { core_.list_anew(); }
  /// catch_up(), and from then on what is not in the store counts as not being on the server.
  Task<> vouch() { return core_.vouch(); }
  bool caught_up() const { return core_.caught_up(); }
  /// With InformerOptions::rest: there may soon be an object, so a watch is opened. may_appear()
  /// and observe() say that too.
  void rouse() { core_.rouse(); }
  const InformerHealth& health() const { return core_.health(); }
  /// When the server last told how its objects are, by a list, an event or a bookmark.
  std::optional<SteadyPoint> told() const { return core_.told(); }
  const std::map<api::ObjectKey, Error>& undecodable() const { return core_.undecodable(); }

  /// Call it before run().
  void on_change(std::function<void(const api::ObjectKey&)> handler) {
    core_.on_change([handler = std::move(handler)](const api::ObjectKey& key, const auto&,
                                                   const auto&) { handler(key); });
  }
  /// For handlers that need both sides to find what to wake (null: absent), never to decide.
  void on_transition(std::function<void(const api::ObjectKey&, const Ptr&, const Ptr&)> handler) {
    core_.on_change([handler = std::move(handler)](const api::ObjectKey& key,
                                                   const InformerCore::Object& before,
                                                   const InformerCore::Object& after) {
      handler(key, cast(before), cast(after));
    });
  }
  /// `handler` runs when health().connected or last_error changed.
  void on_health(std::function<void()> handler) { core_.on_health(std::move(handler)); }
  /// `handler` runs when unreadable() changed for that object.
  void on_unreadable(std::function<void(const api::ObjectKey&)> handler) {
    core_.on_unreadable(std::move(handler));
  }
  /// Of an object that cannot be decoded, what `part` makes of it is kept, as if it were one, in
  /// place of the stored older version, null where there is none; an error: that stays. The part's
  /// resourceVersion is 1, so that a write that is based on it is a conflict. Call it before run().
  void keep_part(std::function<Result<Ptr>(const Json&, const T* stored)> part) {
    core_.keep_part([part = std::move(part)](const Json& value, const void* stored) {
      return decoded(part(value, static_cast<const T*>(stored)));
    });
  }
  /// `values` says under which values an object is found in index `name`.
  void add_index(std::string name, std::function<std::vector<std::string>(const T&)> values) {
    core_.add_index(std::move(name), [values = std::move(values)](const void* object) {
      return values(*static_cast<const T*>(object));
    });
  }

  /// Null when there is none.
  Ptr get(const api::ObjectKey& key) const { return cast(core_.get(key)); }
  /// Whether the server's last known version of the object could not be decoded: then get() says
  /// nothing about how it is.
  bool unreadable(const api::ObjectKey& key) const { return core_.unreadable(key); }
  /// What is known about an object for which get() is null.
  Absence absence(const api::ObjectKey& key) const { return core_.absence(key); }
  std::size_t size() const { return core_.size(); }
  /// Every object, in key order.
  std::vector<Ptr> list() const {
    std::vector<Ptr> all;
    all.reserve(core_.size());
    core_.for_each([&](const auto&, const auto& object) { all.push_back(cast(object)); });
    return all;
  }
  /// In key order; the index must have been added.
  const std::set<api::ObjectKey>& keys_by_index(const std::string& index,
                                                const std::string& value) const {
    return core_.keys_by_index(index, value);
  }
  std::vector<Ptr> by_index(const std::string& index, const std::string& value) const {
    std::vector<Ptr> found;
    for (const api::ObjectKey& key : core_.keys_by_index(index, value)) found.push_back(get(key));
    return found;
  }

  /// Read your own writes: puts the object that a write returned into the store, unless the store
  /// already follows the server beyond it. The object must match the informer's selectors. Without
  /// it a reconciler that runs before its own write comes back through the watch decides on the
  /// state before the write, and earns itself a conflict. An object with which the store would be
  /// beyond the ListLimits is not kept, and ends the watch as an event would.
  void observe(Answered<T> written) {
    core_.observe(decoded(std::move(written.object), written.bytes));
  }
  /// The server answered a read with "not found". `before` is what get() returned before the read.
  void observe_absent(const api::ObjectKey& key, const Ptr& before) {
    core_.observe_absent(key, before);
  }
  /// Call it before a create is sent: until its answer is observed it is not known whether there is
  /// an object.
  void may_appear(const api::ObjectKey& key) { core_.may_appear(key); }
  /// The server answered a read with an object that cannot be decoded.
  void observe_unreadable(const api::ObjectKey& key, const Error& error) {
    core_.observe_unreadable(key, error);
  }

 protected:
  /// `spec_from`: an object that has the spec which the tree lacks; null when it lacks nothing.
  using DecodeWithSpec = std::function<Result<Ptr>(const Json&, const T* spec_from)>;

  ObjectInformer(InformerDeps deps, InformerOptions options, DecodeWithSpec decode)
      : core_(
            std::move(deps), T::resource, std::move(options),
            [decode = std::move(decode)](const Json& value, const void* spec_from) {
              return decoded(decode(value, static_cast<const T*>(spec_from)));
            },
            type_info_with_spec()) {}

  /// See ListLimits.
  bool is_close() const { return core_.is_close(); }

 private:
  static Ptr cast(const InformerCore::Object& object) {
    return std::static_pointer_cast<const T>(object);
  }
  static InformerCore::TypeInfo type_info() {
    InformerCore::TypeInfo info;
    info.uid_of = [](const void* object) -> std::string_view {
      return metadata_of(*static_cast<const T*>(object)).uid;
    };
    if constexpr (std::equality_comparable<T>) {
      info.equal = [](const void* a, const void* b) {
        return *static_cast<const T*>(a) == *static_cast<const T*>(b);
      };
    }
    return info;
  }
  static InformerCore::TypeInfo type_info_with_spec() {
    InformerCore::TypeInfo info = type_info();
    if constexpr (KeepsSpec<T>) {
      info.spec_of = [](const void* object) -> const api::RawJson& {
        return static_cast<const T*>(object)->raw_spec;
      };
    }
    return info;
  }
  static Result<InformerCore::Decoded> decoded(Result<Ptr> object) {
    if (!object) return object.error();
    return decoded(std::move(*object), 0);
  }
  static InformerCore::Decoded decoded(Ptr object, std::size_t bytes) {
    InformerCore::Decoded decoded;
    decoded.bytes = bytes;
    decoded.key = metadata_of(*object).key();
    decoded.resource_version = metadata_of(*object).resource_version;
    decoded.object = std::move(object);
    return decoded;
  }

  InformerCore core_;
};

/// The informer of a typed object of lib/api.
template <class T>
class Informer : public ObjectInformer<T> {
 public:
  /// Drops what the owner never reads before an object is stored, to save memory.
  using Transform = std::function<void(T&)>;

  Informer(InformerDeps deps, InformerOptions options = {}, Transform transform = nullptr)
      : ObjectInformer<T>(
            std::move(deps), std::move(options),
            [transform](const Json& value, const T* spec_from) -> Result<std::shared_ptr<const T>> {
              Result<T> object = read_with_spec(value, spec_from);
              if (!object) return object.error();
              if (transform) transform(*object);
              return std::make_shared<const T>(std::move(*object));
            }),
        transform_(std::move(transform)) {}

  /// Where the store has a close limit the object is printed, to know its length.
  void observe(T written) {
    const std::size_t bytes = ObjectInformer<T>::is_close() ? text_bytes(written) : 0;
    observe(std::move(written), bytes);
  }
  /// `bytes`: counted_bytes() of the answer; 0 when they are not known and do not matter.
  void observe(T written, std::size_t bytes) {
    if (transform_) transform_(written);
    ObjectInformer<T>::observe({std::make_shared<const T>(std::move(written)), bytes});
  }

 private:
  Transform transform_;
};

}  // namespace regatta::kube
