#include "lib/api/template_pool.h"

#include <algorithm>
#include <functional>

namespace regatta::api {

PodTemplate TemplatePool::share(PodTemplate pod_template) {
  std::weak_ptr<const PodTemplateView>& known =
      views_[std::hash<std::string_view>()(pod_template.raw_.text())];
  const std::shared_ptr<const PodTemplateView> view = known.lock();
  if (view && *view == *pod_template.view_) {
    pod_template.view_ = view;
  } else {
    known = pod_template.view_;
  }
  if (views_.size() >= forget_at_) forget_unused();
  return pod_template;
}

void TemplatePool::forget_unused() {
  std::erase_if(views_, [](const auto& entry) { return entry.second.expired(); });
  forget_at_ = std::max<std::size_t>(64, views_.size() * 2);
}

}  // namespace regatta::api
