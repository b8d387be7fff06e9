#include "lib/net/http_server.h"

#include "lib/base/check.h"
#include "lib/net/http_codec.h"
#include "lib/net/read_buffer.h"
#include "lib/runtime/deadline.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace regatta::net {
namespace {

constexpr std::size_t read_ahead_max = 64 * 1024;    // undecoded bytes of one connection
constexpr std::size_t linger_bytes_max = 16u << 20;  // read and dropped after a refusal
constexpr Duration linger_max = std::chrono::seconds(2);
constexpr Duration overdue_check_every = std::chrono::seconds(1);
constexpr Duration accept_pause = std::chrono::milliseconds(100);
constexpr const char* retry_after = "1";  // in seconds; bodies come and go fast

HttpResponse plain_text(unsigned status, std::string text) {
  HttpResponse response(status, std::move(text) + "\n");
  response.headers.set("Content-Type", "text/plain; charset=utf-8");
  return response;
}

Status too_much() {
  return Error(Errc::unavailable, "too much is being received at a time: try again");
}

}  // namespace

/// One connection has two tasks: one keeps reading, because only a read notices that the client
/// goes away; the other decodes, handles and answers. When one ends, the other is cancelled.
class HttpServer::Connection {
 public:
  Connection(HttpServer& server, std::unique_ptr<ByteStream> stream, const Executor& executor)
      : server_(server),
        stream_(std::move(stream)),
        decoder_({server.options_.header_max, server.options_.body_max}),
        number_(server.accepted_++),
        arrived_(executor),
        consumed_(executor) {
    server_.connections_.insert(this);
    // The client is expected to send a request soon; a TLS handshake counts as part of it.
    expect_within(std::min(server_.options_.idle_max, server_.options_.request_max));
  }
  ~Connection() {
    stream_->close();
    hold(0);
    server_.connections_.erase(this);
    server_.room_.notify_one();
  }

  Task<> read() {
    internal::ReadBuffer buffer;
    std::size_t discarded = 0;
    for (;;) {
      const auto n = co_await stream_->read_some(buffer.space());
      if (!n || *n == 0) co_return;
      if (discarding_) {
        if ((discarded += *n) > linger_bytes_max) co_return;
        continue;
      }
      decoder_.append(buffer.filled(*n));
      buffer.settle();
      arrived_.notify_one();
      while (decoder_.buffered() > read_ahead_max && !discarding_) co_await consumed_.wait();
    }
  }

  Task<> answer_all() {
    while (!server_.draining_ && !retired_) {
      decoder_.start();
      const Status got = co_await receive();
      if (!got) {
        co_await refuse(given_up_ ? 503 : decoder_.refusal(), got.error().what());
        co_return;
      }
      const bool keep_alive = decoder_.keep_alive();
      const bool http10 = decoder_.is_http10();
      HttpRequest request = decoder_.take();
      request.peer = stream_->peer();
      const bool head = request.method == "HEAD";
      deadline_ = SteadyPoint::max();  // handlers have deadlines of their own
      busy_ = true;
      HttpResponse response = co_await server_.handler_.handle(std::move(request));
      hold(std::max(held_, response.body.size()));
      server_.keep_bodies_within_limit();
      if (given_up_) co_return;
      const bool more = keep_alive && !server_.draining_ && !retired_;
      const bool sent = co_await answer(std::move(response), head, http10, more);
      hold(0);
      busy_ = false;
      if (!sent) co_return;
      if (!more) break;
      expect_within(server_.options_.idle_max);
    }
    co_await linger();
  }

  void close_if_overdue(SteadyPoint now) {
    if (now >= deadline_) stream_->close();
  }
  /// A request has arrived, at least in part, and its answer is not a stream.
  bool answering() const { return !discarding_ && (busy_ ? !streaming_ : decoder_.started()); }
  std::uint64_t number() const { return number_; }  ///< in the order of their coming
  void close() { stream_->close(); }
  std::size_t held() const { return held_; }  ///< its part of HttpServer::bodies()
  /// Lets go of the request that arrives or is answered.
  void give_up() {
    given_up_ = true;
    hold(0);
    if (busy_) {
      stream_->close();
    } else {
      decoder_.start();  // frees what has arrived of the body
      arrived_.notify_one();
    }
  }
  void retire() {
    retired_ = true;
    close_if_idle();
  }
  void close_if_idle() {
    if (!busy_ && !decoder_.started()) stream_->close();
  }

