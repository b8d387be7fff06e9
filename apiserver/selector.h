#pragma once

#include "apiserver/failure.h"
#include "apiserver/registry.h"
#include "lib/base/json.h"

#include <string>
#include <string_view>
#include <vector>

namespace regatta::apiserver {

/// A label selector in its text form: "a=b,c!=d,e in (f,g),!h".
class LabelSelector {
 public:
  static Answer<LabelSelector> parse(std::string_view text);
  bool empty() const { return requirements_.empty(); }
  /// `object`: with metadata.labels, or without.
  bool matches(const Json& object) const;

 private:
  friend class LabelSelectorParser;
  enum class Operator { in, not_in, exists, missing, greater, less };
  struct Requirement {
    std::string key;
    Operator op;
    std::vector<std::string> values;
  };
  std::vector<Requirement> requirements_;
};

/// A field selector: "metadata.name=x,status.phase!=Running". Names are those the type knows.
class FieldSelector {
 public:
  static Answer<FieldSelector> parse(std::string_view text, const ResourceType& type);
  bool empty() const { return terms_.empty(); }
  /// The name it asks for with metadata.name=…, or empty.
  const std::string& only_name() const;
  bool matches(const Json& object, const ResourceType& type) const;

 private:
  struct Term {
    std::string field;
    std::string value;
    bool equal;
  };
  std::vector<Term> terms_;
};

}  // namespace regatta::apiserver
