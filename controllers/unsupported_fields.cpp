#include "controllers/unsupported_fields.h"

#include "lifecycle/unsupported_fields.h"

namespace regatta::controllers {

UnsupportedFields::UnsupportedFields(clusters::LocalCluster& cluster, bool quotas_follow)
    : cluster_(cluster), quotas_follow_(quotas_follow) {
  watch(cluster_.cluster_queues);
  if (!quotas_follow_) watch(cluster_.multikueue_configs);
}

template <class T>
void UnsupportedFields::watch(kube::Informer<T>& objects) {
  objects.on_transition([this](const auto&, const auto& before, const auto& after) {
    if (!started_ || !after) return;
    if (before && lifecycle::in_vain(before->spec) == lifecycle::in_vain(after->spec)) return;
    tell(*after);
  });
}

template <class T>
void UnsupportedFields::tell(const T& object) {
  std::string what = lifecycle::in_vain(object.spec);
  if (what.empty() || object.metadata.deleting()) return;
  cluster_.events.event(kube::reference_to(object), kube::EventType::warning, "UnsupportedField",
                        std::move(what));
}

void UnsupportedFields::start() {
  started_ = true;
  for (const auto& queue : cluster_.cluster_queues.list()) tell(*queue);
  if (quotas_follow_) return;
  for (const auto& config : cluster_.multikueue_configs.list()) tell(*config);
}

}  // namespace regatta::controllers
