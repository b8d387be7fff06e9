#pragma once

#include "kubeconfig/endpoint.h"
#include "lib/base/log.h"
#include "manager/config/configuration.h"

#include <string>

namespace regatta::manager {

/// The cluster that a manager manages: that of the kubeconfig, of $KUBECONFIG, or the one in which
/// this process runs; then `ns` is the namespace of its Pod.
Result<kubeconfig::Endpoint> find_own_cluster(const std::string& kubeconfig, std::string* ns);

/// The cluster that a user means, found as kubectl finds it: --kubeconfig, $KUBECONFIG,
/// ~/.kube/config, or the one in which this process runs. `context` may be empty: the current one.
Result<kubeconfig::Endpoint> find_users_cluster(const std::string& kubeconfig,
                                                const std::string& context);

/// The configuration file of a manager; the default one when `file` is empty. `ns` is the manager's
/// namespace, if known.
Result<Configuration> read_configuration(const std::string& file, const std::string& feature_gates,
                                         const std::string& ns);

/// Says once what of the file is accepted and has no effect.
void log_warnings(const Configuration& configuration, const Log& log);

}  // namespace regatta::manager
