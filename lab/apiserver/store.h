#pragma once

#include "lab/apiserver/journal.h"
#include "lib/base/json.h"
#include "lib/base/task.h"
#include "lib/runtime/wakeup.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::apiserver {

/// One version of one object, immutable. Holds the JSON in its stored version, and its text without
/// kind and apiVersion, which is made once for all reads and watches.
class Stored {
 public:
  Stored(std::string ns, std::string name, std::uint64_t version, Json value);
  ~Stored();

  const std::string& ns() const { return ns_; }
  const std::string& name() const { return name_; }
  std::uint64_t version() const { return version_; }
  const Json& value() const { return *value_; }
  /// `{"metadata":{…},"spec":{…}}`, escaped as Kubernetes escapes.
  const std::string& members() const;
  /// `{"metadata":{…}}`.
  std::string metadata_member() const;

 private:
  std::string ns_;
  std::string name_;
  std::uint64_t version_;
  std::unique_ptr<const Json> value_;
  mutable std::string members_;
  mutable std::size_t metadata_bytes_ = 0;  ///< of members_, up to the end of metadata
};
using StoredPtr = std::shared_ptr<const Stored>;

/// "ns/name", or "name" for cluster-scoped objects: the order of lists.
std::string store_key(std::string_view ns, std::string_view name);

enum class ChangeType { added, modified, deleted };

struct Change {
  ChangeType type = ChangeType::added;
  std::uint64_t version = 0;
  StoredPtr object;    ///< for deleted: the last state, with the version of the deletion
  StoredPtr previous;  ///< null for added
};

/// All objects of one resource, and their recent changes.
class Shelf {
 public:
  using Objects = std::map<std::string, StoredPtr, std::less<>>;

  Shelf(Executor executor, std::string name, std::uint64_t floor, std::size_t history_max);

  const std::string& name() const { return name_; }
  const Objects& objects() const { return objects_; }
  StoredPtr find(std::string_view ns, std::string_view name) const;
  /// The objects that have changed since `version`, as they were then; null: was not there. Nothing
  /// when the history does not reach back to it. Costs what has changed, not what is stored.
  std::optional<Objects> changed_since(std::uint64_t version) const;

  /// The oldest version from which a watch can resume.
  std::uint64_t floor() const { return floor_; }
  std::uint64_t last_version() const { return last_version_; }

  /// Changes are numbered from 0; those before first_change() are dropped.
  std::uint64_t first_change() const { return first_change_; }
  std::uint64_t end_change() const { return first_change_ + history_.size(); }
  const Change& change(std::uint64_t number) const { return history_[number - first_change_]; }
  /// The number of the first change after `version`.
  std::uint64_t change_after(std::uint64_t version) const;

  Wakeup& changed() { return changed_; }
  /// Set when the resource is no longer served: watches end.
  bool closed() const { return closed_; }
  void close();

  /// Drops the history, as a compaction does.
  void forget(std::uint64_t current);

 private:
  friend class Store;
  void apply(Change change);
  void go_back(Objects objects, std::uint64_t version);

  std::string name_;
  Objects objects_;
  std::deque<Change> history_;
  std::uint64_t first_change_ = 0;
  std::uint64_t floor_;
  std::uint64_t last_version_;
  std::size_t history_max_;
  Wakeup changed_;
  bool closed_ = false;
};

/// Every object of the server, in memory, under one sequence of resourceVersions. Readers of this
/// process see a write at once; durable() returns when it would survive a crash.
class Store {
 public:
  Store(Executor executor, std::size_t history_max, std::unique_ptr<Journal> journal);
  ~Store();

  std::uint64_t version() const { return version_; }
  /// Created at the first use.
  Shelf& shelf(const std::string& name);
  Shelf* find_shelf(std::string_view name);
  /// Closes watches and drops all objects of the resource.
  void drop_shelf(const std::string& name);
  std::vector<Shelf*> shelves();

  /// Adds or replaces; sets metadata.resourceVersion. Returns the new version of the object.
  StoredPtr put(Shelf& shelf, std::string ns, std::string name, Json value);
  /// `last`: the final state for watches, mostly the current one. The object must exist.
  StoredPtr erase(Shelf& shelf, const Stored& current, Json last);

  /// Returns when everything written before has reached the journal.
  Task<> durable();
  bool settled() const { return unwritten_.empty(); }
  /// Reads the contents of the journal. Once, before anything is written.
  Status restore();
  /// Ends every watch and drops every old version, as a compaction does.
  void compact();

  /// Every object by resource, and the version of the whole. Objects are shared, not copied.
  struct Snapshot {
    std::uint64_t version = 0;
    std::map<std::string, Shelf::Objects> objects;
  };
  Snapshot snapshot() const;
  /// What becomes of the version of the whole when a backup is restored.
  enum class Versions {
    go_back,  ///< they will be given a second time
    go_on,    ///< new ones are greater than any before, as `etcdutl --bump-revision` makes them
  };
  /// Makes the state that of an earlier snapshot, as a restore of a backup does. Watches end. Only
  /// without a journal.
  void go_back(const Snapshot& snapshot, Versions versions = Versions::go_back);

  /// Called at each change, before a watch sees it; for tests. May be null.
  std::function<void(const Shelf&, const Change&)> on_change;

 private:
  void record(const Shelf& shelf, const std::string& key, const Stored* object);
  void flush();

  Executor executor_;
  std::size_t history_max_;
  std::unique_ptr<Journal> journal_;
  std::uint64_t version_ = 100;
  std::map<std::string, std::unique_ptr<Shelf>, std::less<>> shelves_;
  std::vector<std::unique_ptr<Shelf>> dropped_;
  std::vector<JournalEntry> unwritten_;
  bool flush_posted_ = false;
  Wakeup flushed_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace regatta::apiserver
