#pragma once

// How typed objects become JSON and back, for the .cpp files of this folder. Each struct lists its
// fields once, in a function template that both the reader and the writer visit:
//
//   template <class V, Is<Toleration> T>
//   void fields(V& v, T& o) {
//     v("key", o.key);
//     v("operator", o.op);
//   }
//
// v(name, x)         empty strings, lists, maps, optionals and structs are left out when writing
// v.always(name, x)  written even when empty
// v.micro(name, x)   a time with microseconds
// v.inside(name, f)  an object that exists in JSON only; f visits its members
// v.names(name, x)   [{"name": s}, …] as a list of strings
// v.limit(name, n)   reader only: a list of more than n entries is an error
//
// The writer overlays: members it does not know stay, those it knows are set or erased.

#include "lib/api/codec.h"
#include "lib/api/core.h"
#include "lib/api/meta.h"
#include "lib/api/quantity.h"
#include "lib/api/raw_json.h"

#include <nlohmann/json.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace regatta::api {

template <class T, class U>
concept Is = std::same_as<std::remove_const_t<T>, U>;

/// Where in a document we are; lives on the stack and becomes text only for an error.
struct Path {
  const Path* parent = nullptr;
  std::string_view key;
  std::ptrdiff_t index = -1;
  std::string str() const;
};

/// The JSON text of every enumerator, in order of value.
template <class E>
struct EnumText;

/// What the entries of all lists and maps of one object may take in memory, by the size of their
/// types. Whatever Kubernetes stores, up to 1.5 MiB, is within it: the shortest entries that it
/// accepts take 16 times their JSON. Those of a server that accepts anything take more.
inline constexpr std::size_t entries_bytes_max = 32u << 20;

/// The first error of an object that is read, and what its entries may still take in memory.
class FirstError : public std::optional<Error> {
 public:
  using std::optional<Error>::operator=;
  /// Whether there is room for so many bytes more; then they are taken.
  bool take(std::size_t bytes) {
    if (bytes > room_) return false;
    room_ -= bytes;
    return true;
  }

 private:
  std::size_t room_ = entries_bytes_max;
};

void fail(FirstError* error, const Path& path, std::string_view problem);
/// Whether the object may have `count` entries more of so many bytes each. If not, it fails.
bool may_have(std::size_t count, std::size_t bytes_each, const Path& path, FirstError* error);
std::string_view type_name(const Json& value);
void fail_type(FirstError* error, const Path& path, std::string_view wanted, const Json& value);
std::int64_t read_integer(const Json& value, std::int64_t low, std::int64_t high, const Path& path,
                          FirstError* error);
void read_enum(const Json& value, std::span<const std::string_view> texts, std::size_t* out,
               const Path& path, FirstError* error);

void read_value(const Json& value, std::string& out, const Path& path, FirstError* error);
void read_value(const Json& value, bool& out, const Path& path, FirstError* error);
void read_value(const Json& value, TimePoint& out, const Path& path, FirstError* error);
void read_value(const Json& value, Quantity& out, const Path& path, FirstError* error);
void read_value(const Json& value, ConditionStatus& out, const Path& path, FirstError* error);
void read_value(const Json& value, PodTemplate& out, const Path& path, FirstError* error);

void write_value(const std::string& in, Json& out);
void write_value(bool in, Json& out);
void write_value(TimePoint in, Json& out);
void write_value(const Quantity& in, Json& out);
void write_value(ConditionStatus in, Json& out);
void write_value(const PodTemplate& in, Json& out);

class FieldReader;
class FieldWriter;

template <class T>
concept HasFields = std::is_class_v<T> && requires(T& o, FieldReader& v) { fields(v, o); };

template <std::integral I>
  requires(!std::same_as<I, bool>)
void read_value(const Json& value, I& out, const Path& path, FirstError* error) {
  out = static_cast<I>(read_integer(value, std::numeric_limits<I>::min(),
                                    std::numeric_limits<I>::max(), path, error));
}

template <class E>
  requires std::is_enum_v<E>
void read_value(const Json& value, E& out, const Path& path, FirstError* error) {
  auto index = static_cast<std::size_t>(out);
  read_enum(value, EnumText<E>::texts, &index, path, error);
  out = static_cast<E>(index);
}

template <HasFields T>
void read_value(const Json& value, T& out, const Path& path, FirstError* error);
template <class T>
void read_value(const Json& value, std::optional<T>& out, const Path& path, FirstError* error);
template <class T>
void read_value(const Json& value, std::vector<T>& out, const Path& path, FirstError* error);
template <class T>
void read_value(const Json& value, std::map<std::string, T>& out, const Path& path,
                FirstError* error);

/// Visits the members of one JSON object. The first error wins and stops everything after it.
class FieldReader {
 public:
  FieldReader(const Json& object, const Path& path, FirstError* error);

