#include "manager/visibility_port.h"

#include <utility>

namespace regatta::manager {
namespace {

constexpr std::size_t pem_bytes_max = 256 * 1024;

bool has_files(kubeconfig::FileSystem& files) {
  const std::string name = std::string(VisibilityCertificates::folder) + "/tls.crt";
  return files.read_regular(name, pem_bytes_max).has_value();
}

CertificateSourceConfig certificates_of(const Configuration& config) {
  CertificateSourceConfig out;
  out.managed = false;
  out.own_otherwise = true;
  out.secret.ns = config.ns;
  out.service = config.internal_cert_management.webhook_service_name;
  out.folder = VisibilityCertificates::folder;
  out.what = "visibility pages";
  return out;
}

std::optional<visibility::WorkloadSeen> find_workload(const clusters::LocalCluster& local,
                                                      const api::ObjectKey& key) {
  const auto found = local.workloads.get(key);
  if (!found) return std::nullopt;
  return visibility::WorkloadSeen{{found, &found->metadata}, found->spec.priority.value_or(0)};
}

visibility::HandlerDeps handler_deps(const VisibilityPortDeps& deps) {
  Core& core = deps.core;
  const auto with_source = [&core](const std::function<void(const visibility::Source&)>& answer) {
    if (!core.synced()) return false;
    const admission::StatusReader reader = core.scheduler().reader();
    answer(
        {reader, [&core](const api::ObjectKey& key) { return find_workload(core.local(), key); }});
    return true;
  };
  return {deps.access, deps.clock, deps.log, with_source};
}

}  // namespace

VisibilityCertificates::VisibilityCertificates(const Configuration& config, kube::Client& client,
                                               kubeconfig::FileSystem& files, Clock& clock, Log log,
                                               CertificateSource::Offer offer)
    : managed_(config.internal_cert_management.enable && !has_files(files)),
      offer_(std::move(offer)),
      own_(client, files, clock, std::move(log), certificates_of(config), offer_) {}

Status VisibilityCertificates::start(TaskScope& scope) {
  const Status offered = own_.offer_own();
  if (offered && !managed_) scope.spawn("certificates of visibility", own_.run());
  return offered;
}

Status VisibilityCertificates::offer_managed(const net::TlsServerOptions& tls) {
  return managed_ ? offer_(tls) : ok();
}

VisibilityPort::VisibilityPort(const Configuration& config, visibility::ServerOptions options,
                               VisibilityPortDeps deps)
    : server_(deps.scope.executor(), handler_deps(deps), std::move(options)),
      certificates_(config, deps.access, deps.files, deps.clock, deps.log,
                    [this](const net::TlsServerOptions& tls) {
                      return server_.present(tls.certificate_pem, tls.key_pem);
                    }) {}

Status VisibilityPort::start(TaskScope& scope) {
  const Status offered = certificates_.start(scope);
  if (offered) scope.spawn("visibility", server_.run());
  return offered;
}

Status VisibilityPort::offer_managed(const net::TlsServerOptions& tls) {
  return certificates_.offer_managed(tls);
}

Result<std::unique_ptr<VisibilityPort>> make_visibility_port(const Configuration& config,
                                                             VisibilityPortDeps deps) {
  if (!config.gates.enabled("VisibilityOnDemand")) return std::unique_ptr<VisibilityPort>();
  visibility::ServerOptions options;
  if (!config.visibility_server.bind_address.empty()) {
    options.address = config.visibility_server.bind_address;
  }
  options.port = static_cast<std::uint16_t>(config.visibility_server.bind_port);
  TaskScope& scope = deps.scope;
  auto port = std::make_unique<VisibilityPort>(config, std::move(options), std::move(deps));
  const Status started = port->start(scope);
  if (!started) return started.error().within("visibilityServer");
  return port;
}

}  // namespace regatta::manager
