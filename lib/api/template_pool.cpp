#include "lib/api/template_pool.h"

#include <algorithm>

namespace regatta::api {

void TemplatePool::share(PodTemplate* pod_template) {
  std::weak_ptr<const PodSpec>& known = specs_[pod_template->spec_hash_];
  const std::shared_ptr<const PodSpec> spec = known.lock();
  if (spec && *spec == *pod_template->spec_) {
    pod_template->spec_ = spec;
    return;
  }
  known = pod_template->spec_;
  if (specs_.size() < forget_at_) return;
  std::erase_if(specs_, [](const auto& entry) { return entry.second.expired(); });
  forget_at_ = std::max<std::size_t>(64, specs_.size() * 2);
}

void TemplatePool::share(Workload* workload) {
  for (PodSet& set : workload->spec.pod_sets) share(&set.pod_template);
}

void TemplatePool::share(Job* job) {
  share(&job->spec.pod_template);
}

}  // namespace regatta::api
