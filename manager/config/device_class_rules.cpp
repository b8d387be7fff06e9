#include "lib/api/validation.h"
#include "lib/base/json_access.h"
#include "lib/manifest/cel/program.h"
#include "lib/manifest/schema/schema.h"
#include "manager/config/rules.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace regatta::manager {
namespace {

using api::in_quotes;
using api::json_quotes;

constexpr std::size_t mappings_max = 16;
constexpr std::size_t classes_max = 8;
constexpr std::size_t name_max = 253;
constexpr std::size_t driver_max = 63;
constexpr std::size_t identifier_max = 32;

/// Which resource a class stands for, and which counters of it.
struct Taken {
  std::string resource;
  std::set<std::string> counters;
};

void check_name(const std::string& name, const std::string& path, api::ErrorList* errors) {
  invalid_joined(path, name, api::check_label_key(name), "; ", errors);
  if (name.size() > name_max) {
    errors->invalid(path, json_quotes(name), "must not exceed 253 characters");
  }
}

/// The counter of the first source, which stands for all of them; empty when there is none.
const std::string& counter_of(const Json& mapping) {
  static const std::string none;
  const Json& sources = list_or_empty(mapping, "sources");
  return sources.empty() ? none : text_at(at_or_null(sources[0], "counter"), "name");
}

void check_sharing(const Json& mapping, const std::string& device_class, const std::string& path,
                   std::map<std::string, Taken>* taken, api::ErrorList* errors) {
  const std::string& counter = counter_of(mapping);
  const std::string& resource = text_at(mapping, "name");
  const auto [it, is_new] = taken->try_emplace(device_class, Taken{resource, {}});
  Taken& known = it->second;
  if (!is_new) {
    if (known.resource == resource) return;
    if (counter.empty() || known.counters.empty()) {
      return errors->invalid(path, json_quotes(device_class),
                             "device class already mapped to resource " + known.resource);
    }
    if (known.counters.contains(counter)) {
      return errors->invalid(
          path, json_quotes(device_class),
          "device class already has a counter source for counter " + in_quotes(counter));
    }
  }
  if (!counter.empty()) known.counters.insert(counter);
}

void check_classes(const Json& mapping, const std::string& path,
                   std::map<std::string, Taken>* taken, api::ErrorList* errors) {
  const std::string list = path + ".deviceClassNames";
  const Json& classes = list_or_empty(mapping, "deviceClassNames");
  if (classes.empty()) errors->required(list, "at least one device class name is required");
  if (classes.size() > classes_max) errors->too_many(list, classes.size(), classes_max);
  std::set<std::string> seen;
  std::size_t i = 0;
  for (const Json& one : classes) {
    const auto& name = one.get_ref<const std::string&>();
    const std::string here = api::at(list, i++);
    check_name(name, here, errors);
    if (!seen.insert(name).second) errors->duplicate(here, json_quotes(name));
    check_sharing(mapping, name, here, taken, errors);
  }
}

/// `device`, whose attributes have any type.
const manifest::Schema& device_schema() {
  static const manifest::SchemaPtr schema = [] {
    const Json any{{"x-kubernetes-int-or-string", true}};
    const Json by_name{{"type", "object"}, {"additionalProperties", any}};
    const Json by_domain{{"type", "object"}, {"additionalProperties", by_name}};
    const Json members{
        {"driver", {{"type", "string"}}}, {"attributes", by_domain}, {"capacity", by_domain}};
    return manifest::parse_schema({{"type", "object"}, {"properties", members}}).value();
  }();
  return *schema;
}

std::string expression_problem(const std::string& expression) {
  // The compiler does not know this macro.
  if (expression.find("cel.bind(") != std::string::npos) return "";
  using manifest::cel::Kind;
  const manifest::cel::Variable device{"device", manifest::cel::Type::of(&device_schema())};
  const auto program = manifest::cel::Program::compile(expression, {device});
  if (!program) return "compilation failed: " + program.error().what();
  const Kind kind = program->type().kind;
  if (kind == Kind::boolean || kind == Kind::dynamic) return "";
  return "must evaluate to bool or the unknown type, not " + program->type().name();
}

/// What both types of sources have.
void check_device(const Json& source, const std::string& path, api::ErrorList* errors) {
  const std::string& driver = text_at(source, "driver");
  if (driver.empty()) {
    errors->required(path + ".driver");
  } else if (driver.size() > driver_max) {
    errors->invalid(path + ".driver", in_quotes(driver), "must not exceed 63 characters");
  } else {
    invalid_joined(path + ".driver", driver, api::check_dns1123_subdomain(driver), ",", errors);
  }
  const std::string field = path + ".deviceSelector.cel.expression";
  const std::string& expression = text_at(source, {"deviceSelector", "cel", "expression"});
  if (expression.empty()) return errors->required(field);
  const std::string problem = expression_problem(expression);
  if (problem.empty()) return;
  errors->invalid(field, in_quotes(expression), "CEL compilation failed: " + problem);
}

void check_counter(const Json& counter, const std::string& path, const FeatureGates& gates,
                   api::ErrorList* errors) {
  if (!gates.enabled("KueueDRAIntegrationPartitionableDevices")) {
    return errors->invalid(
        path, "true",
        "counter sources require KueueDRAIntegrationPartitionableDevices to be enabled");
  }
  const std::string& name = text_at(counter, "name");
  if (name.empty()) {
    errors->required(path + ".name");
  } else {
    invalid_joined(path + ".name", name, api::check_dns1123_label(name), ",", errors);
  }
  check_device(counter, path, errors);
}

void check_identifier(const std::string& id, const std::string& path, api::ErrorList* errors) {
  if (id.size() > identifier_max) errors->too_long(path, identifier_max);
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto usable = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  if (!id.empty() && letter(id.front()) && std::all_of(id.begin(), id.end(), usable)) return;
  errors->invalid(path, in_quotes(id),
                  "a valid C identifier must start with alphabetic character or '_', followed by a "
                  "string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or "
                  "'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')");
}

void check_domain(const std::string& domain, const std::string& path, api::ErrorList* errors) {
  if (domain.empty()) return errors->invalid(path, "\"\"", "the domain must not be empty");
  if (domain.size() > driver_max) errors->too_long(path, driver_max);
  std::string lower = domain;
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  errors->invalid_each(path, domain, api::check_dns1123_subdomain(lower));
}

/// "memory" or "example.org/memory". More than one slash is accepted, as Kueue does.
void check_capacity_name(const std::string& name, const std::string& path, api::ErrorList* errors) {
  const auto slashes = std::count(name.begin(), name.end(), '/');
  if (slashes == 0) return check_identifier(name, path, errors);
  if (slashes > 1) return;
  const std::size_t slash = name.find('/');
  check_domain(name.substr(0, slash), path, errors);
  const std::string id = name.substr(slash + 1);
  if (id.empty()) return errors->invalid(path, "\"\"", "the name must not be empty");
  check_identifier(id, path, errors);
}

void check_capacity(const Json& capacity, const std::string& path, const FeatureGates& gates,
                    api::ErrorList* errors) {
  if (!gates.enabled("KueueDRAIntegrationConsumableCapacity")) {
    return errors->invalid(
        path, "true",
        "capacity sources require KueueDRAIntegrationConsumableCapacity to be enabled");
  }
  check_capacity_name(text_at(capacity, "name"), path + ".name", errors);
  check_device(capacity, path, errors);
}

void check_sources(const Json& mapping, const std::string& path, const FeatureGates& gates,
                   api::ErrorList* errors) {
  const Json& sources = list_or_empty(mapping, "sources");
  const std::string one_type = "exactly one source type must be set per entry";
  bool counters = false, capacities = false;
  std::size_t i = 0;
  for (const Json& source : sources) {
    const std::string here = api::at(path + ".sources", i++);
    const Json* counter = object_at(source, "counter");
    const Json* capacity = object_at(source, "capacity");
    if (!counter && !capacity) {
      errors->required(here, one_type);
    } else if (counter && capacity) {
      errors->invalid(here, "\"counter+capacity\"", one_type);
    } else if (counter) {
      counters = true;
      check_counter(*counter, here + ".counter", gates, errors);
    } else {
      capacities = true;
      check_capacity(*capacity, here + ".capacity", gates, errors);
    }
  }
  if (counters && capacities) {
    errors->invalid(path + ".sources", std::to_string(sources.size()),
                    "cannot mix counter and capacity sources in the same mapping");
  }
}

}  // namespace

void check_device_classes(const Json& c, const FeatureGates& gates, api::ErrorList* errors) {
  const Json& mappings = list_or_empty(at_or_null(c, "resources"), "deviceClassMappings");
  const std::string list = "resources.deviceClassMappings";
  if (mappings.size() > mappings_max) errors->too_many(list, mappings.size(), mappings_max);
  std::set<std::string> names;
  std::map<std::string, Taken> taken;
  std::size_t i = 0;
  for (const Json& mapping : mappings) {
    const std::string path = api::at(list, i++);
    const std::string& name = text_at(mapping, "name");
    check_name(name, path + ".name", errors);
    if (!names.insert(name).second) errors->duplicate(path + ".name", json_quotes(name));
    check_classes(mapping, path, &taken, errors);
    check_sources(mapping, path, gates, errors);
  }
}

}  // namespace regatta::manager
