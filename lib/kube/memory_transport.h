#pragma once

#include "lib/base/clock.h"
#include "lib/net/http.h"

namespace regatta::kube {

/// Hands requests straight to a handler in the same process: no bytes, no connection. The handler
/// must outlive the sender and every stream it answered with.
class MemorySender final : public net::HttpSender {
 public:
  /// `peer` is who the server takes us for, as a client certificate would say.
  MemorySender(net::HttpHandler& handler, Clock& clock, net::PeerIdentity peer = {})
      : handler_(handler), clock_(clock), peer_(std::move(peer)) {}
  Task<Result<net::HttpResponse>> send(net::HttpRequest request, net::SendOptions options) override;

 private:
  net::HttpHandler& handler_;
  Clock& clock_;
  net::PeerIdentity peer_;
};

}  // namespace regatta::kube
