#include "manager/metrics_port.h"

#include "manager/metrics_guard.h"
#include "manager/probes.h"
#include "manager/webhooks/certificate_source.h"
#include "manager/webhooks/tls_port.h"

#include <utility>

namespace regatta::manager {
namespace {

constexpr const char* field = "metrics.bindAddress";

CertificateSourceConfig certificates_of(const Configuration& config) {
  CertificateSourceConfig out;
  out.managed = false;
  out.own_otherwise = true;
  out.secret.ns = config.ns;
  out.service = "kueue-controller-manager-metrics-service";
  out.folder = config.metrics.cert_dir;
  out.what = "metrics";
  return out;
}

class PlainPort final : public MetricsPort {
 public:
  explicit PlainPort(std::unique_ptr<net::HttpServer> server) : server_(std::move(server)) {}
  std::uint16_t port() const override { return 0; }

 private:
  std::unique_ptr<net::HttpServer> server_;
};

class SecurePort final : public MetricsPort {
 public:
  SecurePort(const Configuration& config, const BindAddress& address, MetricsPortDeps deps)
      : guard_(deps.access, deps.clock, deps.log, deps.pages),
        port_(deps.scope, deps.clock, deps.log, {"metrics", field, address.host, address.port},
              guard_, page_server_options()),
        certificates_(deps.access, deps.files, deps.clock, deps.log, certificates_of(config),
                      [this](const net::TlsServerOptions& tls) { return port_.offer(tls); }) {}

  Status open(TaskScope& scope) {
    const Status opened = certificates_.offer_own();
    if (opened) scope.spawn("certificates of metrics", certificates_.run());
    return opened;
  }
  std::uint16_t port() const override { return port_.port(); }

 private:
  MetricsGuard guard_;
  TlsPort port_;
  CertificateSource certificates_;
};

}  // namespace

Result<std::unique_ptr<MetricsPort>> make_metrics_port(const Configuration& config,
                                                       MetricsPortDeps deps) {
  const std::string& where = config.metrics.bind_address;
  const auto address = parse_bind_address(where);
  if (!address) return address.error().within(field);
  if (!*address) return std::unique_ptr<MetricsPort>();
  if (!config.metrics.secure_serving) {
    auto server = serve_pages(where, field, deps.scope, deps.clock, deps.log, deps.pages);
    if (!server) return server.error();
    return std::unique_ptr<MetricsPort>(new PlainPort(std::move(*server)));
  }
  TaskScope& scope = deps.scope;
  auto port = std::make_unique<SecurePort>(config, **address, std::move(deps));
  const Status opened = port->open(scope);
  if (!opened) return opened.error();
  return std::unique_ptr<MetricsPort>(std::move(port));
}

}  // namespace regatta::manager
