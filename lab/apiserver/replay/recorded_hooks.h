#pragma once

#include "lab/apiserver/hooks/outgoing.h"
#include "lab/apiserver/replay/match.h"
#include "lib/base/clock.h"

#include <nlohmann/json.hpp>

#include <memory>

namespace regatta::apiserver::replay {

/// The webhooks of a recording: each call is compared with the recorded one of its step and path,
/// and answered as that one was.
class RecordedHooks final : public Outgoing, public std::enable_shared_from_this<RecordedHooks> {
 public:
  RecordedHooks(Clock& clock, Bindings& bindings) : clock_(clock), bindings_(bindings) {}

  Result<std::shared_ptr<net::HttpSender>> to(const Peer& peer) override;

  /// The calls of the next step. `exact`: each of them must be made.
  void expect(Json calls, bool exact);
  /// What differed since expect(); empty when nothing did.
  std::string difference();

 private:
  class Sender;
  Task<Result<net::HttpResponse>> answer(net::HttpRequest request, SteadyPoint deadline);
  /// The recorded call, which is taken from those that are expected; null when there is none.
  Json take(const std::string& path, const Json& body);

  Clock& clock_;
  Bindings& bindings_;
  Json calls_ = Json::array();
  bool exact_ = false;
  std::string difference_;
};

}  // namespace regatta::apiserver::replay
