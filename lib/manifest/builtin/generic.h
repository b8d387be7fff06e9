#pragma once

#include "lib/manifest/strategy.h"

#include <string>
#include <vector>

namespace regatta::manifest::builtin {

/// What differs between ordinary built-in kinds.
struct Traits {
  bool status = false;      ///< has a status subresource; main writes keep the old status
  bool generation = false;  ///< metadata.generation counts changes of `versioned`
  const char* versioned = "spec";
  bool keep_status_on_create = false;  ///< Node: a create may bring a status
  bool unconditional_update = true;
  NameRule names = NameRule::subdomain;
};

/// The rules all built-in kinds share; each kind overrides what it does differently.
class GenericStrategy : public Strategy {
 public:
  explicit GenericStrategy(Traits traits = {}) : traits_(traits) {}

  void prepare_for_create(Json& object, TimePoint now) const override;
  void prepare_for_update(Json& object, const Json& old, TimePoint now) const override;
  void prepare_for_status_update(Json& object, const Json& old, TimePoint now) const override;

  FieldErrors validate_create(const Json&) const override { return {}; }
  FieldErrors validate_update(const Json&, const Json&) const override { return {}; }
  FieldErrors validate_status_update(const Json&, const Json&) const override { return {}; }

  std::vector<TableColumn> columns() const override;
  std::vector<Json> cells(const Json& object, TimePoint now) const override;

  bool allow_unconditional_update() const override { return traits_.unconditional_update; }
  NameRule name_rule() const override { return traits_.names; }

 protected:
  /// The status of a new object; an empty object unless a kind says otherwise.
  virtual Json initial_status() const;

 private:
  Traits traits_;
};

// Columns and cells that many tables have.
TableColumn name_column();
TableColumn age_column();
TableColumn column(const char* name, const char* type, const char* description, int priority = 0);
const std::string& name_cell(const Json& object);
/// "a=b,c=d", or "<none>".
std::string labels_text(const Json& labels);
/// The age since metadata.creationTimestamp, "<unknown>" without one.
std::string age_cell(const Json& object, TimePoint now);

/// A whole number of the object, or 0.
std::int64_t count_in(const Json& object, const char* name);

}  // namespace regatta::manifest::builtin
