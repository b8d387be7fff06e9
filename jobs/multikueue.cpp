#include "jobs/multikueue_check.h"

#include "lib/api/names.h"

namespace regatta::jobs {

std::shared_ptr<const api::AdmissionCheck> multikueue_check(const Lookup& objects,
                                                            const api::ClusterQueue& queue) {
  for (const api::AdmissionCheckRule& rule : queue.spec.admission_checks) {
    auto check = objects.admission_check(rule.name);
    if (check && check->spec.controller_name == api::multikueue_controller_name) return check;
  }
  return nullptr;
}

}  // namespace regatta::jobs
