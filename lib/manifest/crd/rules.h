#pragma once

#include "lib/manifest/cel/program.h"
#include "lib/manifest/schema/field_path.h"
#include "lib/manifest/schema/schema.h"
#include "lib/manifest/strategy.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace regatta::manifest {

/// The x-kubernetes-validations of a schema and everything below it, compiled.
class SchemaRules {
 public:
  /// Appends what does not compile to `errors`; `path` is where the schema stands in its
  /// CustomResourceDefinition. The schema must outlive the rules.
  static SchemaRules compile(const Schema& schema, const std::string& path, FieldErrors& errors);

  bool empty() const { return !root_; }

  /// Appends a cause for every rule that `value` breaks. A rule on oldSelf applies only if there is
  /// an old value (or with optionalOldSelf), any other rule only to a value that changed.
  void check(const Json& value, const Json* old, FieldErrors& errors) const;

 private:
  struct Rule {
    ValidationRule source;
    cel::Program program;
    std::optional<cel::Program> message;
    bool transition = false;
  };
  struct Node {
    const Schema* schema = nullptr;
    std::vector<Rule> rules;
    std::map<std::string, std::unique_ptr<const Node>, std::less<>> properties;
    std::unique_ptr<const Node> items;
    std::unique_ptr<const Node> members;  ///< of a map
  };
  struct Walk {
    FieldErrors& errors;
    cel::Budget budget;
  };

  static std::unique_ptr<const Node> build(const Schema& schema, const std::string& path,
                                           bool correlated, FieldErrors& errors);
  static std::optional<Rule> compile_rule(const Schema& schema, const ValidationRule& source,
                                          const std::string& path, bool correlated,
                                          FieldErrors& errors);
  static void check_node(const Node& node, const Json& value, const Json* old, const FieldPath& at,
                         Walk& walk);
  static void check_rule(const Node& node, const Rule& rule, const Json& value, const Json* old,
                         const FieldPath& at, Walk& walk);

  std::shared_ptr<const Node> root_;
};

}  // namespace regatta::manifest
