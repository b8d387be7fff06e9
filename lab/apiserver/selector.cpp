#include "lab/apiserver/selector.h"

#include "lab/terms.h"
#include "lib/manifest/json_access.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>

namespace regatta::apiserver {
Answer<LabelSelector> LabelSelector::parse(std::string_view text) {
  Result<api::Selector> parsed = api::Selector::parse(text);
  if (!parsed) return bad_request(parsed.error().what());
  LabelSelector selector;
  selector.selector_ = std::move(*parsed);
  return selector;
}

bool LabelSelector::matches(const Json& object) const {
  if (empty()) return true;
  const Json* labels = member(object, {"metadata", "labels"});
  return std::all_of(selector_.requirements().begin(), selector_.requirements().end(),
                     [labels](const api::Requirement& wanted) {
                       return wanted.holds(labels ? string_at(*labels, wanted.key) : nullptr);
                     });
}

namespace {

Failure unknown_field(const std::string& field, const ResourceType& type, bool none_special) {
  if (type.custom || !none_special) return bad_request("field label not supported: " + field);
  return bad_request(in_quotes(field) +
                     " is not a known field selector: only \"metadata.name\", "
                     "\"metadata.namespace\"");
}

}  // namespace

Answer<FieldSelector> FieldSelector::parse(std::string_view text, const ResourceType& type) {
  Result<std::vector<api::FieldRequirement>> terms = api::parse_field_selector(text);
  if (!terms) return bad_request(terms.error().what());
  const auto special = type.strategy->selectable_fields(Json::object());
  for (const api::FieldRequirement& term : *terms) {
    const bool known = term.field == "metadata.name" || term.field == "metadata.namespace" ||
                       std::any_of(special.begin(), special.end(), [&term](const auto& field) {
                         return field.first == term.field;
                       });
    if (!known) return unknown_field(term.field, type, special.empty());
  }
  FieldSelector selector;
  selector.terms_ = std::move(*terms);
  return selector;
}

const std::string& FieldSelector::only_name() const {
  static const std::string none;
  for (const api::FieldRequirement& term : terms_) {
    if (term.field == "metadata.name" && term.equals) return term.value;
  }
  return none;
}

bool FieldSelector::matches(const Json& object, const ResourceType& type) const {
  std::optional<std::vector<std::pair<std::string, std::string>>> fields;
  for (const api::FieldRequirement& term : terms_) {
    std::string value;
    if (term.field == "metadata.name" || term.field == "metadata.namespace") {
      const Json* metadata = member(object, "metadata");
      const std::string* text =
          metadata ? string_at(*metadata, term.field.substr(sizeof("metadata.") - 1)) : nullptr;
      if (text) value = *text;
    } else {
      if (!fields) fields = type.strategy->selectable_fields(object);
      for (const auto& [name, found] : *fields) {
        if (name == term.field) value = found;
      }
    }
    if ((value == term.value) != term.equals) return false;
  }
  return true;
}

}  // namespace regatta::apiserver
