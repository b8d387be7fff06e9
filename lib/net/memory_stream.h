#pragma once

#include "lib/net/dialer.h"

#include <deque>
#include <functional>
#include <map>

namespace regatta::net {

/// The faults of a connection in memory. Both ends share them; they may change at any time.
struct MemoryFaults {
  /// How many of the available bytes the next read returns (at least 1); unset: all.
  std::function<std::size_t(std::size_t available)> split;
  bool half_open = false;  ///< later writes are lost silently
};

namespace internal {
struct MemoryPipe;
}

/// One end of a connection in memory. It needs no time and no threads, so that it runs in virtual
/// time too.
class MemoryStream final : public ByteStream {
 public:
  ~MemoryStream() override;
  Task<Result<std::size_t>> read_some(std::span<char> into) override;
  Task<Status> write_all(std::string_view bytes) override;
  void close() noexcept override;
  void shutdown_write() noexcept override;
  bool quiet() noexcept override;
  PeerIdentity peer() const override { return peer_; }

  /// Sets what peer() returns.
  void set_peer(PeerIdentity peer) { peer_ = std::move(peer); }
  /// Cuts the connection: both ends fail at once, unread bytes are lost.
  void reset();
  MemoryFaults& faults() { return *faults_; }

 private:
  friend struct MemoryPair make_memory_pair(const Executor& executor);
  using Pipe = std::shared_ptr<internal::MemoryPipe>;
  MemoryStream(Pipe in, Pipe out, std::shared_ptr<MemoryFaults> faults);

  Pipe in_, out_;
  std::shared_ptr<MemoryFaults> faults_;
  PeerIdentity peer_;
  bool closed_ = false;
};

struct MemoryPair {
  std::unique_ptr<MemoryStream> client, server;
};
MemoryPair make_memory_pair(const Executor& executor);

/// A network in memory: its hosts. Must outlive its listeners.
class MemoryNetwork final : public Dialer {
 public:
  explicit MemoryNetwork(const Executor& executor) : executor_(executor) {}

  std::unique_ptr<ByteListener> listen(std::string host, std::uint16_t port);
  Task<Result<std::unique_ptr<ByteStream>>> dial(std::string host, std::uint16_t port,
                                                 SteadyPoint deadline) override;

  /// Called with every new connection, before either side uses it.
  std::function<void(MemoryPair&)> on_connect;
  std::size_t dialled() const { return dialled_; }

 private:
  class Listener;
  using Address = std::pair<std::string, std::uint16_t>;

  Executor executor_;
  std::map<Address, Listener*> listeners_;
  std::size_t dialled_ = 0;
};

}  // namespace regatta::net
