#pragma once

#include "lib/net/http.h"

namespace regatta::net {

/// Sends requests straight into a handler, as one peer: no bytes, no connections, the same
/// promises.
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
