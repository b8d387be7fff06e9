#include "lib/net/handler_sender.h"

#include "lib/net/http_codec.h"
#include "lib/runtime/deadline.h"

namespace regatta::net {
namespace {

/// A body that is complete already, as a stream.
class WholeBody final : public BodyStream {
 public:
  explicit WholeBody(std::string body) : body_(std::move(body)) {}
  Task<Result<std::optional<std::string>>> next() override {
    if (body_.empty()) co_return std::optional<std::string>();
    co_return std::optional<std::string>(std::exchange(body_, {}));
  }

 private:
  std::string body_;
};

Task<Result<std::string>> collect(std::shared_ptr<BodyStream> stream) {
  std::string body;
  for (;;) {
    auto piece = co_await stream->next();
    if (!piece) co_return piece.error();
    if (!*piece) co_return body;
    body += **piece;
  }
}

}  // namespace

Task<Result<HttpResponse>> HandlerSender::send(HttpRequest request, SendOptions options) {
  const std::string where =
      request.method + " " + request.target.substr(0, request.target.find('?'));
  if (options.gate) {
    const Status open = options.gate->may_send();
    if (!open) co_return open.error().within(where);
  }
  SendGate::Passage passage(options.gate);
  request.peer = peer_;
  Task<Result<HttpResponse>> op = exchange(std::move(request), options.streaming);
  if (options.deadline == SteadyPoint::max()) {
    auto answer = co_await std::move(op);
    passage.answered();
    co_return answer;
  }
  auto answer = co_await with_deadline(clock_, options.deadline, std::move(op));
  if (!answer) co_return answer.error().within(where);
  passage.answered();
  co_return std::move(*answer);
}

Task<Result<HttpResponse>> HandlerSender::exchange(HttpRequest request, bool streaming) {
  const std::string method = request.method;
  HttpResponse response = co_await handler_.handle(std::move(request));
  if (!may_have_body(method, response.status)) {
    response.body.clear();
    response.stream.reset();
    co_return response;
  }
  const bool as_stream = streaming && response.status == 200;
  if (as_stream && !response.stream) {
    response.stream = std::make_shared<WholeBody>(std::exchange(response.body, {}));
  } else if (!as_stream && response.stream) {
    auto body = co_await collect(std::exchange(response.stream, nullptr));
    if (!body) co_return body.error();
    response.body = std::move(*body);
  }
  co_return response;
}

}  // namespace regatta::net
