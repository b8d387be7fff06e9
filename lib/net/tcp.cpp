#include "lib/net/tcp.h"

#include "lib/net/resolver.h"
#include "lib/net/tcp_socket.h"
#include "lib/runtime/deadline.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <netinet/tcp.h>
#include <sys/socket.h>

namespace regatta::net {
namespace {

using asio::ip::tcp;
constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

constexpr int keepalive_idle_seconds = 30;
constexpr int keepalive_interval_seconds = 10;
constexpr int keepalive_probes = 3;
constexpr unsigned unacknowledged_max_ms = 60'000;

void set_option(tcp::socket& socket, int level, int name, unsigned value) {
  // Best effort: a connection without probes still works.
  ::setsockopt(socket.native_handle(), level, name, &value, sizeof value);
}

void tune(tcp::socket& socket) {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, keepalive_idle_seconds);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, keepalive_interval_seconds);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, keepalive_probes);
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, unacknowledged_max_ms);
}

Task<Result<tcp::socket>> connect_one(tcp::endpoint endpoint) {
  tcp::socket socket(co_await asio::this_coro::executor);
  auto [ec] = co_await socket.async_connect(endpoint, as_result);
  if (ec) co_return co_await internal::stream_error(ec);
  tune(socket);
  co_return std::move(socket);
}

Task<Result<std::vector<std::string>>> addresses_of(std::shared_ptr<Resolver> resolver,
                                                    std::string host) {
  boost::system::error_code not_literal;
  asio::ip::make_address(host, not_literal);
  if (!not_literal) co_return std::vector<std::string>{std::move(host)};
  co_return co_await resolver->resolve(std::move(host));
}

class TcpStream final : public ByteStream {
 public:
  explicit TcpStream(tcp::socket socket) : socket_(std::move(socket)) {}

  Task<Result<std::size_t>> read_some(std::span<char> into) override {
    auto [ec, n] =
        co_await socket_.async_read_some(asio::buffer(into.data(), into.size()), as_result);
    if (ec == asio::error::eof) co_return std::size_t(0);
    if (ec) co_return co_await internal::stream_error(ec);
    co_return n;
  }
  Task<Status> write_all(std::string_view bytes) override {
    auto [ec, n] = co_await asio::async_write(socket_, asio::buffer(bytes), as_result);
    if (ec) co_return co_await internal::stream_error(ec);
    co_return ok();
  }
  void close() noexcept override { internal::close(socket_); }
  void shutdown_write() noexcept override { internal::shutdown_write(socket_); }
  bool quiet() noexcept override { return internal::quiet(socket_); }

 private:
  tcp::socket socket_;
};

class PlainListener final : public TcpListener {
 public:
  explicit PlainListener(tcp::acceptor acceptor) : acceptor_(std::move(acceptor)) {}

  Task<Result<std::unique_ptr<ByteStream>>> accept() override {
    auto socket = co_await internal::accept(acceptor_);
    if (!socket) co_return socket.error();
    std::unique_ptr<ByteStream> stream = std::make_unique<TcpStream>(std::move(*socket));
    co_return std::move(stream);
  }
  void close() noexcept override {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
  }
  std::uint16_t port() const override { return acceptor_.local_endpoint().port(); }

 private:
  tcp::acceptor acceptor_;
};

}  // namespace

namespace internal {

Task<Error> stream_error(boost::system::error_code ec) {
  if (ec == asio::error::operation_aborted) {
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none) throw boost::system::system_error(ec);
    co_return Error(Errc::unavailable, "connection closed");
  }
  co_return Error(Errc::unavailable, ec.message());
}

Task<Result<tcp::socket>> connect(Clock& clock, std::shared_ptr<Resolver> resolver,
                                  std::string host, std::uint16_t port, SteadyPoint deadline) {
  const std::string where = "connecting to " + host_and_port(host, port);
  auto addresses =
      co_await with_deadline(clock, deadline, addresses_of(std::move(resolver), std::move(host)));
  if (!addresses) co_return addresses.error().within(where);
  Error last(Errc::unavailable, "the name has no address");
  std::size_t left = addresses->size();
  for (const std::string& text : *addresses) {
    boost::system::error_code bad;
    const auto address = asio::ip::make_address(text, bad);
    if (bad) co_return Error(Errc::invalid, "not an IP address: " + text).within(where);
    // An address that swallows packets must leave time for the next address.
    const SteadyPoint now = clock.steady();
    const SteadyPoint until = now + std::max(Duration(0), deadline - now) / left--;
    auto socket = co_await with_deadline(clock, until, connect_one(tcp::endpoint(address, port)));
    if (socket) co_return std::move(*socket);
    last = socket.error();
  }
  co_return last.within(where);
}

Result<tcp::acceptor> open_acceptor(const Executor& executor, std::string_view address,
                                    std::uint16_t port) {
  boost::system::error_code ec;
  const std::string where = "listening on " + host_and_port(address, port);
  const auto ip = asio::ip::make_address(std::string(address), ec);
  if (ec) return Error(Errc::invalid, "not an IP address").within(where);
  const tcp::endpoint endpoint(ip, port);
  tcp::acceptor acceptor(executor);
  acceptor.open(endpoint.protocol(), ec);
  if (!ec) acceptor.set_option(tcp::acceptor::reuse_address(true), ec);
  if (!ec) acceptor.bind(endpoint, ec);
  if (!ec) acceptor.listen(tcp::acceptor::max_listen_connections, ec);
  if (ec) return Error(Errc::unavailable, ec.message()).within(where);
  return acceptor;
}

Task<Result<tcp::socket>> accept(tcp::acceptor& acceptor) {
  auto [ec, socket] = co_await acceptor.async_accept(as_result);
  if (ec) co_return co_await stream_error(ec);
  tune(socket);
  co_return std::move(socket);
}

void close(tcp::socket& socket) noexcept {
  boost::system::error_code ignored;
  socket.close(ignored);
}

void shutdown_write(tcp::socket& socket) noexcept {
  boost::system::error_code ignored;
  socket.shutdown(tcp::socket::shutdown_send, ignored);
}

bool quiet(tcp::socket& socket) noexcept {
  char byte;
  const auto got = ::recv(socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

}  // namespace internal

std::shared_ptr<Resolver> make_system_resolver() {
  return std::make_shared<LookupResolver>();
}

std::string host_and_port(std::string_view host, std::uint16_t port) {
  const bool v6 = host.find(':') != std::string_view::npos;
  const std::string name = v6 ? "[" + std::string(host) + "]" : std::string(host);
  return name + ":" + std::to_string(port);
}

Task<Result<std::unique_ptr<ByteStream>>> TcpDialer::dial(std::string host, std::uint16_t port,
                                                          SteadyPoint deadline) {
  auto socket = co_await internal::connect(clock_, resolver_, std::move(host), port, deadline);
  if (!socket) co_return socket.error();
  std::unique_ptr<ByteStream> stream = std::make_unique<TcpStream>(std::move(*socket));
  co_return std::move(stream);
}

Result<std::unique_ptr<TcpListener>> listen_tcp(const Executor& executor, std::string_view address,
                                                std::uint16_t port) {
  auto acceptor = internal::open_acceptor(executor, address, port);
  if (!acceptor) return acceptor.error();
  std::unique_ptr<TcpListener> listener = std::make_unique<PlainListener>(std::move(*acceptor));
  return listener;
}

}  // namespace regatta::net
