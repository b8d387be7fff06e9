#pragma once

#include "kubeconfig/endpoint.h"
#include "kubeconfig/file_system.h"

namespace regatta::kubeconfig {

/// The kubeconfig that a user gives to his own process (`--kubeconfig`). Files that it names are
/// read, relative to its folder. Plain http is only for loopback without credentials. Features that
/// Regatta does not have (exec plugins, proxies, impersonation, basic auth) and unverified TLS are
/// refused. `context` chooses another context than the current one.
Result<Endpoint> load_local(FileSystem& files, const std::string& path,
                            const std::string& context = "");

/// The same for the text of a file in `folder`.
Result<Endpoint> resolve_local(FileSystem& files, Kubeconfig config, const std::string& folder,
                               const std::string& context = "");

}  // namespace regatta::kubeconfig
