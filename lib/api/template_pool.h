#pragma once

#include "lib/api/batch.h"
#include "lib/api/workload.h"

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

namespace regatta::api {

/// Lets objects share the parsed specs of their pods, and the texts of their specs but for what
/// differs: thousands of jobs are often made from a handful of templates, which differ in names and
/// labels only. Owned by whoever decodes many objects; it keeps nothing alive by itself, and
/// forgets what nobody holds any more as it grows.
class TemplatePool {
 public:
  void share(Workload* workload);
  void share(Job* job);

  /// Distinct specs of pods.
  std::size_t size() const { return specs_.size(); }

 private:
  void share(PodTemplate* pod_template);
  /// Keeps of the text what differs from the last whole one of its shape.
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