 private:
  void expect_within(Duration d) { deadline_ = server_.clock_.steady() + d; }
  void hold(std::size_t bytes) {
    server_.bodies_ += bytes;
    server_.bodies_ -= std::exchange(held_, bytes);
  }

  /// Decodes one whole request.
  Task<Status> receive() {
    bool invited = false, begun = false;
    for (;;) {
      const Status decoded = given_up_ ? too_much() : decoder_.advance();
      consumed_.notify_one();
      if (!decoded) co_return decoded;
      hold(decoder_.body_size());
      server_.keep_bodies_within_limit();
      if (given_up_) continue;
      if (decoder_.done()) co_return ok();
      if (!begun && decoder_.started()) {
        begun = true;
        expect_within(server_.options_.request_max);
      }
      if (!invited && decoder_.header_done() && decoder_.expects_continue()) {
        invited = true;
        const Status sent = co_await stream_->write_all("HTTP/1.1 100 Continue\r\n\r\n");
        if (!sent) co_return sent;
        continue;
      }
      co_await arrived_.wait();
    }
  }

  /// False when the connection cannot be used any more.
  Task<bool> answer(HttpResponse response, bool head, bool http10, bool keep_alive) {
    std::string out;
    if (response.stream && !head && may_have_body("GET", response.status)) {
      co_return co_await answer_in_pieces(std::move(response), http10, keep_alive);
    }
    const bool with_body = !head && may_have_body("GET", response.status);
    out.reserve(256 + (with_body ? response.body.size() : 0));
    const Framing framing = response.stream ? Framing::chunked : Framing::length;
    encode_response_head(response, framing, keep_alive, &out);
    if (with_body) out.append(response.body);
    co_return co_await write(std::move(out));
  }

  Task<bool> answer_in_pieces(HttpResponse response, bool http10, bool keep_alive) {
    streaming_ = true;
    std::string out;
    const Framing framing = http10 ? Framing::until_close : Framing::chunked;
    encode_response_head(response, framing, keep_alive && !http10, &out);
    if (!co_await write(std::move(out))) co_return false;
    for (;;) {
      auto piece = co_await response.stream->next();
      if (!piece) co_return false;  // the missing last chunk tells the client that the body was cut
      if (!*piece) break;
      if ((*piece)->empty()) continue;
      std::string wire;
      if (http10) {
        wire = std::move(**piece);
      } else {
        wire.reserve((*piece)->size() + 24);
        append_chunk(**piece, &wire);
      }
      if (!co_await write(std::move(wire))) co_return false;
    }
    streaming_ = false;
    if (http10) co_return false;
    co_return co_await write(std::string(last_chunk));
  }

  Task<bool> write(std::string bytes) {
    expect_within(server_.options_.write_max);
    const Status written = co_await stream_->write_all(bytes);
    deadline_ = SteadyPoint::max();
    co_return written.has_value();
  }

  Task<> refuse(unsigned status, std::string why) {
    std::string out;
    HttpResponse response = plain_text(status, std::move(why));
    if (status == 503) response.headers.set("Retry-After", retry_after);
    busy_ = true;
    decoder_.start();  // frees what has arrived of the body
    hold(0);
    encode_response_head(response, Framing::length, false, &out);
    out.append(response.body);
    if (co_await write(std::move(out))) co_await linger();
  }

  /// Closing with unread input resets the connection, and the answer may be lost with it. So wait a
  /// moment for the client to close first.
  Task<> linger() {
    discarding_ = true;
    decoder_.discard();
    consumed_.notify_one();
    stream_->shutdown_write();
    expect_within(linger_max);
    co_await server_.clock_.sleep_for(linger_max);
  }

  HttpServer& server_;
  std::unique_ptr<ByteStream> stream_;
  RequestDecoder decoder_;
  std::uint64_t number_;
  SteadyPoint deadline_;
  std::size_t held_ = 0;
  bool busy_ = false, streaming_ = false, discarding_ = false, given_up_ = false;
  bool retired_ = false;
  Wakeup arrived_, consumed_;
};

