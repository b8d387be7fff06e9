#include "whatif/timeline/timeline.h"

#include "lib/api/yaml.h"
#include "lib/base/near_miss.h"
#include "whatif/timeline/arrivals.h"
#include "whatif/timeline/duration.h"
#include "whatif/timeline/fields.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

namespace regatta::whatif {
namespace {

constexpr std::size_t errors_max = 100;

Result<std::string> text_field(const Json& object, const char* name) {
  const Json* value = member(object, name);
  if (!value) return field_error(name, "missing");
  if (!value->is_string()) return field_error(name, "expected a string");
  return value->get<std::string>();
}

Result<bool> bool_field(const Json& object, const char* name) {
  const Json* value = member(object, name);
  if (!value || !value->is_boolean()) return field_error(name, "expected true or false");
  return value->get<bool>();
}

constexpr std::array<std::string_view, 6> happenings{"apply", "delete",    "scale",
                                                     "node",  "connected", "arrivals"};
constexpr std::array<std::string_view, 4> scale_fields{"clusterQueue", "flavor", "resource",
                                                       "nominalQuota"};
constexpr std::array<std::string_view, 10> deletable{
    "AdmissionCheck", "ClusterQueue", "Cohort",         "Job",      "LocalQueue",
    "Namespace",      "Node",         "ResourceFlavor", "Topology", "Workload"};

/// Each entry is one event and has no other fields.
Status check_entry(const Json& json) {
  std::vector<std::string_view> known{"at", "cluster"};
  std::string_view first;
  for (const std::string_view one : happenings) {
    known.push_back(one);
    if (!member(json, one.data())) continue;
    if (!first.empty()) {
      return Error(Errc::invalid,
                   std::string(first) + " and " + std::string(one) + ": write an entry for each");
    }
    first = one;
  }
  if (first == "node" || first.empty()) known.emplace_back("ready");
  if (const Status checked = check_known(json, known); !checked) return checked;
  if (first == "arrivals" && member(json, "at")) {
    return field_error("at", "arrivals say from and until instead");
  }
  return ok();
}

/// "Job team-a/train", "ClusterQueue fleet".
Result<ObjectName> parse_name(const std::string& text) {
  const std::size_t space = text.find(' ');
  if (space == std::string::npos || space == 0 || space + 1 == text.size()) {
    return field_error("delete", "write the kind and the name: \"Job team-a/train\"");
  }
  const std::string kind = text.substr(0, space);
  if (std::find(deletable.begin(), deletable.end(), kind) == deletable.end()) {
    return field_error("delete", "a " + kind + " cannot be deleted here" +
                                     did_you_mean(kind, {deletable.begin(), deletable.end()}));
  }
  const std::string name = text.substr(space + 1);
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos) return ObjectName{kind, api::ObjectKey(name)};
  return ObjectName{kind, api::ObjectKey(name.substr(0, slash), name.substr(slash + 1))};
}

Result<ScaleQuota> read_scale(const Json& json) {
  if (!json.is_object()) return field_error("scale", "expected an object");
  if (const Status checked = check_known(json, scale_fields); !checked) {
    return checked.error().within("scale");
  }
  ScaleQuota out;
  for (const auto& [name, target] :
       {std::pair<const char*, std::string*>{"clusterQueue", &out.cluster_queue},
        {"flavor", &out.flavor},
        {"resource", &out.resource}}) {
    auto text = text_field(json, name);
    if (!text) return text.error().within("scale");
    *target = std::move(*text);
  }
  const Json* quota = member(json, "nominalQuota");
  if (!quota) return field_error("scale.nominalQuota", "missing");
  const auto text = scalar_text(*quota, "scale.nominalQuota");
  if (!text) return text.error();
  const auto amount = api::Quantity::parse(*text);
  if (!amount) return field_error("scale.nominalQuota", amount.error().what());
  if (amount->is_negative()) return field_error("scale.nominalQuota", "must not be negative");
  out.nominal_quota = *amount;
  return out;
}

class Reader {
 public:
  Reader(TimePoint now, ManifestReader* reader, std::vector<TimedEvent>* out)
      : now_(now), reader_(*reader), out_(*out) {}

  Status entry(const Json& json) {
    if (!json.is_object()) return Error(Errc::invalid, "expected an object");
    if (const Status checked = check_entry(json); !checked) return checked;
    std::string cluster;
    if (member(json, "cluster")) {
      auto name = text_field(json, "cluster");
      if (!name) return name.error();
      cluster = std::move(*name);
    }
    if (const Json* arrivals = member(json, "arrivals")) {
      const Status read = read_arrivals(*arrivals, now_, cluster, &reader_, &out_);
      return read ? ok() : read.error().within("arrivals");
    }
    const auto at = time_of(json);
    if (!at) return at.error();
    return happening(json, *at, cluster);
  }

