#include "lib/api/fields.h"

#include "lib/api/convert.h"
#include "lib/api/metadata.h"
#include "lib/api/names.h"
#include "lib/base/limited_text.h"

namespace regatta::api {
std::string Path::str() const {
  if (!parent) return std::string(key);
  std::string out = parent->str();
  if (index >= 0) return out + "[" + std::to_string(index) + "]";
  if (!out.empty()) out += '.';
  return out.append(key);
}

void fail(FirstError* error, const Path& path, std::string_view problem) {
  if (*error) return;
  // Names and values come from the object, and so from every client that may write it.
  constexpr std::size_t bytes_max = 512;
  const std::string where = path.str();
  std::string what = where.empty() ? "" : limited_text(where, bytes_max / 2) + ": ";
  error->emplace(Errc::invalid, limited_text(what.append(problem.substr(0, bytes_max)), bytes_max));
}

bool may_have(std::size_t count, std::size_t bytes_each, const Path& path, FirstError* error) {
  if (error->take(count * bytes_each)) return true;
  fail(error, path,
       std::to_string(count) + " entries are too many: those of one object may take " +
           std::to_string(entries_bytes_max >> 20) + " MiB of memory");
  return false;
}

std::string_view type_name(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "a list";
    case Json::value_t::string:
      return "a string";
    case Json::value_t::boolean:
      return "a boolean";
    default:
      return "a number";
  }
}

void fail_type(FirstError* error, const Path& path, std::string_view wanted, const Json& value) {
  fail(error, path, "expected " + std::string(wanted) + ", got " + std::string(type_name(value)));
}

std::int64_t read_integer(const Json& value, std::int64_t low, std::int64_t high, const Path& path,
                          FirstError* error) {
  if (!value.is_number_integer()) {
    fail_type(error, path, "an integer", value);
    return 0;
  }
  const bool huge = value.is_number_unsigned() &&
                    value.get<std::uint64_t>() >
                        static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const std::int64_t number = huge ? 0 : value.get<std::int64_t>();
  if (huge || number < low || number > high) {
    fail(error, path, "out of range: " + value.dump());
    return 0;
  }
  return number;
}

void read_enum(const Json& value, std::span<const std::string_view> texts, std::size_t* out,
               const Path& path, FirstError* error) {
  if (!value.is_string()) return fail_type(error, path, "a string", value);
  const std::string& text = value.get_ref<const std::string&>();
  if (text.empty()) return;  // Go's zero value stands for the default
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i] == text) {
      *out = i;
      return;
    }
  }
  std::string known;
  for (const std::string_view one : texts) {
    if (!known.empty()) known += ", ";
    known.append("\"").append(one).append("\"");
  }
  fail(error, path,
       "unsupported value \"" + limited_text(text, 64) + "\", expected one of " + known);
}

void read_value(const Json& value, std::string& out, const Path& path, FirstError* error) {
  if (!value.is_string()) return fail_type(error, path, "a string", value);
  out = value.get_ref<const std::string&>();
}

void read_value(const Json& value, bool& out, const Path& path, FirstError* error) {
  if (!value.is_boolean()) return fail_type(error, path, "a boolean", value);
  out = value.get<bool>();
}

void read_value(const Json& value, TimePoint& out, const Path& path, FirstError* error) {
  if (!value.is_string()) return fail_type(error, path, "a time", value);
  const Result<TimePoint> time = parse_rfc3339(value.get_ref<const std::string&>());
  if (!time) return fail(error, path, time.error().what());
  out = *time;
}

void read_value(const Json& value, Quantity& out, const Path& path, FirstError* error) {
  if (!value.is_string() && !value.is_number()) return fail_type(error, path, "a quantity", value);
  const Result<Quantity> quantity = value.is_string()
                                        ? Quantity::parse(value.get_ref<const std::string&>())
                                        : Quantity::parse(value.dump());
  if (!quantity) return fail(error, path, quantity.error().what());
  out = *quantity;
}

