#include "lib/net/memory_stream.h"

#include "lib/net/tcp.h"
#include "lib/runtime/wakeup.h"

#include <cstring>

namespace regatta::net {

namespace internal {

/// The bytes of one direction.
struct MemoryPipe {
  explicit MemoryPipe(const Executor& executor) : changed(executor) {}

  static constexpr std::size_t capacity = 256 * 1024;
  std::string bytes;
  bool ended = false;      ///< the writer has closed its side
  bool abandoned = false;  ///< the reader has closed its side
  bool broken = false;
  Wakeup changed;
};

}  // namespace internal

MemoryStream::MemoryStream(Pipe in, Pipe out, std::shared_ptr<MemoryFaults> faults)
    : in_(std::move(in)), out_(std::move(out)), faults_(std::move(faults)) {}

MemoryStream::~MemoryStream() {
  close();
}

Task<Result<std::size_t>> MemoryStream::read_some(std::span<char> into) {
  const Pipe in = in_;
  for (;;) {
    if (closed_) co_return Error(Errc::unavailable, "connection closed");
    if (in->broken) co_return Error(Errc::unavailable, "connection reset");
    if (!in->bytes.empty()) break;
    if (in->ended) co_return std::size_t(0);
    co_await in->changed.wait();
  }
  std::size_t n = std::min(into.size(), in->bytes.size());
  if (faults_->split) n = std::clamp<std::size_t>(faults_->split(n), 1, n);
  std::memcpy(into.data(), in->bytes.data(), n);
  in->bytes.erase(0, n);
  in->changed.notify_all();
  co_return n;
}

Task<Status> MemoryStream::write_all(std::string_view bytes) {
  const Pipe out = out_;
  while (!bytes.empty()) {
    if (closed_ || out->ended) co_return Error(Errc::unavailable, "connection closed");
    if (out->broken || out->abandoned) co_return Error(Errc::unavailable, "connection reset");
    if (faults_->half_open) co_return ok();
    const std::size_t n = std::min(bytes.size(), out->capacity - out->bytes.size());
    out->bytes.append(bytes.substr(0, n));
    bytes.remove_prefix(n);
    out->changed.notify_all();
    if (!bytes.empty()) co_await out->changed.wait();
  }
  co_return ok();
}

void MemoryStream::close() noexcept {
  if (std::exchange(closed_, true)) return;
  in_->abandoned = true;
  if (!faults_->half_open) out_->ended = true;
  in_->changed.notify_all();
  out_->changed.notify_all();
}

void MemoryStream::shutdown_write() noexcept {
  if (!faults_->half_open) out_->ended = true;
  out_->changed.notify_all();
}

bool MemoryStream::quiet() noexcept {
  return !closed_ && in_->bytes.empty() && !in_->ended && !in_->broken;
}

void MemoryStream::reset() {
  for (const Pipe& pipe : {in_, out_}) {
    pipe->broken = true;
    pipe->changed.notify_all();
  }
}

MemoryPair make_memory_pair(const Executor& executor) {
  auto up = std::make_shared<internal::MemoryPipe>(executor);
  auto down = std::make_shared<internal::MemoryPipe>(executor);
  auto faults = std::make_shared<MemoryFaults>();
  MemoryPair pair;
  pair.client.reset(new MemoryStream(down, up, faults));
  pair.server.reset(new MemoryStream(up, down, faults));
  return pair;
}

class MemoryNetwork::Listener final : public ByteListener {
 public:
  Listener(MemoryNetwork& network, Address address)
      : network_(network), address_(std::move(address)), arrived_(network.executor_) {
    network_.listeners_[address_] = this;
  }
  ~Listener() override { close(); }

  Task<Result<std::unique_ptr<ByteStream>>> accept() override {
    while (waiting_.empty() && !closed_) co_await arrived_.wait();
    if (closed_) co_return Error(Errc::unavailable, "listener closed");
    auto stream = std::move(waiting_.front());
    waiting_.pop_front();
    co_return std::move(stream);
  }
  void close() noexcept override {
    if (std::exchange(closed_, true)) return;
    network_.listeners_.erase(address_);
    waiting_.clear();
    arrived_.notify_all();
  }
  void offer(std::unique_ptr<ByteStream> stream) {
    waiting_.push_back(std::move(stream));
    arrived_.notify_one();
  }

 private:
  MemoryNetwork& network_;
  Address address_;
  std::deque<std::unique_ptr<ByteStream>> waiting_;
  Wakeup arrived_;
  bool closed_ = false;
};

std::unique_ptr<ByteListener> MemoryNetwork::listen(std::string host, std::uint16_t port) {
  return std::make_unique<Listener>(*this, Address(std::move(host), port));
}

Task<Result<std::unique_ptr<ByteStream>>> MemoryNetwork::dial(std::string host, std::uint16_t port,
                                                              SteadyPoint) {
  ++dialled_;
  const auto at = listeners_.find(Address(host, port));
  if (at == listeners_.end()) {
    co_return Error(Errc::unavailable,
                    "connecting to " + host_and_port(host, port) + ": connection refused");
  }
  MemoryPair pair = make_memory_pair(executor_);
  if (on_connect) on_connect(pair);
  at->second->offer(std::move(pair.server));
  std::unique_ptr<ByteStream> stream = std::move(pair.client);
  co_return std::move(stream);
}

}  // namespace regatta::net
