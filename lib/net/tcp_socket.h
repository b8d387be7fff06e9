#pragma once

#include "lib/net/dialer.h"

#include <boost/asio/ip/tcp.hpp>

// Shared by the plain and the TLS transport only.
namespace regatta::net::internal {

/// What `ec` means to callers of a stream. Throws operation_aborted when this coroutine was
/// cancelled, as opposed to a socket that was closed.
Task<Error> stream_error(boost::system::error_code ec);

Task<Result<asio::ip::tcp::socket>> connect(Clock& clock, std::shared_ptr<Resolver> resolver,
                                            std::string host, std::uint16_t port,
                                            SteadyPoint deadline);

Result<asio::ip::tcp::acceptor> open_acceptor(const Executor& executor, std::string_view address,
                                              std::uint16_t port);
Task<Result<asio::ip::tcp::socket>> accept(asio::ip::tcp::acceptor& acceptor);

void close(asio::ip::tcp::socket& socket) noexcept;
void shutdown_write(asio::ip::tcp::socket& socket) noexcept;
bool quiet(asio::ip::tcp::socket& socket) noexcept;

}  // namespace regatta::net::internal
