#pragma once

#include "lib/net/http.h"

namespace regatta::net {

/// Passes requests straight to a handler, as one peer: without bytes or connections, but with the
/// same guarantees.
class HandlerSender final : public HttpSender {
 public:
  HandlerSender(Clock& clock, HttpHandler& handler, PeerIdentity peer = {})
      : clock_(clock), handler_(handler), peer_(std::move(peer)) {}

  Task<Result<HttpResponse>> send(HttpRequest request, SendOptions options) override;

 private:
  Task<Result<HttpResponse>> exchange(HttpRequest request, bool streaming);

  Clock& clock_;
  HttpHandler& handler_;
  PeerIdentity peer_;
};

}  // namespace regatta::net
