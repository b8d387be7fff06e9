#pragma once

#include "lab/terms.h"
#include "lib/api/labels.h"
#include "lib/base/json.h"
#include "lib/manifest/failure.h"
#include "lib/manifest/registry.h"

#include <string>
#include <string_view>
#include <vector>

namespace regatta::apiserver {

/// A label selector in its text form: "a=b,c!=d,e in (f,g),!h".
class LabelSelector {
 public:
  static Answer<LabelSelector> parse(std::string_view text);
  bool empty() const { return selector_.matches_everything(); }
  /// `object` may lack metadata.labels.
  bool matches(const Json& object) const;

 private:
  api::Selector selector_;
};

/// A field selector: "metadata.name=x,status.phase!=Running". The type says which names are
/// allowed.
class FieldSelector {
 public:
  static Answer<FieldSelector> parse(std::string_view text, const ResourceType& type);
  bool empty() const { return terms_.empty(); }
  /// The name in metadata.name=…, or empty.
  const std::string& only_name() const;
  bool matches(const Json& object, const ResourceType& type) const;

 private:
  std::vector<api::FieldRequirement> terms_;
};

}  // namespace regatta::apiserver
