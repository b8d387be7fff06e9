#pragma once

#include "lib/base/log.h"
#include "lib/net/http_server.h"
#include "lib/net/tls.h"

#include <memory>
#include <string>

namespace regatta::manager {

/// Where API servers call the webhooks. The port opens with the first certificate and stays open;
/// later certificates are for later connections.
class WebhookPort {
 public:
  /// `host` is an IP address. `handler` and `scope` outlive this; the scope runs the server.
  WebhookPort(TaskScope& scope, Clock& clock, Log log, std::string host, std::uint16_t port,
              net::HttpHandler& handler, net::HttpServerOptions options);

  /// On an error what was there before stays.
  Status offer(const net::TlsServerOptions& tls);
  bool open() const { return server_ != nullptr; }
  std::uint16_t port() const;  ///< while it is open

  /// Takes no more requests, and waits until the current ones are answered or `deadline` passes.
  Task<> drain(SteadyPoint deadline);

 private:
  TaskScope& scope_;
  Clock& clock_;
  Log log_;
  std::string host_;
  std::uint16_t wanted_port_;
  net::HttpHandler& handler_;
  net::HttpServerOptions options_;
  net::TlsListener* listener_ = nullptr;  // the server owns it
  std::unique_ptr<net::HttpServer> server_;
};

}  // namespace regatta::manager
