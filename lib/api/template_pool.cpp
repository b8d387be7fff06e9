#include "lib/api/template_pool.h"

#include "lib/api/likeness.h"

#include <algorithm>

namespace regatta::api {
namespace {

/// A hash of the text that is equal for most objects made from one template: it leaves out
/// everything in which they may differ.
std::size_t shape_of(const std::string& text, std::size_t spec_hash) {
  const auto quotes = static_cast<std::size_t>(std::count(text.begin(), text.end(), '"'));
  return spec_hash ^ quotes * 0x9e3779b97f4a7c15u;
}

}  // namespace

template <class Value>
void TemplatePool::Known<Value>::forget() {
  if (by_hash.size() < forget_at) return;
  std::erase_if(by_hash, [](const auto& entry) { return entry.second.expired(); });
  forget_at = std::max<std::size_t>(64, by_hash.size() * 2);
}

void TemplatePool::share(PodTemplate* pod_template) {
  std::weak_ptr<const PodSpec>& known = specs_.by_hash[pod_template->spec_hash_];
  const std::shared_ptr<const PodSpec> spec = known.lock();
  if (spec == pod_template->spec_) return;
  if (spec && *spec == *pod_template->spec_) {
    pod_template->spec_ = spec;
    return;
  }
  known = pod_template->spec_;
  specs_.forget();
}

void TemplatePool::share_text(RawJson* whole, std::vector<PodTemplate*> within) {
  if (whole->empty() || within.empty() || whole->text_->base) return;
  const std::shared_ptr<const RawJson::Text> before = whole->text_;
  const std::size_t shape = shape_of(before->own, within.front()->spec_hash_);
  std::weak_ptr<const RawJson::Text>& known = texts_.by_hash[shape];
  const std::shared_ptr<const RawJson::Text> base = known.lock();
  if (base == before) return;
  auto differing = base ? differences(base->own, before->own) : std::nullopt;
  if (!differing) {
    known = before;
    return texts_.forget();
  }
  const auto after =
      std::make_shared<const RawJson::Text>(RawJson::Text{std::move(*differing), base});
  whole->text_ = after;
  for (PodTemplate* part : within) {
    if (part->raw_.text_ == before) part->raw_.text_ = after;
  }
}

void TemplatePool::share(Workload* workload) {
  std::vector<PodTemplate*> templates;
  for (PodSet& set : workload->spec.pod_sets) {
    share(&set.pod_template);
    templates.push_back(&set.pod_template);
  }
  share_text(&workload->raw_spec, std::move(templates));
}

void TemplatePool::share(Job* job) {
  share(&job->spec.pod_template);
  share_text(&job->raw_spec, {&job->spec.pod_template});
}

}  // namespace regatta::api