void read_value(const Json& value, ConditionStatus& out, const Path& path, FirstError* error) {
  static constexpr std::string_view texts[] = {"True", "False", "Unknown"};
  auto index = static_cast<std::size_t>(ConditionStatus::Unknown);
  read_enum(value, texts, &index, path, error);
  out = static_cast<ConditionStatus>(index);
}

void write_value(const std::string& in, Json& out) {
  out = in;
}
void write_value(bool in, Json& out) {
  out = in;
}
void write_value(TimePoint in, Json& out) {
  out = format_rfc3339(in);
}
void write_value(const Quantity& in, Json& out) {
  out = in.str();
}

void write_value(ConditionStatus in, Json& out) {
  out = in == ConditionStatus::True ? "True" : in == ConditionStatus::False ? "False" : "Unknown";
}

std::size_t FieldReader::place_of(std::string_view name) {
  if (name.empty()) return 0;
  const auto first = static_cast<unsigned char>(name.front());
  const auto last = static_cast<unsigned char>(name.back());
  return (name.size() + 5U * first + 11U * last) % places;
}

FieldReader::FieldReader(const Json& object, const Path& path, FirstError* error)
    : object_(&object), path_(&path), error_(error) {
  if (!object.is_object()) return;
  for (const Member& member : object.get_ref<const Json::object_t&>()) {
    const std::size_t place = place_of(member.first);
    taken_ |= std::uint64_t(1) << place;
    last_at_[place] = &member;
  }
}

const Json* FieldReader::find(std::string_view name) const {
  const std::size_t place = place_of(name);
  if (*error_ || (taken_ >> place & 1) == 0) return nullptr;
  const Json* member = nullptr;
  if (last_at_[place]->first == name) {
    member = &last_at_[place]->second;
  } else if (const auto it = object_->find(name); it != object_->end()) {
    member = &*it;
  }
  return member && !member->is_null() ? member : nullptr;
}

void FieldReader::names(std::string_view name, std::vector<std::string>& out) {
  const Json* list = find(name);
  if (!list) return;
  const Path below = at(name);
  if (!list->is_array()) return fail_type(error_, below, "a list", *list);
  if (!may_have(list->size(), sizeof(std::string), below, error_)) return;
  std::ptrdiff_t index = 0;
  for (const Json& item : *list) {
    const Path here{&below, {}, index++};
    if (!item.is_object()) return fail_type(error_, here, "an object", item);
    FieldReader(item, here, error_)("name", out.emplace_back());
  }
}

void FieldReader::limit(std::string_view name, std::size_t most) {
  const Json* list = find(name);
  if (!list || !list->is_array() || list->size() <= most) return;
  fail(error_, at(name),
       std::to_string(list->size()) + " entries, at most " + std::to_string(most) + " are read");
}

void FieldReader::refuse(std::string_view name, std::string_view key, std::string_view problem) {
  const Path below = at(name);
  fail(error_, Path{&below, key, -1}, problem);
}

void FieldWriter::names(std::string_view name, const std::vector<std::string>& in) {
  if (in.empty()) {
    object_->erase(std::string(name));
    return;
  }
  Json& list = member(name);
  EntriesBefore before(std::move(list));
  list = Json::array();
  for (std::size_t i = 0; i < in.size(); ++i) {
    Json item = before.take(i, &in[i]);
    if (!item.is_object()) item = Json::object();
    item["name"] = in[i];
    list.push_back(std::move(item));
  }
}

void FieldWriter::drop_if_empty(std::string_view name) {
  const auto it = object_->find(name);
  if (it != object_->end() && it->is_object() && it->empty()) object_->erase(it);
}

namespace {

/// Null when it has none.
const std::string* name_in(const Json& entry) {
  if (!entry.is_object()) return nullptr;
  const auto found = entry.find("name");
  const bool named = found != entry.end() && found->is_string();
  return named ? &found->get_ref<const std::string&>() : nullptr;
}

}  // namespace

