#pragma once

#include "lib/base/log.h"
#include "lib/net/dialer.h"
#include "lib/net/http.h"
#include "lib/runtime/task_scope.h"
#include "lib/runtime/wakeup.h"

#include <set>

namespace regatta::net {

struct HttpServerOptions {
  std::size_t header_max = 16 * 1024;
  std::size_t body_max = 3u << 20;  ///< a larger request is answered with 413
  /// Bytes of bodies under way, over all connections: a request's counts with what has arrived of
  /// it, and then with its answer if that is longer, until the client has taken it. Beyond it the
  /// request with the largest body is given up: with 503 and Retry-After while it arrives, by
  /// closing its connection later. The memory taken is up to twice as much, because text that grows
  /// has room to spare.
  std::size_t bodies_max = 256u << 20;
  std::size_t connections_max = 4096;
  /// Beyond connections_max the oldest connection is closed; otherwise the new one waits. For ports
  /// of short exchanges that any client may reach: silent connections do not keep others out.
  bool makes_room = false;
  Duration idle_max = std::chrono::minutes(2);      ///< between requests
  Duration request_max = std::chrono::seconds(30);  ///< from a request's first byte to its last
  Duration write_max = std::chrono::seconds(30);    ///< for the client to take one write
};

/// Serves HTTP/1.1 on one listener. Requests of one connection are handled in order, those of
/// different connections concurrently. When the client goes away, its handler is cancelled and a
/// streamed body destroyed.
class HttpServer {
 public:
  HttpServer(const Executor& executor, Clock& clock, std::unique_ptr<ByteListener> listener,
             HttpHandler& handler, HttpServerOptions options = {}, Log log = {});
  ~HttpServer();

  /// Runs until cancelled; every connection is closed then.
  Task<> run();

  /// Accepts no more connections or requests, and waits until the requests that have begun to
  /// arrive are answered or `deadline` passes. run() ends the streams.
  Task<> drain(SteadyPoint deadline);

  /// Connections that were accepted before take no more requests: what their clients have shown of
  /// themselves counts no longer. Requests that have begun to arrive are answered.
  void retire_connections();

  std::size_t connections() const { return connections_.size(); }
  /// The bytes that HttpServerOptions::bodies_max limits.
  std::size_t bodies() const { return bodies_; }
  ByteListener& listener() { return *listener_; }

 private:
  class Connection;

  Task<> accept_all();
  Task<> serve(std::shared_ptr<Connection> connection);
  Task<> close_overdue();
  void close_oldest();
  void keep_bodies_within_limit();
  std::size_t answering() const;

  Clock& clock_;
  std::unique_ptr<ByteListener> listener_;
  HttpHandler& handler_;
  HttpServerOptions options_;
  Log log_;
  std::set<Connection*> connections_;  // their order is never visible
  std::size_t bodies_ = 0;             // the sum of what connections hold
  bool draining_ = false;
  std::uint64_t accepted_ = 0;
  Wakeup room_;
  TaskScope scope_;
};

}  // namespace regatta::net
