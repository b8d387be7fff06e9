#include "jobs/topology_request.h"

#include "lib/api/names.h"
#include "lib/api/validation.h"
#include "lib/base/json.h"
#include "lib/base/json_syntax.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace regatta::jobs {
namespace {

namespace names = api::annotations;

constexpr std::size_t layers_max = 3;
constexpr const char* wrong_layer_count =
    "topology constraints must contain between 1 and 3 entries";

const std::string* find(const api::StringMap& annotations, std::string_view name) {
  const auto found = annotations.find(std::string(name));
  return found == annotations.end() ? nullptr : &found->second;
}

/// Reads a truth value in one of the spellings that annotations in Kubernetes may have.
std::optional<bool> read_bool(const std::string& text) {
  for (const char* yes : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (text == yes) return true;
  }
  for (const char* no : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

std::optional<std::int32_t> read_int(const std::string& text) {
  std::int32_t value = 0;
  const char* const end = text.data() + text.size();
  const char* begin = text.data();
  if (begin != end && *begin == '+') ++begin;
  const auto read = std::from_chars(begin, end, value);
  if (text.empty() || read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

bool is_number(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

using Layers = std::vector<api::PodSetTopologyConstraint>;

Result<Layers> read_layers(const std::string& text) {
  const Result<Json> value = parse_json(text);
  if (!value) {
    const std::string why = json_syntax_error(text);
    return why.empty() ? value.error() : Error(Errc::invalid, why);
  }
  if (!value->is_array()) return Error(Errc::invalid, "expected a list");
  Layers layers;
  for (const Json& item : *value) {
    if (!item.is_object()) return Error(Errc::invalid, "expected objects in the list");
    api::PodSetTopologyConstraint layer;
    if (const auto found = item.find("topology"); found != item.end()) {
      if (!found->is_string()) return Error(Errc::invalid, "\"topology\": expected a string");
      layer.topology = found->get<std::string>();
    }
    if (const auto found = item.find("size"); found != item.end()) {
      const bool fits = found->is_number_integer() && found->get<double>() >= INT32_MIN &&
                        found->get<double>() <= INT32_MAX;
      if (!fits) return Error(Errc::invalid, "\"size\": expected a 32 bit number");
      layer.size = found->get<std::int32_t>();
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

/// Adds the slices that the annotations ask for.
Status add_slices(const api::StringMap& annotations, const TopologyOptions& options,
                  api::PodSetTopologyRequest* request) {
  const std::string* constraints =
      find(annotations, names::podset_slice_required_topology_constraints);
  if (constraints && options.multi_layer) {
    Result<Layers> layers = read_layers(*constraints);
    if (!layers) {
      return Error(Errc::invalid, "failed to parse multi-layer topology constraints annotation: " +
                                      std::string(layers.error().what()));
    }
    if (layers->empty() || layers->size() > layers_max) {
      return Error(Errc::invalid,
                   std::string(wrong_layer_count) + ": got " + std::to_string(layers->size()));
    }
    request->slice_constraints = std::move(*layers);
    return ok();
  }
  const std::string* level = find(annotations, names::podset_slice_required_topology);
  const std::string* size = find(annotations, names::podset_slice_size);
  if (!level || !size) return ok();
  const auto number = read_int(*size);
  if (!number) {
    return Error(Errc::invalid,
                 "strconv.ParseInt: parsing " + api::in_quotes(*size) + ": invalid syntax");
  }
  request->pod_set_slice_required_topology = *level;
  request->pod_set_slice_size = number;
  return ok();
}

/// Collects the errors in the annotations of one pod set.
class Check {
 public:
  Check(const std::string& path, const api::StringMap& annotations, std::int32_t count)
      : path_(path + ".annotations"), annotations_(annotations), count_(count) {}

  api::FieldErrors run(const TopologyOptions& options) {
    placement();
    for (const std::string_view level :
         {names::podset_required_topology, names::podset_preferred_topology,
          names::podset_slice_required_topology}) {
      label(level);
    }
    group();
    unconstrained();
    slices();
    layers(options);
    slice_fits();
    layers_fit(options);
    return errors_.take();
  }

 private:
  bool has(std::string_view name) const { return find(annotations_, name) != nullptr; }
  std::string at(std::string_view name) const { return api::at(path_, std::string(name)); }
  static std::string instead_of(std::string_view name) {
    return "may not be set when '" + std::string(name) + "' is specified";
  }

  void placement() {
    constexpr std::array kinds = {names::podset_required_topology, names::podset_preferred_topology,
                                  names::podset_unconstrained_topology};
    const auto given = std::count_if(kinds.begin(), kinds.end(), [&](auto k) { return has(k); });
    if (given <= 1) return;
    std::string list;
    for (const std::string_view kind : kinds) {
      list += (list.empty() ? "" : ", ") + api::in_quotes(kind);
    }
    errors_.invalid_value(path_,
                          "must not contain more than one topology annotation: [" + list + "]");
  }

  void label(std::string_view name) {
    if (const std::string* value = find(annotations_, name)) {
      errors_.invalid_each(at(name), *value, api::check_label_key(*value));
    }
  }

  void group() {
    const std::string* name = find(annotations_, names::podset_group_name);
    if (!name) return;
    const std::string field = at(names::podset_group_name);
    if (is_number(*name)) errors_.invalid(field, api::in_quotes(*name), "must not be a number");
    for (const std::string_view slice :
         {names::podset_slice_size, names::podset_slice_required_topology}) {
      if (has(slice)) errors_.forbidden(field, instead_of(slice));
    }
    if (has(names::podset_preferred_topology) || has(names::podset_required_topology)) return;
    errors_.forbidden(field, "may not be set when neither '" +
                                 std::string(names::podset_preferred_topology) + "' nor '" +
                                 std::string(names::podset_required_topology) + "' is specified");
  }

  void unconstrained() {
    const std::string* value = find(annotations_, names::podset_unconstrained_topology);
    if (!value || read_bool(*value)) return;
    errors_.invalid(at(names::podset_unconstrained_topology), api::in_quotes(*value),
                    "must be a boolean value");
  }

  void slices() {
    const std::string* size = find(annotations_, names::podset_slice_size);
    const std::string field = at(names::podset_slice_size);
    if (size) {
      const auto number = read_int(*size);
      if (!number) {
        errors_.invalid(field, api::in_quotes(*size), "must be a numeric value");
      } else if (*number < 1) {
        errors_.invalid(field, api::in_quotes(*size), "must be greater than or equal to 1");
      }
    }
    const std::string level(names::podset_slice_required_topology);
    if (has(level) && !size) {
      errors_.required(field, "must be set when '" + level + "' is specified");
    }
    if (!has(level) && size) {
      errors_.forbidden(field, "may not be set when '" + level + "' is not specified");
    }
  }

  void slice_fits() {
    const std::string* size = find(annotations_, names::podset_slice_size);
    const auto number = size ? read_int(*size) : std::nullopt;
    if (number && *number > count_) {
      errors_.invalid(at(names::podset_slice_size), api::in_quotes(*size), too_large());
    }
  }

  std::string too_large() const {
    return "must not be greater than pod set count " + std::to_string(count_);
  }

  void layers(const TopologyOptions& options) {
    const std::string_view name = names::podset_slice_required_topology_constraints;
    const std::string* text = find(annotations_, name);
    if (!text) return;
    const std::string field = at(name);
    if (!options.multi_layer) {
      errors_.forbidden(
          field, "the TASMultiLayerTopology feature gate must be enabled to use this annotation");
      return;
    }
    for (const std::string_view other :
         {names::podset_slice_required_topology, names::podset_slice_size}) {
      if (has(other)) errors_.forbidden(field, instead_of(other));
    }
    if (has(names::podset_group_name)) {
      errors_.forbidden(at(names::podset_group_name), instead_of(name));
    }
    const Result<Layers> read = read_layers(*text);
    if (!read) {
      errors_.invalid(field, api::in_quotes(*text),
                      "must be a valid JSON array: " + read.error().what());
    } else if (read->empty() || read->size() > layers_max) {
      errors_.invalid(field, api::in_quotes(*text), wrong_layer_count);
    } else {
      each_layer(field, *read);
    }
  }

  void each_layer(const std::string& field, const Layers& layers) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const std::string entry = api::at(field, i);
      const std::string& level = layers[i].topology;
      const std::int32_t size = layers[i].size;
      errors_.invalid_each(entry + ".topology", level, api::check_label_key(level));
      if (size < 1) {
        errors_.invalid(entry + ".size", std::to_string(size),
                        "must be greater than or equal to 1");
      }
      for (std::size_t k = 0; k < i; ++k) {
        if (layers[k].topology != level) continue;
        errors_.duplicate(entry + ".topology",
                          api::in_quotes(level + " (also at index " + std::to_string(k) + ")"));
        break;
      }
      if (i > 0 && size > 0 && layers[i - 1].size % size != 0) {
        errors_.invalid(
            entry + ".size", std::to_string(size),
            "must evenly divide the parent layer size " + std::to_string(layers[i - 1].size));
      }
    }
  }

  void layers_fit(const TopologyOptions& options) {
    const std::string_view name = names::podset_slice_required_topology_constraints;
    const std::string* text = find(annotations_, name);
    if (!text || !options.multi_layer) return;
    const Result<Layers> read = read_layers(*text);
    if (!read || read->empty() || read->size() > layers_max) return;
    const std::int32_t outermost = read->front().size;
    if (outermost > count_) errors_.invalid(at(name), std::to_string(outermost), too_large());
  }

  const std::string path_;
  const api::StringMap& annotations_;
  const std::int32_t count_;
  api::ErrorList errors_;
};

bool same_placement(const api::PodSetTopologyRequest& a, const api::PodSetTopologyRequest& b) {
  const bool both = (a.required || a.preferred) && (b.required || b.preferred);
  return both && a.required == b.required && a.preferred == b.preferred;
}

void check_pair(const std::string& group, const api::PodSet& a, const api::PodSet& b,
                const std::string& path_a, const std::string& path_b, api::ErrorList* errors) {
  const std::string name(names::podset_group_name);
  if (a.count != 1 && b.count != 1) {
    const std::string why =
        "can only define groups where at least one pod set has only 1 replica, got: " +
        std::to_string(a.count) + " replica(s) and " + std::to_string(b.count) +
        " replica(s) in the group";
    for (const std::string& path : {path_a, path_b}) {
      errors->invalid(api::at(path, name), api::in_quotes(group), why);
    }
  }
  if (same_placement(*a.topology_request, *b.topology_request)) return;
  const auto differs = [&](const std::string& path, const std::string& other) {
    errors->invalid_value(path, "must specify '" + std::string(names::podset_required_topology) +
                                    "' or '" + std::string(names::podset_preferred_topology) +
                                    "' topology consistent with '" + other + "' in group '" +
                                    group + "'");
  };
  differs(path_a, path_b);
  differs(path_b, path_a);
}

}  // namespace

Result<std::optional<api::PodSetTopologyRequest>> topology_request(
    const api::StringMap& annotations, const PodNumbering& numbering,
    const TopologyOptions& options) {
  std::optional<api::PodSetTopologyRequest> none;
  if (!options.enabled) return none;
  api::PodSetTopologyRequest request;
  const std::string* required = find(annotations, names::podset_required_topology);
  const std::string* preferred = find(annotations, names::podset_preferred_topology);
  const std::string* unconstrained = find(annotations, names::podset_unconstrained_topology);
  if (required) {
    request.required = *required;
  } else if (preferred) {
    request.preferred = *preferred;
  } else if (unconstrained) {
    const auto value = read_bool(*unconstrained);
    if (!value) {
      return Error(Errc::invalid, "strconv.ParseBool: parsing " + api::in_quotes(*unconstrained) +
                                      ": invalid syntax");
    }
    request.unconstrained = value;
  }
  if (Status s = add_slices(annotations, options, &request); !s) return s.error();
  if (request == api::PodSetTopologyRequest() && numbering.empty()) return none;
  request.pod_index_label = numbering.pod_index_label;
  request.sub_group_index_label = numbering.sub_group_index_label;
  request.sub_group_count = numbering.sub_group_count;
  if (const std::string* group = find(annotations, names::podset_group_name);
      group && (required || preferred)) {
    request.pod_set_group_name = *group;
  }
  return std::optional<api::PodSetTopologyRequest>(std::move(request));
}

api::FieldErrors check_topology(const std::string& path, const api::StringMap& annotations,
                                std::int32_t count, const TopologyOptions& options) {
  if (!options.enabled) return {};
  return Check(path, annotations, count).run(options);
}

api::FieldErrors check_topology_groups(const std::vector<api::PodSet>& pod_sets,
                                       const std::map<std::string, std::string>& paths) {
  std::vector<std::pair<std::string, std::vector<const api::PodSet*>>> groups;  // in order
  for (const api::PodSet& set : pod_sets) {
    if (!set.topology_request || !set.topology_request->pod_set_group_name) continue;
    const std::string& name = *set.topology_request->pod_set_group_name;
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& group) { return group.first == name; });
    if (found == groups.end()) found = groups.insert(found, {name, {}});
    found->second.push_back(&set);
  }
  const auto path_of = [&](const api::PodSet& set) {
    const auto found = paths.find(set.name);
    return found == paths.end() ? std::string() : found->second;
  };
  api::ErrorList errors;
  for (const auto& [name, members] : groups) {
    if (members.size() == 2) {
      check_pair(name, *members[0], *members[1], path_of(*members[0]), path_of(*members[1]),
                 &errors);
      continue;
    }
    for (const api::PodSet* set : members) {
      errors.invalid(
          api::at(path_of(*set), std::string(names::podset_group_name)), api::in_quotes(name),
          "can only define groups of exactly 2 pod sets, got: " + std::to_string(members.size()) +
              " pod set(s)");
    }
  }
  return errors.take();
}

}  // namespace regatta::jobs
