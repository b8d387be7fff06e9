#include "lab/apiserver/replay/recorded_hooks.h"

namespace regatta::apiserver::replay {

class RecordedHooks::Sender final : public net::HttpSender {
 public:
  explicit Sender(std::shared_ptr<RecordedHooks> hooks) : hooks_(std::move(hooks)) {}

  Task<Result<net::HttpResponse>> send(net::HttpRequest request,
                                       net::SendOptions options) override {
    co_return co_await hooks_->answer(std::move(request), options.deadline);
  }

 private:
  std::shared_ptr<RecordedHooks> hooks_;
};

Result<std::shared_ptr<net::HttpSender>> RecordedHooks::to(const Peer& peer) {
  if (peer.ca_pem.empty()) {
    return Error(Errc::denied, "the server's certificate is not accepted");
  }
  return std::make_shared<Sender>(shared_from_this());
}

void RecordedHooks::expect(Json calls, bool exact) {
  calls_ = std::move(calls);
  exact_ = exact;
  difference_.clear();
}

std::string RecordedHooks::difference() {
  if (difference_.empty() && exact_ && !calls_.empty()) {
    return "not called: " + calls_[0]["request"].value("path", "");
  }
  return difference_;
}

Json RecordedHooks::take(const std::string& path, const Json& body) {
  for (auto call = calls_.begin(); call != calls_.end(); ++call) {
    const Json& recorded = (*call)["request"];
    if (bindings_.filled(recorded.value("path", "")) != path) continue;
    // Conversions are recorded with those that the caches of that server needed.
    Bindings before = bindings_;
    const std::string differs = replay::difference(recorded["body"], body, bindings_, "call");
    if (!exact_ && !differs.empty()) {
      bindings_ = before;
      continue;
    }
    if (difference_.empty()) difference_ = differs;
    Json found = *call;
    calls_.erase(call);
    return found;
  }
  return nullptr;
}

Task<Result<net::HttpResponse>> RecordedHooks::answer(net::HttpRequest request,
                                                      SteadyPoint deadline) {
  if (request.target.starts_with("/x?")) {
    co_return Error(Errc::unavailable, "127.0.0.1:1: Connection refused");
  }
  const Json call = take(request.target, Json::parse(request.body, nullptr, false));
  if (call.is_null()) {
    if (difference_.empty()) difference_ = "called, but not in the recording: " + request.target;
    co_return Error(Errc::unavailable, "not in the recording");
  }
  const Json& response = call["response"];
  const auto delay = std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(response.value("delay_seconds", 0.0)));
  if (clock_.steady() + delay > deadline) {
    co_await clock_.sleep_until(deadline);
    co_return Error(Errc::timeout, "no answer in time");
  }
  const std::string body = response.contains("body")
                               ? bindings_.filled_json(response["body"]).dump()
                               : response.value("bodyText", "");
  co_return net::HttpResponse(response.value("status", 200u), body);
}

}  // namespace regatta::apiserver::replay
