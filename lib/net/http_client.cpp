#include "lib/net/http_client.h"

#include "lib/net/http_codec.h"
#include "lib/net/read_buffer.h"
#include "lib/net/tcp.h"
#include "lib/runtime/deadline.h"

#include <algorithm>

namespace regatta::net {
namespace {

/// Reads once and decodes what was read.
Task<Status> receive(ByteStream& stream, ResponseDecoder& decoder, internal::ReadBuffer& buffer) {
  const auto n = co_await stream.read_some(buffer.space());
  if (!n) co_return n.error();
  if (*n == 0) co_return decoder.end_of_stream();
  decoder.append(buffer.filled(*n));
  buffer.settle();
  co_return decoder.advance();
}

}  // namespace

struct HttpClient::Connection {
  Connection(std::unique_ptr<ByteStream> stream, const HttpClientOptions& options, SteadyPoint now)
      : stream(std::move(stream)), decoder({options.header_max, options.body_max}), born(now) {}
  ~Connection() { stream->close(); }

  std::unique_ptr<ByteStream> stream;
  ResponseDecoder decoder;
  internal::ReadBuffer buffer;
  SteadyPoint born;
  SteadyPoint idle_since{};
};

/// A place under the cap on connections, held for one exchange.
class HttpClient::Lease {
 public:
  explicit Lease(HttpClient& client) : client_(client) { ++client_.open_; }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() {
    if (!kept_) --client_.open_;
    client_.room_.notify_one();
  }
  /// Keeps the connection open and idle.
  void keep(std::unique_ptr<Connection> connection) {
    connection->idle_since = client_.clock_.steady();
    client_.idle_.push_back(std::move(connection));
    kept_ = true;
  }

 private:
  HttpClient& client_;
  bool kept_ = false;
};

namespace {

/// The rest of an answer whose header has been read. Owns the connection.
template <class Connection>
class ResponseStream final : public BodyStream {
 public:
  ResponseStream(std::unique_ptr<Connection> connection, std::string where)
      : connection_(std::move(connection)), where_(std::move(where)) {}

  Task<Result<std::optional<std::string>>> next() override {
    auto& decoder = connection_->decoder;
    for (;;) {
      std::string piece = decoder.take_body();
      if (!piece.empty()) co_return std::optional<std::string>(std::move(piece));
      if (failure_) co_return *failure_;
      if (decoder.done()) co_return std::optional<std::string>();
      const Status got = co_await receive(*connection_->stream, decoder, connection_->buffer);
      if (got) continue;
      const Errc code =
          got.error().code() == Errc::invalid ? Errc::unavailable : got.error().code();
      failure_ = Error(code, got.error().what()).within(where_);
    }
  }

