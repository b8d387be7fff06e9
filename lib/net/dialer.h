#pragma once

#include "lib/base/clock.h"
#include "lib/net/byte_stream.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace regatta::net {

/// Opens connections: over TCP, over TLS, or in memory.
class Dialer {
 public:
  virtual ~Dialer() = default;
  /// `unavailable`, `timeout`, or `denied` when one side refuses the other's certificate. The text
  /// names the host and the cause.
  virtual Task<Result<std::unique_ptr<ByteStream>>> dial(std::string host, std::uint16_t port,
                                                         SteadyPoint deadline) = 0;
};

/// Accepts connections.
class ByteListener {
 public:
  virtual ~ByteListener() = default;
  /// The next connection. Never waits for bytes of the peer: a TLS handshake happens in the first
  /// read.
  virtual Task<Result<std::unique_ptr<ByteStream>>> accept() = 0;
  virtual void close() noexcept = 0;
};

/// Turns a host name into IP addresses, in order of preference.
class Resolver {
 public:
  virtual ~Resolver() = default;
  virtual Task<Result<std::vector<std::string>>> resolve(std::string host) = 0;
};

}  // namespace regatta::net