HttpServer::HttpServer(const Executor& executor, Clock& clock,
                       std::unique_ptr<ByteListener> listener, HttpHandler& handler,
                       HttpServerOptions options, Log log)
    : clock_(clock),
      listener_(std::move(listener)),
      handler_(handler),
      options_(options),
      log_(std::move(log)),
      room_(executor),
      scope_(executor) {}

HttpServer::~HttpServer() = default;

Task<> HttpServer::run() {
  const auto state = co_await asio::this_coro::cancellation_state;
  if (state.cancelled() != asio::cancellation_type::none) {
    throw boost::system::system_error(asio::error::operation_aborted);
  }
  scope_.spawn("http-accept", accept_all());
  scope_.spawn("http-overdue", close_overdue());
  // This task is cancelled, and its children must still be joined.
  co_await asio::this_coro::throw_if_cancelled(false);
  asio::steady_timer never(scope_.executor(), asio::steady_timer::time_point::max());
  boost::system::error_code cancelled;
  co_await never.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
  listener_->close();
  scope_.stop();
  co_await scope_.join();
  co_await asio::this_coro::throw_if_cancelled(true);
  throw boost::system::system_error(asio::error::operation_aborted);
}

Task<> HttpServer::accept_all() {
  while (!draining_) {
    const std::size_t beyond = options_.makes_room ? 1 : 0;
    while (connections_.size() >= options_.connections_max + beyond) co_await room_.wait();
    auto stream = co_await listener_->accept();
    if (stream) {
      auto connection = std::make_shared<Connection>(*this, std::move(*stream), scope_.executor());
      scope_.spawn("http-connection", serve(std::move(connection)));
      if (connections_.size() > options_.connections_max) close_oldest();
    } else if (!draining_) {
      log_.warning("cannot accept a connection", {{"error", stream.error().what()}});
      co_await clock_.sleep_for(accept_pause);
    }
  }
}

Task<> HttpServer::serve(std::shared_ptr<Connection> connection) {
  auto sides = asio::experimental::make_parallel_group(
      asio::co_spawn(scope_.executor(), connection->read(), asio::deferred),
      asio::co_spawn(scope_.executor(), connection->answer_all(), asio::deferred));
  auto [order, read_threw, answer_threw] =
      co_await sides.async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
  for (const std::exception_ptr& e : {read_threw, answer_threw}) {
    if (e && !is_cancellation(e)) std::rethrow_exception(e);
  }
}

Task<> HttpServer::close_overdue() {
  for (;;) {
    co_await clock_.sleep_for(overdue_check_every);
    const SteadyPoint now = clock_.steady();
    for (Connection* connection : connections_) connection->close_if_overdue(now);
  }
}

/// The connection ends, and leaves the set, when its tasks notice.
void HttpServer::close_oldest() {
  const auto oldest = std::min_element(
      connections_.begin(), connections_.end(),
      [](const Connection* a, const Connection* b) { return a->number() < b->number(); });
  if (oldest != connections_.end()) (*oldest)->close();
}

/// Large bodies make way for small ones, so that a client that sends much, and slowly, does not
/// keep others out. Of equal ones the oldest goes.
void HttpServer::keep_bodies_within_limit() {
  while (bodies_ > options_.bodies_max) {
    Connection* largest = *std::max_element(
        connections_.begin(), connections_.end(), [](const Connection* a, const Connection* b) {
          return std::pair(a->held(), b->number()) < std::pair(b->held(), a->number());
        });
    REGATTA_CHECK(largest->held() > 0, "bodies are counted that no connection holds");
    log_.warning(
        "too many bytes of requests and answers are under way: the largest is given up",
        {{"bytes", bodies_}, {"limit", options_.bodies_max}, {"largest", largest->held()}});
    largest->give_up();
  }
}

void HttpServer::retire_connections() {
  for (Connection* connection : connections_) connection->retire();
}

Task<> HttpServer::drain(SteadyPoint deadline) {
  draining_ = true;
  listener_->close();
  for (Connection* connection : connections_) connection->close_if_idle();
  while (answering() != 0 && clock_.steady() < deadline) {
    co_await clock_.sleep_for(std::min(accept_pause, deadline - clock_.steady()));
  }
}

std::size_t HttpServer::answering() const {
  std::size_t count = 0;
  for (const Connection* connection : connections_) count += connection->answering() ? 1 : 0;
  return count;
}

}  // namespace regatta::net
