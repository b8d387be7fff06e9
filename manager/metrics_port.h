#pragma once

#include "kubeconfig/file_system.h"
#include "lib/base/log.h"
#include "lib/kube/client.h"
#include "lib/net/http.h"
#include "lib/runtime/task_scope.h"
#include "manager/config/configuration.h"

#include <memory>

namespace regatta::manager {

/// Where metrics are served: over HTTPS to clients that may get them, or over HTTP to all.
class MetricsPort {
 public:
  virtual ~MetricsPort() = default;
  virtual std::uint16_t port() const = 0;  ///< of HTTPS; 0 for HTTP
};

/// What a port for metrics needs; all of it outlives the port, whose tasks are in `scope`.
struct MetricsPortDeps {
  TaskScope& scope;
  Clock& clock;
  Log log;
  kube::Client& access;  ///< creates TokenReviews and SubjectAccessReviews
  kubeconfig::FileSystem& files;
  net::HttpHandler& pages;
};

/// The port as the configuration has it, open; null where it is switched off.
Result<std::unique_ptr<MetricsPort>> make_metrics_port(const Configuration& config,
                                                       MetricsPortDeps deps);

}  // namespace regatta::manager
