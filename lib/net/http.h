#pragma once

#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/base/task.h"
#include "lib/net/byte_stream.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regatta::net {

/// Header fields in order; names compare without case.
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<std::pair<std::string, std::string>> fields) : fields_(fields) {}

  /// The first value, or empty.
  std::string_view get(std::string_view name) const;
  bool has(std::string_view name) const;
  /// Replaces every field of that name.
  void set(std::string name, std::string value);
  void add(std::string name, std::string value);
  const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

/// A body that comes in pieces: the chunks of a watch.
class BodyStream {
 public:
  virtual ~BodyStream() = default;
  /// The next non-empty piece; nullopt at the end; an error when the body was cut short. Destroying
  /// the stream ends the exchange.
  virtual Task<Result<std::optional<std::string>>> next() = 0;
};

struct HttpRequest {
  HttpRequest() = default;
  HttpRequest(std::string method, std::string target)
      : method(std::move(method)), target(std::move(target)) {}

  std::string method;
  std::string target;  ///< path and query as on the wire
  Headers headers;
  std::string body;
  PeerIdentity peer;  ///< set by the server side, ignored by clients
};

struct HttpResponse {
  HttpResponse() = default;
  HttpResponse(unsigned status, std::string body) : status(status), body(std::move(body)) {}

  unsigned status = 0;
  Headers headers;
  std::string body;                    ///< empty when `stream` is set
  std::shared_ptr<BodyStream> stream;  ///< set when the body comes in pieces
};

/// Says whether a request may leave, and knows of those that have left. It is asked at the last
/// moment, after every wait.
class SendGate {
 public:
  virtual ~SendGate() = default;
  /// Why not, as the answer of send().
  virtual Status may_send() const = 0;

  /// Requests that have left and wait for their answers.
  std::size_t under_way() const { return under_way_; }
  /// Requests that have left and no longer wait, without an answer: the server may still act.
  std::size_t unanswered() const { return unanswered_; }

  /// A request that has left through the gate, for as long as it waits. Null: there is no gate.
  class Passage {
   public:
    explicit Passage(const SendGate* gate) : gate_(gate) {
      if (gate_) ++gate_->under_way_;
    }
    Passage(const Passage&) = delete;
    ~Passage() {
      if (!gate_) return;
      --gate_->under_way_;
      if (!answered_) ++gate_->unanswered_;
    }
    void answered() { answered_ = true; }

   private:
    const SendGate* gate_;
    bool answered_ = false;
  };

 private:
  // Not what the gate decides, but what went through it: senders know it as const.
  mutable std::size_t under_way_ = 0, unanswered_ = 0;
};

/// The same gate for requests whose answers are not waited for.
class UncountedGate final : public SendGate {
 public:
  /// Null: everything may leave.
  explicit UncountedGate(const SendGate* gate) : gate_(gate) {}
  Status may_send() const override { return gate_ ? gate_->may_send() : ok(); }

 private:
  const SendGate* gate_;
};

struct SendOptions {
  /// For the whole exchange; when streaming, up to the response header.
  SteadyPoint deadline = SteadyPoint::max();
  /// Asks for the body of a 200 answer as a stream. Over a connection other answers of status 2xx
  /// are `unavailable`, without being read; those of other statuses are complete.
  bool streaming = false;
  /// No other request is expected soon: a connection that is opened for this one is closed after
  /// it.
  bool last = false;
  /// Asked each time right before the request leaves; null: it may. Outlives the exchange.
  const SendGate* gate = nullptr;
};

/// The client side of HTTP: over TLS, or straight into a handler in simulation.
class HttpSender {
 public:
  virtual ~HttpSender() = default;
  /// An answer of any status is a value. Otherwise: `unavailable` (no connection, or cut before an
  /// answer), `timeout`, `too_large`, or `denied` (one side refused the other's certificate, or the
  /// gate was closed).
  virtual Task<Result<HttpResponse>> send(HttpRequest request, SendOptions options) = 0;
  /// Closes connections that are kept for later requests and had none for a while.
  virtual void close_idle() {}
};

/// The server side of HTTP.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  /// Never fails: every problem is a response. Cancelled when the client goes away.
  virtual Task<HttpResponse> handle(HttpRequest request) = 0;
};

}  // namespace regatta::net
