#pragma once

#include "lib/base/clock.h"
#include "lib/net/http.h"

namespace regatta::kube {

/// Until when this process leads, and with that, until when its writes may leave. Every client that
/// acts for the leader has it as its gate: a request that was decided in time and then held up (by
/// a queue, a handshake, a process that was stopped) is refused at the point of writing, because
/// another process may lead by now.
///
/// It counts the writes that have left, so that they can be awaited before the lease is given back.
///
/// It asks the clock each time and waits for no handler, so it holds even in the first moment after
/// a suspension, before any timer ran.
class Leadership final : public net::SendGate {
 public:
  explicit Leadership(Clock& clock) : clock_(clock) {}
  Leadership(const Leadership&) = delete;

  /// For the elector alone: each renewal moves the end.
  void lead_until(SteadyPoint end) { end_ = end; }
  void end() { end_.reset(); }

  bool held() const { return end_ && clock_.steady() < *end_; }
  /// `denied` unless it is held: the request did not happen and need not be repeated.
  Status may_send() const override;

 private:
  Clock& clock_;
  std::optional<SteadyPoint> end_;
};

}  // namespace regatta::kube
