#pragma once

#include "lib/manifest/crd/json_path.h"
#include "lib/manifest/crd/rules.h"
#include "lib/manifest/registry.h"
#include "lib/manifest/schema/schema.h"
#include "lib/manifest/strategy.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regatta::manifest {

struct PrinterColumn {
  TableColumn column;
  JsonPath path;
};

/// How custom resources of one version behave: their schema, its rules, their columns.
class CustomResourceStrategy final : public Strategy {
 public:
  struct Settings {
    SchemaPtr schema;
    SchemaRules rules;
    bool has_status = false;
    std::optional<ScalePaths> scale;
    std::vector<PrinterColumn> columns;
    std::vector<std::string> selectable;  ///< "spec.color"
  };
  explicit CustomResourceStrategy(Settings settings) : settings_(std::move(settings)) {}

  void set_defaults(Json& object) const override;
  void prepare_for_create(Json& object, TimePoint now) const override;
  void prepare_for_update(Json& object, const Json& old, TimePoint now) const override;
  void prepare_for_status_update(Json& object, const Json& old, TimePoint now) const override;
  FieldErrors validate_create(const Json& object) const override;
  FieldErrors validate_update(const Json& object, const Json& old) const override;
  FieldErrors validate_status_update(const Json& object, const Json& old) const override;
  std::vector<TableColumn> columns() const override;
  std::vector<Json> cells(const Json& object, TimePoint now) const override;
  std::vector<std::pair<std::string, std::string>> selectable_fields(
      const Json& object) const override;
  bool allow_unconditional_update() const override { return false; }

 private:
  FieldErrors validate(const Json& object, const Json* old, bool status_only) const;
  void check_scale(const Json& object, FieldErrors& errors) const;

  Settings settings_;
};

}  // namespace regatta::manifest
