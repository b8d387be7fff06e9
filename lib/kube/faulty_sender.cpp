#include "lib/kube/faulty_sender.h"

#include "lib/base/json.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::kube {

net::HttpResponse status_response(unsigned code, const char* reason, const char* message) {
  const Json status = {{"apiVersion", "v1"},  {"kind", "Status"},   {"metadata", Json::object()},
                       {"status", "Failure"}, {"message", message}, {"reason", reason},
                       {"code", code}};
  net::HttpResponse response(code, dump_json(status));
  response.headers.set("Content-Type", "application/json");
  return response;
}

namespace {

bool is_read(const net::HttpRequest& request) {
  return request.method == "GET";
}

bool is_list_or_watch(const net::HttpRequest& request) {
  return is_read(request) && request.target.find("resourceVersion=") != std::string::npos;
}

class FaultyStream final : public net::BodyStream {
 public:
  FaultyStream(std::shared_ptr<net::BodyStream> inner, net::HttpRequest request, Clock& clock,
               Rng& rng, std::shared_ptr<const NetworkFaults> faults)
      : inner_(std::move(inner)),
        request_(std::move(request)),
        clock_(clock),
        rng_(rng),
        faults_(std::move(faults)) {}

  Task<Result<std::optional<std::string>>> next() override {
    auto piece = co_await inner_->next();
    const bool concerned = !faults_->concerns || faults_->concerns(request_);
    const auto happens = [&](double chance) { return concerned && rng_.chance(chance); };
    if (faults_->partitioned || happens(faults_->half_open_watch)) {
      for (;;) co_await clock_.sleep_for(std::chrono::hours(1));
    }
    if (happens(faults_->cut_watch)) co_return Error(Errc::unavailable, "watch cut (fault)");
    if (happens(faults_->gone_in_watch)) co_return std::optional<std::string>(gone_event());
    const Duration delay(rng_.between(faults_->delay_min.count(),
                                      std::max(faults_->delay_min, faults_->delay_max).count()));
    if (delay > Duration(0)) co_await clock_.sleep_for(delay);
    co_return piece;
  }

 private:
  static std::string gone_event() {
    const net::HttpResponse gone = status_response(410, "Expired", "too old (fault)");
    return R"({"type":"ERROR","object":)" + gone.body + "}\n";
  }

  std::shared_ptr<net::BodyStream> inner_;
  const net::HttpRequest request_;
  Clock& clock_;
  Rng& rng_;
  std::shared_ptr<const NetworkFaults> faults_;
};

}  // namespace

FaultySender::FaultySender(net::HttpSender& inner, Clock& clock, Rng& rng,
                           std::shared_ptr<const NetworkFaults> faults)
    : inner_(inner), clock_(clock), rng_(rng), faults_(std::move(faults)) {}

Task<> FaultySender::delay() {
  const auto low = faults_->delay_min.count();
  const Duration delay(rng_.between(low, std::max(low, faults_->delay_max.count())) / 2);
  if (delay > Duration(0)) co_await clock_.sleep_for(delay);
}

/// As by a client that reads no longer bodies.
Result<net::HttpResponse> FaultySender::limited(Result<net::HttpResponse> answer) const {
  const bool beyond = answer && faults_->body_max > 0 && answer->body.size() > faults_->body_max;
  if (beyond) return Error(Errc::too_large, "the body is beyond the limit (fault)");
  return answer;
}

Task<Error> FaultySender::hang(SteadyPoint deadline) {
  co_await clock_.sleep_until(std::min(deadline, clock_.steady() + hang_max));
  co_return Error(Errc::timeout, "no answer (fault)");
}

std::optional<net::HttpResponse> FaultySender::refusal(const net::HttpRequest& request) {
  if (rng_.chance(faults_->too_many)) {
    net::HttpResponse answer = status_response(429, "TooManyRequests", "too many (fault)");
    answer.headers.set("Retry-After", "1");
    return answer;
  }
  if (rng_.chance(faults_->server_error)) {
    return status_response(500, "InternalError", "internal error (fault)");
  }
  if (!is_read(request) && rng_.chance(faults_->conflict)) {
    return status_response(409, "Conflict", "the object has been modified (fault)");
  }
  // No number is drawn for what never happens: the histories of a seed stay what they are.
  const double refused = is_read(request) ? 0 : faults_->refused;
  if (refused > 0 && rng_.chance(refused)) {
    const unsigned status = faults_->refused_with;
    return status_response(status, status == 422 ? "Invalid" : "Forbidden", "refused (fault)");
  }
  const double withheld = is_read(request) ? faults_->withheld : 0;
  if (withheld > 0 && rng_.chance(withheld)) {
    const unsigned status = faults_->withheld_with;
    return status_response(status, status == 404 ? "NotFound" : "Forbidden", "withheld (fault)");
  }
  if (is_list_or_watch(request) && rng_.chance(faults_->gone)) {
    return status_response(410, "Expired", "too old resource version (fault)");
  }
  return std::nullopt;
}

Task<Result<net::HttpResponse>> FaultySender::send(net::HttpRequest request,
                                                   net::SendOptions options) {
  if (faults_->partitioned) co_return co_await hang(options.deadline);
  co_await delay();
  if (faults_->concerns && !faults_->concerns(request)) {
    auto spared = co_await inner_.send(std::move(request), options);
    co_await delay();
    co_return limited(std::move(spared));
  }
  if (rng_.chance(faults_->hang_before)) co_return co_await hang(options.deadline);
  if (rng_.chance(faults_->drop_before)) {
    co_return Error(Errc::unavailable, "connection refused (fault)");
  }
  if (auto refused = refusal(request)) {
    co_await delay();
    co_return std::move(*refused);
  }
  net::HttpRequest of_stream(request.method, request.target);
  auto answer = co_await inner_.send(std::move(request), options);
  if (faults_->partitioned || rng_.chance(faults_->hang_reply)) {
    co_return co_await hang(options.deadline);
  }
  if (rng_.chance(faults_->lose_reply)) {
    co_return Error(Errc::unavailable, "connection lost before the answer (fault)");
  }
  co_await delay();
  if (answer && answer->stream) {
    answer->stream = std::make_shared<FaultyStream>(std::move(answer->stream), std::move(of_stream),
                                                    clock_, rng_, faults_);
  }
  co_return limited(std::move(answer));
}

}  // namespace regatta::kube
