#pragma once

#include "lib/api/batch.h"
#include "lib/api/workload.h"

#include <cstddef>
#include <map>
#include <memory>

namespace regatta::api {

/// Lets objects share the parsed specs of their pods: thousands of jobs are often made from a
/// handful of templates, which differ in labels only. Owned by whoever decodes many objects; it
/// keeps nothing alive by itself, and forgets what nobody holds any more as it grows.
class TemplatePool {
 public:
  void share(Workload* workload);
  void share(Job* job);

  std::size_t size() const { return specs_.size(); }

 private:
  void share(PodTemplate* pod_template);

  /// By hash; equal hashes are told apart by comparing.
  std::map<std::size_t, std::weak_ptr<const PodSpec>> specs_;
  std::size_t forget_at_ = 64;
};

}  // namespace regatta::api
