#include "lib/api/fields.h"
#include "lib/api/placements.h"

namespace regatta::api {

constinit const ResourceInfo Placement::resource = {placement_group, "v1beta1", "Placement",
                                                    "placements", true};
constinit const ResourceInfo PlacementDecision::resource = {
    placement_group, "v1beta1", "PlacementDecision", "placementdecisions", true};
constinit const ResourceInfo ProfilePlacementDecision::resource = {
    "multicluster.x-k8s.io", "v1alpha1", "PlacementDecision", "placementdecisions", true};

template <class V, Is<PlacementStatus> T>
void fields(V& v, T& o) {
  v("numberOfSelectedClusters", o.number_of_selected_clusters);
  v("conditions", o.conditions);
}

template <class V, Is<Placement> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v("status", o.status);
}

template <class V, Is<ClusterDecision> T>
void fields(V& v, T& o) {
  v("clusterName", o.cluster_name);
  v("score", o.score);
}

template <class V, Is<PlacementDecisionStatus> T>
void fields(V& v, T& o) {
  v("decisions", o.decisions);
}

template <class V, Is<PlacementDecision> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v("status", o.status);
}

template <class V, Is<ProfileDecision> T>
void fields(V& v, T& o) {
  v.inside("clusterProfileRef", [&](auto& ref) { ref("name", o.profile); });
}

template <class V, Is<ProfilePlacementDecision> T>
void fields(V& v, T& o) {
  v("metadata", o.metadata);
  v("decisions", o.decisions);
}

REGATTA_API_CODEC(Placement);
REGATTA_API_CODEC(PlacementDecision);
REGATTA_API_CODEC(ProfilePlacementDecision);

}  // namespace regatta::api