Json EntriesBefore::take(std::size_t index, const std::string* name) {
  // Without a name an entry cannot be recognized.
  if (!name || !list_.is_array() || list_.empty()) return {};
  const std::size_t start = index % list_.size();
  if (!places_) {
    // Entries rarely move.
    const std::string* here = name_in(list_[start]);
    if (here && *here == *name) return std::exchange(list_[start], Json());
    find_places();
  }
  const auto found = places_->find(*name);
  if (found == places_->end()) return {};
  std::set<std::size_t>& places = found->second;
  auto place = places.lower_bound(start);
  if (place == places.end()) place = places.begin();
  Json entry = std::exchange(list_[*place], Json());
  places.erase(place);
  if (places.empty()) places_->erase(found);
  return entry;
}

void EntriesBefore::find_places() {
  places_.emplace();
  for (std::size_t i = 0; i < list_.size(); ++i) {
    if (const std::string* name = name_in(list_[i])) (*places_)[*name].insert(i);
  }
}

namespace {

template <class V, Is<ObjectMeta> T>
void meta_fields(V& v, T& o) {
  v("name", o.name);
  v("generateName", o.generate_name);
  v("namespace", o.ns);
  v("uid", o.uid);
  v("resourceVersion", o.resource_version);
  v("creationTimestamp", o.creation_timestamp);
  v("deletionTimestamp", o.deletion_timestamp);
  v("deletionGracePeriodSeconds", o.deletion_grace_period_seconds);
  v("labels", o.labels);
  v("annotations", o.annotations);
  v("ownerReferences", o.owner_references);
  v("finalizers", o.finalizers);
}

}  // namespace

void read_value(const Json& value, ObjectMeta& out, const Path& path, FirstError* error) {
  if (!value.is_object()) return fail_type(error, path, "an object", value);
  FieldReader reader(value, path, error);
  meta_fields(reader, out);
  reader("generation", out.generation);
}

void write_value(const ObjectMeta& in, Json& out) {
  FieldWriter writer(out);
  meta_fields(writer, in);
  if (in.generation != 0) writer("generation", in.generation);
}

Result<ObjectMeta> read_metadata(const Json& object) {
  FirstError error;
  const Path root;
  if (!object.is_object()) {
    fail_type(&error, root, "an object", object);
    return std::move(*error);
  }
  const Path path{&root, "metadata"};
  ObjectMeta metadata;
  const auto found = object.find("metadata");
  if (found != object.end()) read_value(*found, metadata, path, &error);
  if (error) return std::move(*error);
  return metadata;
}

Result<const Json*> current_version(const Json& value, const ResourceInfo& resource,
                                    Json* converted) {
  FirstError error;
  const Path root;
  if (!value.is_object()) {
    fail_type(&error, root, "an object", value);
    return std::move(*error);
  }
  std::string version, kind;
  FieldReader reader(value, root, &error);
  reader("apiVersion", version);
  reader("kind", kind);
  // Items of a list carry neither apiVersion nor kind.
  if (!error && !kind.empty() && kind != resource.kind) {
    fail(&error, Path{nullptr, "kind"},
         "expected \"" + std::string(resource.kind) + "\", got \"" + kind + "\"");
  }
  const std::string wanted = resource.api_version();
  const bool older = resource.group == kueue_group && version == "kueue.x-k8s.io/v1beta1";
  if (!error && !version.empty() && version != wanted && !older) {
    fail(&error, Path{nullptr, "apiVersion"},
         "expected \"" + wanted + "\", got \"" + version + "\"");
  }
  if (error) return std::move(*error);
  if (!older) return &value;
  *converted = value;
  (*converted)["kind"] = std::string(resource.kind);
  const Status status = convert(*converted, "v1beta1", "v1beta2");
  if (!status) return status.error();
  return converted;
}

Json object_head(const ResourceInfo& resource) {
  return Json{{"apiVersion", resource.api_version()}, {"kind", std::string(resource.kind)}};
}

}  // namespace regatta::api
