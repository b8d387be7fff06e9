#include "lib/manifest/builtin/generic.h"

#include "lib/manifest/builtin/access.h"
#include "lib/manifest/builtin/human.h"

#include <nlohmann/json.hpp>

namespace regatta::manifest::builtin {

Json GenericStrategy::initial_status() const {
  return Json::object();
}

void GenericStrategy::prepare_for_create(Json& object, TimePoint) const {
  if (traits_.status && !traits_.keep_status_on_create) object["status"] = initial_status();
  if (traits_.generation) object_in(object, "metadata")["generation"] = 1;
}

void GenericStrategy::prepare_for_update(Json& object, const Json& old, TimePoint) const {
  if (traits_.status) copy_member(object, old, "status");
  if (!traits_.generation) return;
  const std::int64_t before =
      integer_at(object_or_empty(old, {"metadata"}), "generation").value_or(0);
  const bool changed = !same_member(object, old, traits_.versioned);
  object_in(object, "metadata")["generation"] = before + (changed ? 1 : 0);
}

void GenericStrategy::prepare_for_status_update(Json& object, const Json& old, TimePoint) const {
  copy_member(object, old, "spec");
  copy_member(object_in(object, "metadata"), object_or_empty(old, {"metadata"}), "generation");
}

std::vector<TableColumn> GenericStrategy::columns() const {
  return {name_column(),
          TableColumn{"Created At", "date", "", "When the server made the object.", 0}};
}

std::vector<Json> GenericStrategy::cells(const Json& object, TimePoint) const {
  return {name_cell(object), text_at(object, {"metadata", "creationTimestamp"})};
}

TableColumn name_column() {
  return {"Name", "string", "name", "The name of the object, unique among its kind.", 0};
}

TableColumn age_column() {
  return {"Age", "string", "", "Time since the server made the object.", 0};
}

TableColumn column(const char* name, const char* type, const char* description, int priority) {
  return {name, type, "", description, priority};
}

const std::string& name_cell(const Json& object) {
  return text_at(object, {"metadata", "name"});
}

std::string labels_text(const Json& labels) {
  std::string all;
  for (const auto& [key, value] : labels.items()) {
    all += (all.empty() ? "" : ",") + key + "=";
    if (value.is_string()) all += value.get_ref<const std::string&>();
  }
  return all.empty() ? "<none>" : all;
}

std::string age_cell(const Json& object, TimePoint now) {
  return age_of(text_at(object, {"metadata", "creationTimestamp"}), now);
}

std::int64_t count_in(const Json& object, const char* name) {
  return integer_at(object, name).value_or(0);
}

}  // namespace regatta::manifest::builtin
