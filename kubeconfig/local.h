#pragma once

#include "kubeconfig/endpoint.h"
#include "kubeconfig/file_system.h"

namespace regatta::kubeconfig {

/// The kubeconfig a user gives to his own process (`--kubeconfig`): files it names are read,
/// relative to its folder; plain http is for loopback without credentials. What Regatta cannot do
/// (exec plugins, proxies, impersonation, basic auth) and unverified TLS are refused. `context`
/// other than the current one may be chosen.
Result<Endpoint> load_local(FileSystem& files, const std::string& path,
                            const std::string& context = "");

/// The same for the text of a file that lies in `folder`; another context can be chosen.
Result<Endpoint> resolve_local(FileSystem& files, Kubeconfig config, const std::string& folder,
                               const std::string& context = "");

}  // namespace regatta::kubeconfig
