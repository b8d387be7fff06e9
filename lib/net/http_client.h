#pragma once

#include "lib/net/dialer.h"
#include "lib/net/http.h"
#include "lib/runtime/wakeup.h"

#include <list>

namespace regatta::net {

struct HttpClientOptions {
  std::size_t connections_max = 8;               ///< besides those of streams
  Duration idle_max = std::chrono::seconds(30);  ///< below what servers and balancers allow
  Duration age_max = std::chrono::minutes(10);
  Duration exchange_max = std::chrono::seconds(60);  ///< when the caller gives no deadline
  std::size_t header_max = 64 * 1024;
  std::size_t body_max = 64u << 20;  ///< of an answer that is not streamed
};

/// HTTP/1.1 to one host, over connections that are kept and reused, newest first. Requests beyond
/// the cap wait until their deadline. At a time no more connections are opened than there are, and
/// one if there is none: a burst of short requests finds one free before it has opened many, since
/// a TLS handshake costs more than most requests. A stream takes a kept connection for itself, or a
/// new one, outside the cap.
///
/// A request is sent a second time, on a fresh connection, only when the server closed a reused
/// connection before it sent a byte of the answer. Nothing else is repeated. A cancelled, timed-out
/// or failed exchange closes its connection. After a timeout a write may or may not have happened.
///
/// Every send() must have ended before the client is destroyed; streams may outlive it.
class HttpClient final : public HttpSender {
 public:
  HttpClient(const Executor& executor, Clock& clock, std::shared_ptr<Dialer> dialer,
             std::string host, std::uint16_t port, HttpClientOptions options = {});
  ~HttpClient() override;

  Task<Result<HttpResponse>> send(HttpRequest request, SendOptions options) override;
  /// Those that had no request for `idle_max`. Each request does this, too.
  void close_idle() override { drop_expired(); }

  std::size_t idle_connections() const { return idle_.size(); }
  std::size_t open_connections() const { return open_; }  ///< besides those of streams

 private:
  struct Connection;
  class Lease;

  Task<Result<HttpResponse>> attempt(HttpRequest request, SendOptions options,
                                     SteadyPoint deadline);
  Task<Result<HttpResponse>> stream(std::string wire, bool head, const SendGate* gate,
                                    SteadyPoint deadline);
  Task<Result<HttpResponse>> exchange(std::string wire, bool head, SendOptions options,
                                      SteadyPoint deadline);
  Task<Result<std::unique_ptr<Connection>>> dial(SteadyPoint deadline);
  Task<Result<std::unique_ptr<Connection>>> dial_counted(SteadyPoint deadline);
  bool may_dial() const;
  std::unique_ptr<Connection> take_idle();
  void drop_expired();

  Clock& clock_;
  std::shared_ptr<Dialer> dialer_;
  std::string host_;
  std::uint16_t port_;
  HttpClientOptions options_;
  std::list<std::unique_ptr<Connection>> idle_;  // newest last
  std::size_t open_ = 0;
  std::size_t dialing_ = 0;  ///< of these
  Wakeup room_;
};

}  // namespace regatta::net
