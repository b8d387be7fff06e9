#pragma once

#include <string>

namespace regatta::test_support {

/// The StatefulSet `db`, as the webhook lets it in.
inline std::string stateful_set_yaml(int replicas) {
  return R"(
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: default, labels: {kueue.x-k8s.io/queue-name: main}}
spec:
  replicas: )" +
         std::to_string(replicas) + R"(
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata:
      labels: {app: db}
      annotations: {kueue.x-k8s.io/pod-suspending-parent: statefulset}
    spec:
      containers: [{name: main, image: img, resources: {requests: {cpu: "1"}}}]
)";
}

}  // namespace regatta::test_support
