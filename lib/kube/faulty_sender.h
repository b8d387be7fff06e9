#pragma once

#include "lib/base/clock.h"
#include "lib/base/rng.h"
#include "lib/net/http.h"

#include <functional>
#include <memory>
#include <optional>

namespace regatta::kube {

/// An answer with a Status that says "Failure", as an API server gives it.
net::HttpResponse status_response(unsigned code, const char* reason, const char* message);

/// Probabilities of what goes wrong with a request, each in [0, 1]. Change them at any time.
struct NetworkFaults {
  /// The requests that something may go wrong with, apart from delays, limits and partitions; null:
  /// all.
  std::function<bool(const net::HttpRequest&)> concerns;
  double hang_before = 0;   ///< never reaches the server, and no answer comes: `timeout`
  double drop_before = 0;   ///< never reaches the server: `unavailable`
  double lose_reply = 0;    ///< the server acts, the answer is lost: `unavailable`
  double hang_reply = 0;    ///< the server acts, the answer never comes: `timeout`
  double conflict = 0;      ///< 409 to a write, not acted on
  double gone = 0;          ///< 410 to a watch or a list
  double too_many = 0;      ///< 429 with Retry-After: 1, not acted on
  double server_error = 0;  ///< 500, not acted on
  double refused = 0;       ///< `refused_with` to a write, not acted on
  unsigned refused_with = 422;
  double withheld = 0;  ///< `withheld_with` to a read, not acted on
  unsigned withheld_with = 404;
  double cut_watch = 0;        ///< per piece: the stream breaks instead of delivering it
  double half_open_watch = 0;  ///< per piece: neither this piece nor a later one ever comes
  double gone_in_watch = 0;    ///< per piece: replaced by an ERROR event 410
  Duration delay_min{0};       ///< of each request and each piece of a watch, both ways together
  Duration delay_max{0};
  std::size_t body_max = 0;  ///< of each answer that is no stream: longer ones are `too_large`
  bool partitioned = false;  ///< nothing passes, requests hang until their deadline, watches starve
};

/// Passes the traffic of another sender on, with the faults that `faults` asks for.
class FaultySender final : public net::HttpSender {
 public:
  /// A request without a deadline that hangs ends after hang_max.
  FaultySender(net::HttpSender& inner, Clock& clock, Rng& rng,
               std::shared_ptr<const NetworkFaults> faults);
  Task<Result<net::HttpResponse>> send(net::HttpRequest request, net::SendOptions options) override;

  static constexpr Duration hang_max = std::chrono::minutes(10);

 private:
  Task<> delay();
  Result<net::HttpResponse> limited(Result<net::HttpResponse> answer) const;
  Task<Error> hang(SteadyPoint deadline);
  /// The answer that stands in for the server's.
  std::optional<net::HttpResponse> refusal(const net::HttpRequest& request);

  net::HttpSender& inner_;
  Clock& clock_;
  Rng& rng_;
  std::shared_ptr<const NetworkFaults> faults_;
};

}  // namespace regatta::kube
