#pragma once

#include "manager/config/configuration.h"
#include "manager/core.h"
#include "visibility/server/server.h"

#include <memory>

namespace regatta::manager {

/// The visibility API of a manager, or null where its feature gate is off. `client` may write, as
/// every replica answers, leader or not: it creates SubjectAccessReviews. With a certificate in
/// /visibility (tls.crt, tls.key) the port uses that, else one of its own until it is given
/// another. `core` must outlive it.
Result<std::unique_ptr<visibility::VisibilityServer>> make_visibility_port(
    const Configuration& config, const Executor& executor, Clock& clock, Log log,
    kube::Client& client, Core& core);

/// Whether the certificate is in /visibility.
bool visibility_has_files();

}  // namespace regatta::manager
