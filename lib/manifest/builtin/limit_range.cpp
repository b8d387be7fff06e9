#include "lib/api/quantity.h"
#include "lib/manifest/builtin/access.h"
#include "lib/manifest/builtin/generic.h"
#include "lib/manifest/builtin/strategies.h"

#include <nlohmann/json.hpp>

#include <set>

namespace regatta::manifest::builtin {

namespace {

std::optional<api::Quantity> quantity_at(const Json& limit, const char* list,
                                         const std::string& resource) {
  const Json* text = member(limit, {list, resource});
  if (text == nullptr || !text->is_string()) return std::nullopt;
  const auto read = api::Quantity::parse(text->get_ref<const std::string&>());
  return read ? std::optional(*read) : std::nullopt;
}

/// Two bounds of one resource, the first of which must not be above the second.
struct OrderedPair {
  const char* low;
  const char* low_text;
  const char* high;
  const char* high_text;
};

constexpr OrderedPair ordered[] = {
    {"min", "min", "max", "max"},
    {"min", "min", "defaultRequest", "default request"},
    {"defaultRequest", "default request", "max", "max"},
    {"defaultRequest", "default request", "default", "default limit"},
    {"min", "min", "default", "default"},
    {"default", "default", "max", "max"},
};

void check_bounds(const Json& limit, const std::string& path, FieldErrors* errors) {
  std::set<std::string> resources;
  for (const char* list : {"min", "max", "default", "defaultRequest"}) {
    for (const auto& [resource, amount] : object_or_empty(limit, {list}).items()) {
      resources.insert(resource);
    }
  }
  for (const std::string& resource : resources) {
    for (const OrderedPair& pair : ordered) {
      const auto low = quantity_at(limit, pair.low, resource);
      const auto high = quantity_at(limit, pair.high, resource);
      if (!low || !high || *low <= *high) continue;
      errors->push_back(invalid(key_path(join_path(path, pair.low), resource), low->str(),
                                std::string(pair.low_text) + " value " + low->str() +
                                    " is greater than " + pair.high_text + " value " +
                                    high->str()));
    }
  }
}

class LimitRangeStrategy final : public GenericStrategy {
 public:
  /// Derives missing bounds from the others: the default limit of a container is the maximum, its
  /// default request the default limit or else the minimum.
  void set_defaults(Json& object) const override {
    const Json& spec = object_or_empty(object, {"spec"});
    if (list_or_empty(spec, "limits").empty()) return;
    for (Json& limit : object["spec"]["limits"]) {
      if (text_at(limit, "type") != "Container") continue;
      const auto fill = [&limit](const char* to, const char* from) {
        const Json given = object_or_empty(limit, {from});
        for (const auto& [resource, amount] : given.items()) {
          Json& target = object_in(limit, to)[resource];
          if (target.is_null()) target = amount;
        }
      };
      fill("default", "max");
      fill("defaultRequest", "default");
      fill("defaultRequest", "min");
    }
  }

  FieldErrors validate_create(const Json& object) const override {
    FieldErrors errors;
    std::set<std::string> types;
    const Json& limits = list_or_empty(object_or_empty(object, {"spec"}), "limits");
    for (std::size_t i = 0; i < limits.size(); ++i) {
      const std::string path = index_path("spec.limits", i);
      const std::string& type = text_at(limits[i], "type");
      if (!types.insert(type).second) errors.push_back(duplicate(join_path(path, "type"), type));
      if (type == "Pod") {
        for (const char* list : {"default", "defaultRequest"}) {
          if (object_or_empty(limits[i], {list}).empty()) continue;
          errors.push_back(
              forbidden(join_path(path, list), "may not be specified when `type` is 'Pod'"));
        }
      }
      check_bounds(limits[i], path, &errors);
    }
    return errors;
  }
  FieldErrors validate_update(const Json& object, const Json&) const override {
    return validate_create(object);
  }
};

}  // namespace

StrategyPtr limit_range_strategy() {
  return std::make_shared<LimitRangeStrategy>();
}

}  // namespace regatta::manifest::builtin