  template <class T>
  void operator()(std::string_view name, T& out) {
    if (const Json* member = find(name)) read_value(*member, out, at(name), error_);
  }
  template <class T>
  void always(std::string_view name, T& out) {
    (*this)(name, out);
  }
  template <class T>
  void micro(std::string_view name, T& out) {
    (*this)(name, out);
  }
  template <class F>
  void inside(std::string_view name, F visit) {
    const Json* member = find(name);
    if (!member) return;
    const Path below = at(name);
    if (!member->is_object()) return fail_type(error_, below, "an object", *member);
    FieldReader reader(*member, below, error_);
    visit(reader);
  }
  void names(std::string_view name, std::vector<std::string>& out);
  /// Refuses a list of more than `most` entries before any of them is read.
  void limit(std::string_view name, std::size_t most);
  /// Refuses the member `key` of member `name`.
  void refuse(std::string_view name, std::string_view key, std::string_view problem);
  /// The member, or null when it is absent or null.
  const Json* find(std::string_view name) const;

 private:
  using Member = Json::object_t::value_type;
  static constexpr std::size_t places = 64;

  Path at(std::string_view name) const { return {path_, name, -1}; }
  /// The same for the same name.
  static std::size_t place_of(std::string_view name);

  const Json* object_;
  const Path* path_;
  FirstError* error_;
  std::uint64_t taken_ = 0;        ///< a bit for each place of a member: most fields are absent
  const Member* last_at_[places];  ///< set where a bit is: of the members of a place the last one
};

template <HasFields T>
void read_value(const Json& value, T& out, const Path& path, FirstError* error) {
  if (!value.is_object()) return fail_type(error, path, "an object", value);
  FieldReader reader(value, path, error);
  fields(reader, out);
}

template <class T>
void read_value(const Json& value, std::optional<T>& out, const Path& path, FirstError* error) {
  read_value(value, out.emplace(), path, error);
}

template <class T>
void read_value(const Json& value, std::vector<T>& out, const Path& path, FirstError* error) {
  if (!value.is_array()) return fail_type(error, path, "a list", value);
  if (!may_have(value.size(), sizeof(T), path, error)) return;
  out.reserve(value.size());
  std::ptrdiff_t index = 0;
  for (const Json& item : value) {
    if (*error) return;
    read_value(item, out.emplace_back(), Path{&path, {}, index++}, error);
  }
}

template <class T>
void read_value(const Json& value, std::map<std::string, T>& out, const Path& path,
                FirstError* error) {
  if (!value.is_object()) return fail_type(error, path, "an object", value);
  constexpr std::size_t links_bytes = 32;  // each entry is a node of a tree
  constexpr std::size_t node_bytes = links_bytes + sizeof(std::pair<const std::string, T>);
  if (!may_have(value.size(), node_bytes, path, error)) return;
  for (auto it = value.begin(); it != value.end() && !*error; ++it) {
    if (it->is_null()) continue;
    T& item = out.emplace_hint(out.end(), it.key(), T{})->second;
    read_value(*it, item, Path{&path, it.key(), -1}, error);
  }
}

template <std::integral I>
  requires(!std::same_as<I, bool>)
void write_value(I in, Json& out) {
  out = in;
}

template <class E>
  requires std::is_enum_v<E>
void write_value(E in, Json& out) {
  out = std::string(EnumText<E>::texts[static_cast<std::size_t>(in)]);
}

template <HasFields T>
void write_value(const T& in, Json& out);
template <class T>
void write_value(const std::optional<T>& in, Json& out);
template <class T>
void write_value(const std::vector<T>& in, Json& out);
template <class T>
void write_value(const std::map<std::string, T>& in, Json& out);

template <class T>
bool is_absent(const T&) {
  return false;
}
inline bool is_absent(const std::string& value) {
  return value.empty();
}
inline bool is_absent(const RawJson& value) {
  return value.empty();
}
template <class T>
bool is_absent(const std::optional<T>& value) {
  return !value;
}
template <class T>
bool is_absent(const std::vector<T>& value) {
  return value.empty();
}
template <class T>
bool is_absent(const std::map<std::string, T>& value) {
  return value.empty();
}

class FieldWriter {
 public:
  explicit FieldWriter(Json& object) : object_(&object) {
    if (!object.is_object()) object = Json::object();
  }

  template <class T>
  void operator()(std::string_view name, const T& in) {
    if (is_absent(in)) {
      object_->erase(std::string(name));
      return;
    }
    write_value(in, member(name));
    // A struct in which every field is absent counts as absent.
    if constexpr (HasFields<T>) drop_if_empty(name);
  }
  template <class T>
  void always(std::string_view name, const T& in) {
    write_value(in, member(name));
  }
  void micro(std::string_view name, TimePoint in) { member(name) = format_rfc3339_micro(in); }
  void micro(std::string_view name, const std::optional<TimePoint>& in) {
    if (in) {
      micro(name, *in);
    } else {
      object_->erase(std::string(name));
    }
  }
  template <class F>
  void inside(std::string_view name, F visit) {
    FieldWriter writer(member(name));
    visit(writer);
    drop_if_empty(name);
  }
  void names(std::string_view name, const std::vector<std::string>& in);
  /// Writes `in` over the members that `raw` holds.
  template <class T>
  void over(std::string_view name, const RawJson& raw, const T& in) {
    Json& out = member(name);
    out = raw.empty() ? Json::object() : raw.json();
    write_value(in, out);
  }
  void drop_if_empty(std::string_view name);

