#pragma once

#include "lib/base/base64.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

// What Open Cluster Management has and does of a managed cluster, where a test plays it.
namespace regatta::test_support {

/// The CRDs.
inline std::string managed_cluster_definitions() {
  std::ifstream stream("e2e/harness/crds/managed_clusters.yaml");
  std::stringstream text;
  text << stream.rdbuf();
  EXPECT_FALSE(text.str().empty()) << "run the tests from the source root";
  return text.str();
}

inline std::string managed_cluster_yaml(const std::string& name,
                                        const std::string& accepted = "true") {
  return "apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\n"
         "metadata: {name: " +
         name + "}\nspec:\n  hubAcceptsClient: " + accepted +
         "\n  managedClusterClientConfigs: [{url: \"https://" + name +
         ":6443\", caBundle: " + base64_encode("pem") + "}]";
}

/// The Secret with the token of the account that was asked for on that cluster.
inline std::string account_token_yaml(const std::string& cluster, const std::string& token) {
  return "apiVersion: v1\nkind: Secret\nmetadata: {name: multikueue, namespace: " + cluster +
         ", labels: {authentication.open-cluster-management.io/is-managed-serviceaccount: "
         "\"true\"}}\ndata: {token: " +
         base64_encode(token) + ", ca.crt: " + base64_encode("pem") + "}";
}

/// For the status of a ClusterPermission.
inline std::string applied_rights(const std::string& status = "True") {
  return R"({"status":{"conditions":[{"type":"AppliedRBACManifestWork","reason":"R","message":"m",)"
         R"("lastTransitionTime":"2026-01-01T00:00:00Z","status":")" +
         status + R"("}]}})";
}

}  // namespace regatta::test_support
