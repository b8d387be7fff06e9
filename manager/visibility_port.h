#pragma once

#include "manager/config/configuration.h"
#include "manager/core.h"
#include "manager/webhooks/certificate_source.h"
#include "visibility/server/server.h"

#include <memory>

namespace regatta::manager {

/// Which certificate the visibility API shows. The files of /visibility (tls.crt, tls.key) win
/// where they are there at the start; they are read again every two seconds. Else it is the managed
/// certificate of the webhooks, once there is one. Until then, and where none is managed, it is one
/// of its own, which no client knows the authority of.
class VisibilityCertificates {
 public:
  VisibilityCertificates(const Configuration& config, kube::Client& client,
                         kubeconfig::FileSystem& files, Clock& clock, Log log,
                         CertificateSource::Offer offer);

  /// Offers the first certificate; what follows it runs in `scope`.
  Status start(TaskScope& scope);
  /// The managed certificate. It is not used where there are files.
  Status offer_managed(const net::TlsServerOptions& tls);

  static constexpr const char* folder = "/visibility";

 private:
  bool managed_;
  CertificateSource::Offer offer_;
  CertificateSource own_;
};

/// What a port for the visibility API needs; all of it outlives the port.
struct VisibilityPortDeps {
  TaskScope& scope;
  Clock& clock;
  Log log;
  kube::Client& access;  ///< creates SubjectAccessReviews, whether this replica leads or not
  kubeconfig::FileSystem& files;
  Core& core;
};

/// The visibility API of a manager, which every replica answers, leader or not.
class VisibilityPort {
 public:
  VisibilityPort(const Configuration& config, visibility::ServerOptions options,
                 VisibilityPortDeps deps);

  Status start(TaskScope& scope);
  Status offer_managed(const net::TlsServerOptions& tls);

 private:
  visibility::VisibilityServer server_;
  VisibilityCertificates certificates_;
};

/// The running port, or null where its feature gate is off.
Result<std::unique_ptr<VisibilityPort>> make_visibility_port(const Configuration& config,
                                                             VisibilityPortDeps deps);

}  // namespace regatta::manager
