#pragma once

#include "lib/api/batch.h"
#include "lib/api/workload.h"

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

namespace regatta::api {

/// Lets objects share the parsed specs of their pods, and the parts of their texts that are equal:
/// thousands of jobs are often made from a handful of templates and differ in names and labels
/// only. A component that decodes many objects owns a pool. The pool keeps nothing alive by itself.
/// As it grows, it forgets what is no longer in use.
class TemplatePool {
 public:
  void share(Workload* workload);
  void share(Job* job);

  /// Distinct specs of pods.
  std::size_t size() const { return specs_.size(); }

 private:
  void share(PodTemplate* pod_template);
  /// Reduces the text to its differences from the last whole text of the same shape.
  void share_text(RawJson* whole, std::vector<PodTemplate*> within);

  template <class Value>
  struct Known {
    std::map<std::size_t, std::weak_ptr<const Value>> by_hash;
    std::size_t forget_at = 64;
    std::size_t size() const { return by_hash.size(); }
    void forget();
  };
  /// Equal hashes are told apart by comparing.
  Known<PodSpec> specs_;
  Known<RawJson::Text> texts_;
};

}  // namespace regatta::api
