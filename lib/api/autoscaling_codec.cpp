#include "lib/api/autoscaling.h"
#include "lib/api/fields.h"

namespace regatta::api {

constinit const ResourceInfo ProvisioningRequest::resource = {
    "autoscaling.x-k8s.io", "v1", "ProvisioningRequest", "provisioningrequests", true};
constinit const ResourceInfo StoredPodTemplate::resource = {"", "v1", "PodTemplate", "podtemplates",
                                                            true};

template <class V, Is<ProvisioningRequestPodSet> T>
void fields(V& v, T& o) {
  v.inside("podTemplateRef", [&](auto& ref) { ref("name", o.pod_template); });
  v("count", o.count);
}

template <class V, Is<ProvisioningRequestSpec> T>
void fields(V& v, T& o) {
  v("podSets", o.pod_sets);
  v("provisioningClassName", o.provisioning_class_name);
  v("parameters", o.parameters);
}

template <class V, Is<ProvisioningRequestStatus> T>
void fields(V& v, T& o) {
  v("conditions", o.conditions);
  v("provisioningClassDetails", o.provisioning_class_details);
}

template <class V, Is<ProvisioningRequest> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v("spec", o.spec);
  v("status", o.status);
}

template <class V, Is<StoredPodTemplate> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
}

REGATTA_API_CODEC(ProvisioningRequest);
REGATTA_API_CODEC(StoredPodTemplate);

}  // namespace regatta::api
