#pragma once

#include "lib/api/pod.h"

#include <cstddef>
#include <map>
#include <memory>
#include <string_view>

namespace regatta::api {

/// Lets pod templates with the same text share one parsed view: thousands of jobs are often made
/// from a handful of templates. Owned by whoever decodes many objects; it keeps nothing alive by
/// itself, and forgets what nobody holds any more as it grows.
class TemplatePool {
 public:
  /// `pod_template`, with the view of an equal one seen before if there is one.
  PodTemplate share(PodTemplate pod_template);

  std::size_t size() const { return views_.size(); }

 private:
  void forget_unused();

  /// By hash of the text; equal hashes are told apart by comparing the views.
  std::map<std::size_t, std::weak_ptr<const PodTemplateView>> views_;
  std::size_t forget_at_ = 64;
};

}  // namespace regatta::api
