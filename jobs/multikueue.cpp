#include "jobs/multikueue.h"

#include "lib/api/own_names.h"

namespace regatta::jobs {

std::shared_ptr<const api::AdmissionCheck> multikueue_check(const Lookup& objects,
                                                            const api::ClusterQueue& queue) {
  for (const api::AdmissionCheckRule& rule : queue.spec.admission_checks) {
    auto check = objects.admission_check(rule.name);
    if (check && api::is_multikueue(*check)) return check;
  }
  return nullptr;
}

bool leads_to_workers(const Lookup& objects, const api::ObjectKey& local_queue) {
  const auto local = objects.local_queue(local_queue);
  const auto shared = local ? objects.cluster_queue(local->spec.cluster_queue) : nullptr;
  return shared && multikueue_check(objects, *shared);
}

namespace {

std::string wish_of(const api::StringMap& annotations) {
  const auto found = annotations.find(std::string(api::annotations::run_on_hub));
  return found == annotations.end() ? std::string("false") : found->second;
}

}  // namespace

bool asks_for_hub(const api::StringMap& annotations) {
  return wish_of(annotations) == "true";
}

std::string unreadable_wish(const api::StringMap& annotations) {
  const std::string value = wish_of(annotations);
  return value == "true" || value == "false" ? std::string() : "must be true or false";
}

}  // namespace regatta::jobs