 private:
  std::unique_ptr<Connection> connection_;
  std::string where_;
  std::optional<Error> failure_;
};

struct Exchanged {
  Status outcome = ok();
  bool any_byte = false;
};

bool succeeded(const ResponseDecoder& decoder) {
  return decoder.status() / 100 == 2;
}

/// Sends one request and reads the answer to its end, or to the end of its header if it is to be
/// streamed.
template <class Connection>
Task<Exchanged> round_trip(Connection& connection, std::string wire, bool head, bool streaming,
                           const SendGate* gate) {
  auto& decoder = connection.decoder;
  decoder.start(head);
  decoder.set_streaming(streaming);
  Exchanged result;
  if (gate) result.outcome = gate->may_send();
  if (!result.outcome) co_return result;
  SendGate::Passage passage(gate);
  const Status sent = co_await connection.stream->write_all(wire);
  // A server may answer early and stop reading. Its answer says more than our failure to write.
  while (!(decoder.done() || (streaming && decoder.header_done() && succeeded(decoder)))) {
    const Status got = co_await receive(*connection.stream, decoder, connection.buffer);
    result.any_byte = decoder.started();
    if (got) continue;
    const bool early = !sent && !result.any_byte && got.error().code() == Errc::unavailable;
    result.outcome = early ? sent : got;
    co_return result;
  }
  passage.answered();
  co_return result;
}

/// A kept connection that the server has closed meanwhile: the request was not read.
bool is_stale(const Exchanged& done) {
  return !done.any_byte && done.outcome.error().code() == Errc::unavailable;
}

/// As send() promises: a broken answer means that the server is not usable now.
Error as_send_error(const Error& e) {
  return e.code() == Errc::invalid ? Error(Errc::unavailable, e.what()) : e;
}

/// Of a second try: the request was sent before, and the server may have acted then.
Error of_second_try(const Error& e) {
  return e.code() == Errc::timeout ? e : Error(Errc::unavailable, e.what());
}

}  // namespace

HttpClient::HttpClient(const Executor& executor, Clock& clock, std::shared_ptr<Dialer> dialer,
                       std::string host, std::uint16_t port, HttpClientOptions options)
    : clock_(clock),
      dialer_(std::move(dialer)),
      host_(std::move(host)),
      port_(port),
      options_(options),
      room_(executor) {}

HttpClient::~HttpClient() = default;

Task<Result<HttpResponse>> HttpClient::send(HttpRequest request, SendOptions options) {
  const SteadyPoint deadline = options.deadline == SteadyPoint::max()
                                   ? clock_.steady() + options_.exchange_max
                                   : options.deadline;
  const std::string where =
      request.method + " " + host_and_port(host_, port_) +
      request.target.substr(0, std::min<std::size_t>(request.target.find('?'), 256));
  Task<Result<HttpResponse>> trying = attempt(std::move(request), options, deadline);
  auto answer = co_await with_deadline(clock_, deadline, std::move(trying));
  if (!answer) co_return answer.error().within(where);
  co_return std::move(*answer);
}

Task<Result<HttpResponse>> HttpClient::attempt(HttpRequest request, SendOptions options,
                                               SteadyPoint deadline) {
  auto wire = encode_request(request, host_and_port(host_, port_));
  if (!wire) co_return wire.error();
  const bool head = request.method == "HEAD";
  if (options.streaming) co_return co_await stream(std::move(*wire), head, options.gate, deadline);
  co_return co_await exchange(std::move(*wire), head, options, deadline);
}

Task<Result<HttpResponse>> HttpClient::stream(std::string wire, bool head, const SendGate* gate,
                                              SteadyPoint deadline) {
  drop_expired();
  std::unique_ptr<Connection> connection = take_idle();
  const bool reused = connection != nullptr;
  for (int round = 0;; ++round) {
    if (!connection) {
      auto fresh = co_await dial(deadline);
      if (!fresh) co_return round > 0 ? of_second_try(fresh.error()) : fresh.error();
      connection = std::move(*fresh);
    }
    const Exchanged done = co_await round_trip(*connection, wire, head, true, gate);
    if (done.outcome) break;
    if (round > 0) co_return of_second_try(done.outcome.error());
    if (!reused || !is_stale(done)) co_return as_send_error(done.outcome.error());
    connection.reset();
  }
  HttpResponse response = connection->decoder.take_head();
  if (!succeeded(connection->decoder)) {
    response.body = connection->decoder.take_body();
  } else if (response.status != 200) {
    // Its body, which may be long, is of no use to a caller that wants a stream.
    co_return Error(Errc::unavailable, "a stream was asked for, and the answer has status " +
                                           std::to_string(response.status) + " instead of 200");
  } else {
    response.stream = std::make_shared<ResponseStream<Connection>>(
        std::move(connection), "the stream of " + host_and_port(host_, port_));
  }
  co_return response;
}

Task<Result<HttpResponse>> HttpClient::exchange(std::string wire, bool head, SendOptions options,
                                                SteadyPoint deadline) {
  drop_expired();
  std::unique_ptr<Connection> connection = take_idle();
  while (!connection && !may_dial()) {
    // A waiter that is notified but cancelled before it runs must pass its place on.
    struct Turn {
      HttpClient& client;
      bool taken = false;
      ~Turn() {
        if (!taken) client.room_.notify_one();
      }
    } turn{*this};
    co_await room_.wait();
    turn.taken = true;
    connection = take_idle();
  }
  Lease lease(*this);
  const bool reused = connection != nullptr;
  for (int round = 0;; ++round) {
    if (!connection) {
      auto fresh = co_await dial_counted(deadline);
      if (!fresh) co_return round > 0 ? of_second_try(fresh.error()) : fresh.error();
      connection = std::move(*fresh);
    }
    const Exchanged done = co_await round_trip(*connection, wire, head, false, options.gate);
    if (done.outcome) break;
    connection.reset();
    if (round > 0) co_return of_second_try(done.outcome.error());
    if (!reused || !is_stale(done)) co_return as_send_error(done.outcome.error());
  }
  HttpResponse response = connection->decoder.take_head();
  response.body = connection->decoder.take_body();
  // Bytes after the answer belong to no request: such a connection cannot be trusted.
  const bool usable = connection->decoder.keep_alive() && connection->decoder.buffered() == 0;
  if (usable && (reused || !options.last)) {
    lease.keep(std::move(connection));
  }
  co_return response;
}

Task<Result<std::unique_ptr<HttpClient::Connection>>> HttpClient::dial(SteadyPoint deadline) {
  auto stream = co_await dialer_->dial(host_, port_, deadline);
  if (!stream) co_return stream.error();
  co_return std::make_unique<Connection>(std::move(*stream), options_, clock_.steady());
}

Task<Result<std::unique_ptr<HttpClient::Connection>>> HttpClient::dial_counted(
    SteadyPoint deadline) {
  struct Dialing {
    HttpClient& client;
    explicit Dialing(HttpClient& c) : client(c) { ++client.dialing_; }
    ~Dialing() {
      --client.dialing_;
      client.room_.notify_all();
    }
  } const dialing(*this);
  co_return co_await dial(deadline);
}

bool HttpClient::may_dial() const {
  const std::size_t there = open_ - dialing_;
  return open_ < options_.connections_max && dialing_ < std::max<std::size_t>(1, there);
}

std::unique_ptr<HttpClient::Connection> HttpClient::take_idle() {
  while (!idle_.empty()) {
    std::unique_ptr<Connection> newest = std::move(idle_.back());
    idle_.pop_back();
    --open_;  // the lease of the next exchange counts it again
    if (newest->stream->quiet()) return newest;
  }
  return nullptr;
}

void HttpClient::drop_expired() {
  const SteadyPoint now = clock_.steady();
  open_ -= std::erase_if(idle_, [&](const std::unique_ptr<Connection>& connection) {
    return now - connection->idle_since > options_.idle_max ||
           now - connection->born > options_.age_max;
  });
}

}  // namespace regatta::net