 private:
  Result<TimePoint> time_of(const Json& json) const {
    const Json* at = member(json, "at");
    if (!at) return field_error("at", "missing");
    const auto text = scalar_text(*at, "at");
    if (!text) return text.error();
    if (const auto time = parse_rfc3339(*text)) {
      if (*time < now_) return field_error("at", "before the start " + format_rfc3339(now_));
      return *time;
    }
    const auto offset = parse_duration(*text);
    if (!offset) return field_error("at", offset.error().what());
    return now_ + *offset;
  }

  Status happening(const Json& json, TimePoint at, const std::string& cluster) {
    if (const Json* manifest = member(json, "apply")) return apply(*manifest, at, cluster);
    if (member(json, "delete")) {
      const auto text = text_field(json, "delete");
      if (!text) return text.error();
      auto name = parse_name(*text);
      if (!name) return name.error();
      out_.push_back({at, cluster, std::move(*name)});
    } else if (const Json* scale = member(json, "scale")) {
      auto change = read_scale(*scale);
      if (!change) return change.error();
      out_.push_back({at, cluster, std::move(*change)});
    } else if (member(json, "node")) {
      auto node = text_field(json, "node");
      if (!node) return node.error();
      const auto ready = bool_field(json, "ready");
      if (!ready) return ready.error();
      out_.push_back({at, cluster, SetNodeReady{std::move(*node), *ready}});
    } else if (member(json, "connected")) {
      const auto connected = bool_field(json, "connected");
      if (!connected) return connected.error();
      if (cluster.empty()) return field_error("cluster", "missing");
      out_.push_back({at, cluster, SetConnected{*connected}});
    } else {
      return Error(Errc::invalid,
                   "nothing happens; write apply, delete, scale, node, connected or arrivals");
    }
    return ok();
  }

  Status apply(const Json& json, TimePoint at, const std::string& cluster) {
    if (json.is_array()) {
      for (const Json& one : json) {
        if (const Status done = apply(one, at, cluster); !done) return done;
      }
      return ok();
    }
    auto object = reader_.read_object(json);
    if (!object) return object.error().within("apply");
    std::visit(
        [at](auto& one) {
          one.metadata.creation_timestamp = std::chrono::floor<std::chrono::seconds>(at);
        },
        *object);
    out_.push_back({at, cluster, std::move(*object)});
    return ok();
  }

  TimePoint now_;
  ManifestReader& reader_;
  std::vector<TimedEvent>& out_;
};

/// The first key that occurs twice in an object of a JSON text, or empty.
std::string repeated_key(std::string_view json) {
  std::vector<std::set<std::string>> open;
  std::string twice;
  const auto see = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event != Json::parse_event_t::key) return true;
    const auto& key = parsed.get_ref<const std::string&>();
    if (!open.back().insert(key).second && twice.empty()) twice = key;
    return true;
  };
  [[maybe_unused]] const Json read = Json::parse(json, see, false);
  return twice;
}

/// JSON lines are no YAML stream, because nothing separates the documents. Unset when a line is no
/// JSON.
std::optional<Result<std::vector<Json>>> json_lines(std::string_view text) {
  std::vector<Json> out;
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto json = parse_json(line);
    if (!json) return std::nullopt;
    if (const std::string key = repeated_key(line); !key.empty()) {
      return Error(Errc::invalid,
                   "line " + std::to_string(number) + ": key \"" + key + "\" is there already");
    }
    out.push_back(std::move(*json));
  }
  return out;
}

Result<std::vector<Json>> entries_of(std::string_view text) {
  if (text.starts_with("{")) {
    if (auto lines = json_lines(text)) return std::move(*lines);
  }
  auto documents = api::parse_yaml_documents(text);
  if (!documents) return documents.error();
  std::vector<Json> out;
  for (Json& document : *documents) {
    if (!document.is_array()) {
      out.push_back(std::move(document));
      continue;
    }
    for (Json& one : document) out.push_back(std::move(one));
  }
  return out;
}

}  // namespace

Timeline read_timeline(std::string_view text, const std::string& source, TimePoint now,
                       ManifestReader* reader) {
  Timeline out;
  const auto entries = entries_of(text);
  if (!entries) {
    out.errors.push_back(source + ": " + entries.error().what());
    return out;
  }
  std::vector<TimedEvent> events;
  Reader all(now, reader, &events);
  for (std::size_t i = 0; i < entries->size() && out.errors.size() < errors_max; ++i) {
    const Status read = all.entry((*entries)[i]);
    if (read) continue;
    out.errors.push_back(source + ": entry " + std::to_string(i + 1) + ": " + read.error().what());
  }
  std::vector<std::size_t> order(events.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(events[a].at, a) < std::pair(events[b].at, b);
  });
  out.events.reserve(events.size());
  for (const std::size_t i : order) out.events.push_back(std::move(events[i]));
  return out;
}

}  // namespace regatta::whatif
