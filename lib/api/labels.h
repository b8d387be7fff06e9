#pragma once

#include "lib/api/meta.h"
#include "lib/base/error.h"

#include <string>
#include <string_view>
#include <vector>

namespace regatta::api {

/// metav1.LabelSelectorRequirement, and the requirement of a node selector term.
struct LabelSelectorRequirement {
  std::string key;
  std::string op;  ///< In, NotIn, Exists, DoesNotExist; node selectors also Gt and Lt
  std::vector<std::string> values;
  friend bool operator==(const LabelSelectorRequirement&,
                         const LabelSelectorRequirement&) = default;
};

/// metav1.LabelSelector. An empty selector selects everything. An owner that selects nothing has no
/// selector (an empty std::optional).
struct LabelSelector {
  StringMap match_labels;
  std::vector<LabelSelectorRequirement> match_expressions;

  bool empty() const { return match_labels.empty() && match_expressions.empty(); }
  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;
};

/// One term of a compiled selector.
struct Requirement {
  enum class Operator { in, not_in, exists, does_not_exist, greater, less };
  std::string key;
  Operator op = Operator::exists;
  std::vector<std::string> values;  ///< sorted

  bool matches(const StringMap& labels) const;
  /// Whether an object with this value of the label `key` meets the requirement; null: without the
  /// label.
  bool holds(const std::string* value) const;
  friend bool operator==(const Requirement&, const Requirement&) = default;
};

/// A compiled label selector: all requirements must hold. The default one matches everything.
class Selector {
 public:
  Selector() = default;
  /// Reads the query form: "a=b,c in (x,y),!d,e!=f,exists". Errors as the API server words them.
  static Result<Selector> parse(std::string_view text);
  static Result<Selector> from(const LabelSelector& selector);
  static Selector nothing();

  bool matches(const StringMap& labels) const;
  bool matches_everything() const { return !nothing_ && requirements_.empty(); }
  const std::vector<Requirement>& requirements() const { return requirements_; }
  /// The query form, requirements sorted by key.
  std::string str() const;

 private:
  std::vector<Requirement> requirements_;
  bool nothing_ = false;
};

/// One term of a field selector: "metadata.name=x" or "spec.nodeName!=y".
struct FieldRequirement {
  std::string field;
  bool equals = true;
  std::string value;
  friend bool operator==(const FieldRequirement&, const FieldRequirement&) = default;
};

/// Reads "metadata.name=x,spec.y!=z"; "==" is "="; `\`, `,` and `=` in a value are escaped with
/// `\`.
Result<std::vector<FieldRequirement>> parse_field_selector(std::string_view text);

}  // namespace regatta::api
