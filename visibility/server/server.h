#pragma once

#include "lib/base/rng.h"
#include "lib/net/http_server.h"
#include "lib/net/tls.h"
#include "lib/runtime/task_scope.h"
#include "visibility/server/handler.h"

#include <memory>
#include <string>

namespace regatta::visibility {

struct ServerOptions {
  std::string address = "0.0.0.0";
  std::uint16_t port = 8082;
  std::string certificate_pem;  ///< with its chain
  std::string key_pem;
};

/// The visibility API on a port. It opens as soon as the cluster has said which API servers to
/// trust, and follows that ConfigMap.
class VisibilityServer {
 public:
  VisibilityServer(const Executor& executor, HandlerDeps deps, ServerOptions options);

  /// Runs until cancelled.
  Task<> run();
  /// Reads whom to trust. Opens the port when it is the first time, and ends the connections that
  /// there are when it is others than before. run() does it each minute.
  Task<Status> follow();
  /// Another certificate for later connections. On an error the old one stays.
  Status present(const std::string& certificate_pem, const std::string& key_pem);
  /// 0 until the port is open.
  std::uint16_t port() const { return listener_ == nullptr ? 0 : listener_->port(); }

 private:
  Task<> follow_on();
  Status open(const FrontProxy& proxy);
  net::TlsServerOptions tls_of(const FrontProxy& proxy) const;

  HandlerDeps deps_;
  ServerOptions options_;
  VisibilityHandler handler_;
  std::optional<FrontProxy> proxy_;
  net::TlsListener* listener_ = nullptr;  ///< of server_
  std::unique_ptr<net::HttpServer> server_;
  TaskScope scope_;
};

}  // namespace regatta::visibility
