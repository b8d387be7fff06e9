#include "manager/webhooks/tls_port.h"

#include <utility>

namespace regatta::manager {

TlsPort::TlsPort(TaskScope& scope, Clock& clock, Log log, TlsPortConfig config,
                 net::HttpHandler& handler, net::HttpServerOptions options)
    : scope_(scope),
      clock_(clock),
      log_(std::move(log)),
      config_(std::move(config)),
      handler_(handler),
      options_(options) {}

Status TlsPort::offer(const net::TlsServerOptions& tls) {
  if (listener_) {
    const Status taken = listener_->reload(tls);
    if (taken && std::exchange(client_ca_pem_, tls.client_ca_pem) != tls.client_ca_pem) {
      server_->retire_connections();
    }
    return taken;
  }
  auto listener = net::listen_tls(scope_.executor(), config_.host, config_.port, tls);
  if (!listener) return listener.error().within(config_.field);
  listener_ = listener->get();
  client_ca_pem_ = tls.client_ca_pem;
  server_ = std::make_unique<net::HttpServer>(scope_.executor(), clock_, std::move(*listener),
                                              handler_, options_, log_);
  scope_.spawn(config_.what, server_->run());
  log_.info(config_.what + " are served", {{"port", port()}});
  return ok();
}

std::uint16_t TlsPort::port() const {
  return listener_->port();
}

Task<> TlsPort::drain(SteadyPoint deadline) {
  if (server_) co_await server_->drain(deadline);
}

}  // namespace regatta::manager
