#include "manager/webhooks/webhook_port.h"

#include <utility>

namespace regatta::manager {

WebhookPort::WebhookPort(TaskScope& scope, Clock& clock, Log log, std::string host,
                         std::uint16_t port, net::HttpHandler& handler,
                         net::HttpServerOptions options)
    : scope_(scope),
      clock_(clock),
      log_(std::move(log)),
      host_(std::move(host)),
      wanted_port_(port),
      handler_(handler),
      options_(options) {}

Status WebhookPort::offer(const net::TlsServerOptions& tls) {
  if (listener_) return listener_->reload(tls);
  auto listener = net::listen_tls(scope_.executor(), host_, wanted_port_, tls);
  if (!listener) return listener.error().within("webhook.port");
  listener_ = listener->get();
  server_ = std::make_unique<net::HttpServer>(scope_.executor(), clock_, std::move(*listener),
                                              handler_, options_, log_);
  scope_.spawn("webhooks", server_->run());
  log_.info("webhooks are served", {{"port", port()}});
  return ok();
}

std::uint16_t WebhookPort::port() const {
  return listener_->port();
}

Task<> WebhookPort::drain(SteadyPoint deadline) {
  if (server_) co_await server_->drain(deadline);
}

}  // namespace regatta::manager
