#pragma once

#include "lib/net/dialer.h"

namespace regatta::net {

/// The operating system's resolver (it uses threads: never in simulation).
std::shared_ptr<Resolver> make_system_resolver();

/// "host:port", with brackets around an IPv6 address.
std::string host_and_port(std::string_view host, std::uint16_t port);

/// Plain TCP with TCP_NODELAY, keep-alive probes and TCP_USER_TIMEOUT, so that a dead peer is
/// noticed within a minute.
class TcpDialer final : public Dialer {
 public:
  explicit TcpDialer(Clock& clock, std::shared_ptr<Resolver> resolver = make_system_resolver())
      : clock_(clock), resolver_(std::move(resolver)) {}
  Task<Result<std::unique_ptr<ByteStream>>> dial(std::string host, std::uint16_t port,
                                                 SteadyPoint deadline) override;

 private:
  Clock& clock_;
  std::shared_ptr<Resolver> resolver_;
};

/// A listener that knows its own address.
class TcpListener : public ByteListener {
 public:
  virtual std::uint16_t port() const = 0;
};

/// Listens on an IP address; port 0 takes any free one.
Result<std::unique_ptr<TcpListener>> listen_tcp(const Executor& executor, std::string_view address,
                                                std::uint16_t port);

}  // namespace regatta::net
