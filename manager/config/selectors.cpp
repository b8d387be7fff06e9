#include "manager/config/selectors.h"

#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

namespace regatta::manager {

api::LabelSelector selector_of(const Json& value) {
  api::LabelSelector out;
  for (const auto& [key, text] : object_or_empty(value, {"matchLabels"}).items()) {
    out.match_labels[key] = text.get<std::string>();
  }
  for (const Json& one : list_or_empty(value, "matchExpressions")) {
    out.match_expressions.push_back({text_at(one, "key"), text_at(one, "operator"),
                                     list_or_empty(one, "values").get<std::vector<std::string>>()});
  }
  return out;
}

}  // namespace regatta::manager
