#include "controllers/unsupported_fields.h"

namespace regatta::controllers {

std::string in_vain(const api::ClusterQueueSpec& spec) {
  if (!spec.concurrent_admission_policy) return {};
  return "spec.concurrentAdmissionPolicy has no effect: concurrent admission is not supported, "
         "workloads get the first flavor that fits";
}

std::string in_vain(const api::MultiKueueConfigSpec& spec) {
  if (spec.quota_management != api::QuotaManagement::Automated) return {};
  return "spec.quotaManagement Automated has no effect: set the quotas of the ClusterQueues that "
         "use this config yourself";
}

UnsupportedFields::UnsupportedFields(clusters::LocalCluster& cluster) : cluster_(cluster) {
  watch(cluster_.cluster_queues);
  watch(cluster_.multikueue_configs);
}

template <class T>
void UnsupportedFields::watch(kube::Informer<T>& objects) {
  objects.on_transition([this](const auto&, const auto& before, const auto& after) {
    if (!started_ || !after) return;
    if (before && in_vain(before->spec) == in_vain(after->spec)) return;
    tell(*after);
  });
}

template <class T>
void UnsupportedFields::tell(const T& object) {
  std::string what = in_vain(object.spec);
  if (what.empty() || object.metadata.deleting()) return;
  cluster_.events.event(kube::reference_to(object), kube::EventType::warning, "UnsupportedField",
                        std::move(what));
}

void UnsupportedFields::start() {
  started_ = true;
  for (const auto& queue : cluster_.cluster_queues.list()) tell(*queue);
  for (const auto& config : cluster_.multikueue_configs.list()) tell(*config);
}

}  // namespace regatta::controllers
