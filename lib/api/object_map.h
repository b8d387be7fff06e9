#pragma once

#include "lib/api/resource.h"

#include <boost/unordered/unordered_flat_set.hpp>

#include <functional>
#include <map>
#include <string>
#include <utility>

namespace regatta::api {

struct KeyHash {
  std::size_t operator()(const ObjectKey& key) const {
    const std::hash<std::string> of;
    return of(key.name) * 31 + of(key.ns);
  }
};

/// A map in key order that finds an object by hash: names of objects share long prefixes, and a
/// search in a tree compares these again at each level. A pointer to a value is valid until the
/// value is erased. Costs about 16 bytes for each object beyond those of a std::map.
template <class Value>
class ObjectMap {
  using Map = std::map<ObjectKey, Value>;

 public:
  ObjectMap() = default;
  ObjectMap(const ObjectMap&) = delete;  // the index points into the map
  ObjectMap(ObjectMap&&) = default;
  ObjectMap& operator=(ObjectMap&&) = default;

  /// Null when there is none.
  const Value* find(const ObjectKey& key) const {
    const auto found = index_.find(key);
    return found == index_.end() ? nullptr : &(*found)->second;
  }
  Value* find(const ObjectKey& key) { return const_cast<Value*>(std::as_const(*this).find(key)); }
  bool contains(const ObjectKey& key) const { return index_.contains(key); }

  /// The value of `key`, made if there is none.
  Value& operator[](const ObjectKey& key) {
    if (Value* found = find(key)) return *found;
    const auto made = map_.try_emplace(key).first;
    index_.insert(&*made);
    return made->second;
  }

  void erase(const ObjectKey& key) {
    const auto found = index_.find(key);
    if (found == index_.end()) return;
    index_.erase(found);
    map_.erase(key);
  }

  std::size_t size() const { return map_.size(); }
  bool empty() const { return map_.empty(); }
  auto begin() { return map_.begin(); }
  auto end() { return map_.end(); }
  auto begin() const { return map_.begin(); }
  auto end() const { return map_.end(); }

 private:
  using Item = typename Map::value_type*;
  struct Hash : KeyHash {
    using is_transparent = void;
    using KeyHash::operator();
    std::size_t operator()(Item item) const { return (*this)(item->first); }
  };
  struct Same {
    using is_transparent = void;
    bool operator()(Item a, Item b) const { return a->first == b->first; }
    bool operator()(const ObjectKey& key, Item item) const { return key == item->first; }
    bool operator()(Item item, const ObjectKey& key) const { return key == item->first; }
  };

  Map map_;
  boost::unordered_flat_set<Item, Hash, Same> index_;
};

}  // namespace regatta::api
