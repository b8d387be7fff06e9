#pragma once

#include "lib/base/log.h"
#include "lib/net/http_server.h"
#include "lib/net/tls.h"

#include <memory>
#include <string>

namespace regatta::manager {

struct TlsPortConfig {
  std::string what;   ///< that is served, for the log: "webhooks"
  std::string field;  ///< of the configuration, for errors: "webhook.port"
  std::string host;   ///< an IP address
  std::uint16_t port = 0;
};

/// Where one handler is served over HTTPS. The port opens with the first certificate and stays
/// open; later certificates are for later connections. Other authorities for client certificates
/// end the connections that there are.
class TlsPort {
 public:
  /// `handler` and `scope` outlive this; the scope runs the server.
  TlsPort(TaskScope& scope, Clock& clock, Log log, TlsPortConfig config, net::HttpHandler& handler,
          net::HttpServerOptions options);

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
  TlsPortConfig config_;
  net::HttpHandler& handler_;
  net::HttpServerOptions options_;
  net::TlsListener* listener_ = nullptr;  // the server owns it
  std::string client_ca_pem_;             // that it has
  std::unique_ptr<net::HttpServer> server_;
};

}  // namespace regatta::manager
