#pragma once

#include "lab/apiserver/reach.h"

namespace regatta::apiserver {

/// Sends the reviews of admission and conversion.
class HookCaller {
 public:
  /// `outgoing` may be null: nothing can be called.
  HookCaller(Store& store, Clock& clock, std::shared_ptr<Outgoing> outgoing)
      : store_(store), clock_(clock), outgoing_(std::move(outgoing)) {}

  /// Posts a review and returns the response. The error is what follows `failed to call webhook: `.
  Task<Result<net::HttpResponse>> post(HookTarget target, std::string user_agent, std::string body,
                                       Duration timeout);

  /// A connection to the target, and the path there.
  struct Line {
    std::shared_ptr<net::HttpSender> sender;
    std::string path;
  };
  Result<Line> line_to(const HookTarget& target);

 private:
  Store& store_;
  Clock& clock_;
  std::shared_ptr<Outgoing> outgoing_;
  std::uint64_t turn_ = 0;
};

/// Go's words for a failed exchange with `peer`.
std::string go_network_error(const Error& error);

}  // namespace regatta::apiserver
