#pragma once

#include "lab/apiserver/admission_hooks.h"
#include "lab/apiserver/core.h"
#include "lab/apiserver/options.h"
#include "lab/apiserver/output.h"

#include <nlohmann/json.hpp>

#include <functional>

namespace regatta::apiserver {

/// The target of a write.
struct Target {
  ResourceTypePtr type;
  std::string ns;
  std::string name;
  std::string subresource;  ///< empty or "status", for writes of a part
};

struct Written {
  Json object;  ///< in the version of the target's type; null when it is in `stored`
  bool created = false;
  StoredPtr stored = nullptr;  ///< the state in the store now; null when nothing was stored

  Json in(const ResourceType& type) const;
};

/// The result of a delete: the object when it stays (or when its kind always answers with the
/// object), else null.
struct Deleted {
  std::unique_ptr<Json> object;
  std::string uid;
};

/// Creates, updates and deletes objects by the rules of all kinds, those of its Strategy, and
/// admission. The webhooks of a write are
/// called first; what it then does with the store is one atomic step, and an object that changed
/// meanwhile is looked at again.
class ObjectWriter {
 public:
  ObjectWriter(Core& core, AdmissionHooks& hooks) : core_(core), hooks_(hooks) {}

  /// Called after each change of the store by a request, before it is answered.
  using Observer = std::function<void(const ResourceType&, const std::string& ns,
                                      const std::string& name, const Json* object)>;
  /// Deletes objects of a kind that has a way of its own.
  using Remover = std::function<Answer<Deleted>(const Target&, const DeleteOptions&)>;
  void set_definition_remover(Remover remover) { remove_definition_ = std::move(remover); }

  void set_observer(Observer observer) { observer_ = std::move(observer); }

  /// `tracked`: the object has its managedFields already.
  Task<Answer<Written>> create(Exchange& exchange, const Target& target, Json object,
                               const WriteOptions& options, bool tracked = false);

  /// `make` builds the wanted object from the live one (both in the target's version). The argument
  /// is null when there is no live object and updates may create the kind.
  using Maker = std::function<Answer<Json>(const Json* live)>;
  struct UpdateMode {
    bool put = false;        ///< PUT: a resourceVersion may be required
    bool tracked = false;    ///< the object has its managedFields already
    bool defaulted = false;  ///< the object has its defaults already
    bool creates = false;    ///< a missing object is created
  };
  Task<Answer<Written>> update(Exchange& exchange, const Target& target, const Maker& make,
                               UpdateMode mode, const WriteOptions& options);

  Task<Answer<Deleted>> remove(Exchange& exchange, const Target& target,
                               const DeleteOptions& options);

  /// Writes an object as the server itself, without checks. Writes nothing when nothing differs.
  void put_internal(const ResourceType& type, Json object);
  /// Deletes as a client would: finalizers count.
  void remove_internal(const Target& target);
  void erase_internal(const ResourceType& type, const std::string& ns, const std::string& name);

 private:
  /// `moved` is set when the object changed while webhooks were called: nothing was written.
  Task<Answer<Written>> update_once(Exchange& exchange, const Target& target, const Maker& make,
                                    UpdateMode mode, const WriteOptions& options, bool* moved);
  struct Update {
    StoredPtr current;
    const Json& live;  ///< it, in the version of the target
    UpdateMode mode;
    const WriteOptions& options;
  };
  /// From the wanted object to the one to store, through the mutating webhooks.
  Task<std::optional<Failure>> prepare_update(Exchange& exchange, const Target& target,
                                              const Update& update, Json& object);
  FieldErrors check_update(const Target& target, const Update& update, Json& object) const;
  Answer<Written> store_update(Exchange& exchange, const Target& target, const Update& update,
                               Json object);
  /// The target and the object as they are stored, where a webhook converts them.
  Task<Answer<Json>> to_storage(Target& target, Json object);
  Answer<Deleted> remove_now(Exchange& exchange, const Target& target,
                             const DeleteOptions& options);
  Answer<Deleted> remove_pod(const Target& target, const Stored& current, Json object,
                             const DeleteOptions& options);
  Answer<Deleted> remove_namespace(const Target& target, const Stored& current, Json object,
                                   const DeleteOptions& options);
  StoredPtr put(const Target& target, Json object);
  void erase(const Target& target, const Stored& current, Json last);
  Shelf& shelf_of(const ResourceType& type) { return core_.store.shelf(type.store_name()); }
  void notify(const ResourceType& type, const std::string& ns, const std::string& name,
              const Json* object);

  Core& core_;
  AdmissionHooks& hooks_;
  Observer observer_;
  Remover remove_definition_;
};

/// The object in the version its type is stored in.
Json to_stored_version(Json object, const ResourceType& type);

}  // namespace regatta::apiserver
