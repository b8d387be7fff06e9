#pragma once

/// What a cluster adds to the pods of a workload before they run: LimitRanges give containers
/// default requests and limits, and bound them; a RuntimeClass adds its overhead. Admission counts
/// pods as they will be created.

#include "lib/api/core.h"

#include <map>
#include <optional>
#include <string>

namespace regatta::admission {

/// The LimitRanges of one namespace together: the lowest maximum, the highest minimum, the first
/// default, by name of the LimitRange.
struct LimitSummary {
  std::optional<api::LimitRangeItem> container;
  std::optional<api::LimitRangeItem> pod;
  friend bool operator==(const LimitSummary&, const LimitSummary&) = default;
};

class PodDefaults {
 public:
  // True when the limits of the namespace, or the overhead of the class, changed.
  bool upsert(const api::LimitRange& range);
  bool upsert(const api::RuntimeClass& runtime_class);
  bool erase_limit_range(const api::ObjectKey& key);
  bool erase_runtime_class(const std::string& name);

  /// Null when there are none.
  const LimitSummary* limits(const std::string& ns) const;
  const api::ResourceList* overhead(const std::string& runtime_class) const;

 private:
  bool summarize(const std::string& ns);

  std::map<api::ObjectKey, std::vector<api::LimitRangeItem>> ranges_;
  std::map<std::string, LimitSummary> limits_;  ///< by namespace
  std::map<std::string, api::ResourceList> overheads_;
};

/// `spec` as its pods will be created: with the overhead of its RuntimeClass unless it states one,
/// with the defaults of the limits, and with limits as requests where only limits are given. Null
/// means no limits, or no overhead.
api::PodSpec adjusted(const api::PodSpec& spec, const LimitSummary* limits,
                      const api::ResourceList* overhead);

/// Why pods of an adjusted spec can never be created, or empty: "resources validation failed: …" or
/// "resources didn't satisfy LimitRange constraints: …".
class ResourceProblems {
 public:
  void check(std::size_t pod_set, const api::PodSpec& spec, const LimitSummary* limits);
  std::string str() const;

 private:
  std::vector<std::string> requests_above_limits_;
  std::vector<std::string> outside_limit_range_;
};

}  // namespace regatta::admission
