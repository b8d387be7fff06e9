#pragma once

#include "lib/base/error.h"
#include "lib/base/task.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::net {

/// The identity of the peer, as far as TLS proved it.
struct PeerIdentity {
  std::string common_name;                 ///< CN of the verified client certificate; may be empty
  std::vector<std::string> organizations;  ///< its O values
};

/// A connection over any transport. One reader and one writer at a time. After a cancelled or
/// failed read or write the stream is unusable: close it.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Reads at least one byte, or 0 at the end of the stream. A TLS stream that is cut without
  /// close_notify ends, too: the HTTP parser decides whether the message was complete.
  virtual Task<Result<std::size_t>> read_some(std::span<char> into) = 0;
  virtual Task<Status> write_all(std::string_view bytes) = 0;
  virtual void close() noexcept = 0;
  /// Tells the peer that no more bytes will come. Its bytes can still be read.
  virtual void shutdown_write() noexcept {}
  /// Whether an idle connection looks good for another exchange: the peer has neither closed it nor
  /// sent anything. Only a guess: the connection may die a moment later.
  virtual bool quiet() noexcept { return true; }
  virtual PeerIdentity peer() const { return {}; }
};

}  // namespace regatta::net