 private:
  Json& member(std::string_view name) { return (*object_)[std::string(name)]; }

  Json* object_;
};

template <HasFields T>
void write_value(const T& in, Json& out) {
  FieldWriter writer(out);
  // fields() takes T& because the reader fills it; here T is const.
  fields(writer, in);
}

template <class T>
void write_value(const std::optional<T>& in, Json& out) {
  write_value(*in, out);
}

/// The entries of a list as it was, each of which can be taken once.
class EntriesBefore {
 public:
  explicit EntriesBefore(Json list) : list_(std::move(list)) {}
  /// The entry with that name; null when there is none, or no name. Of several it is the first one
  /// from `index` on, and otherwise the first of all.
  Json take(std::size_t index, const std::string* name);

 private:
  void find_places();

  Json list_;
  /// By name; filled when an entry is not found at its place for the first time.
  std::optional<std::map<std::string, std::set<std::size_t>>> places_;
};

template <class T>
const std::string* entry_name(const T& item) {
  if constexpr (requires { item.name; }) {
    return &item.name;
  } else {
    return nullptr;
  }
}

template <class T>
void write_value(const std::vector<T>& in, Json& out) {
  EntriesBefore before(std::move(out));
  out = Json::array();
  for (std::size_t i = 0; i < in.size(); ++i) {
    Json item = HasFields<T> ? before.take(i, entry_name(in[i])) : Json();
    write_value(in[i], item);
    out.push_back(std::move(item));
  }
}

template <class T>
void write_value(const std::map<std::string, T>& in, Json& out) {
  out = Json::object();
  for (const auto& [key, value] : in) write_value(value, out[key]);
}

// --- fields of the shapes several kinds share ---------------------------------------------------

template <class V, Is<OwnerReference> T>
void fields(V& v, T& o) {
  v("apiVersion", o.api_version);
  v("kind", o.kind);
  v("name", o.name);
  v("uid", o.uid);
  v("controller", o.controller);
  v("blockOwnerDeletion", o.block_owner_deletion);
}

template <class V, Is<Condition> T>
void fields(V& v, T& o) {
  v("type", o.type);
  v("status", o.status);
  if constexpr (std::same_as<V, FieldWriter>) {
    if (o.observed_generation != 0) v("observedGeneration", o.observed_generation);
  } else {
    v("observedGeneration", o.observed_generation);
  }
  v("lastTransitionTime", o.last_transition_time);
  v.always("reason", o.reason);
  v.always("message", o.message);
}

template <class V, Is<StatusCondition> T>
void fields(V& v, T& o) {
  v("type", o.type);
  v("status", o.status);
  v("lastProbeTime", o.last_probe_time);
  v("lastTransitionTime", o.last_transition_time);
  v("reason", o.reason);
  v("message", o.message);
}

template <class V, Is<LabelSelectorRequirement> T>
void fields(V& v, T& o) {
  v("key", o.key);
  v("operator", o.op);
  v("values", o.values);
}

template <class V, Is<LabelSelector> T>
void fields(V& v, T& o) {
  v("matchLabels", o.match_labels);
  v("matchExpressions", o.match_expressions);
}

template <class V, Is<Toleration> T>
void fields(V& v, T& o) {
  v("key", o.key);
  v("operator", o.op);
  v("value", o.value);
  v("effect", o.effect);
  v("tolerationSeconds", o.toleration_seconds);
}

template <class V, Is<Taint> T>
void fields(V& v, T& o) {
  v.always("key", o.key);
  v("value", o.value);
  v.always("effect", o.effect);
  v("timeAdded", o.time_added);
}

void read_value(const Json& value, ObjectMeta& out, const Path& path, FirstError* error);
void write_value(const ObjectMeta& in, Json& out);

// --- whole objects ------------------------------------------------------------------------------

/// Checks kind and group, and hands back `value` as v1beta2: itself, or `*converted` for v1beta1.
Result<const Json*> current_version(const Json& value, const ResourceInfo& resource,
                                    Json* converted);
Json object_head(const ResourceInfo& resource);

/// from_json() for a kind with a fields() that visits metadata and everything else below the root.
template <class T>
Result<T> read_object(const Json& value) {
  Json converted;
  const Result<const Json*> object = current_version(value, T::resource, &converted);
  if (!object) return object.error();
  T out;
  FirstError error;
  const Path root;
  read_value(**object, out, root, &error);
  if (error) return std::move(*error);
  return out;
}

/// Instantiated by each codec for its kinds.
template <class T>
Result<T> from_json(const Json& value) {
  return read_object<T>(value);
}

template <class T>
Json to_json(const T& object) {
  Json out = object_head(T::resource);
  write_value(object, out);
  return out;
}

#define REGATTA_API_CODEC(Kind)                       \
  template Result<Kind> from_json<Kind>(const Json&); \
  template Json to_json<Kind>(const Kind&)

}  // namespace regatta::api
