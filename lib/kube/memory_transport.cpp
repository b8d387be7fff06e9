#include "lib/kube/memory_transport.h"

#include "lib/runtime/deadline.h"

#include <optional>

namespace regatta::kube {
namespace {

constexpr std::size_t body_bytes_max = 256 * 1024 * 1024;

Task<Result<std::string>> collect(std::shared_ptr<net::BodyStream> stream) {
  std::string body;
  for (;;) {
    auto piece = co_await stream->next();
    if (!piece) co_return piece.error();
    if (!*piece) co_return body;
    body += **piece;
    if (body.size() > body_bytes_max) co_return Error(Errc::invalid, "the answer is too large");
  }
}

Task<Result<net::HttpResponse>> exchange(net::HttpHandler& handler, net::HttpRequest request,
                                         bool streaming) {
  net::HttpResponse response = co_await handler.handle(std::move(request));
  if (!response.stream || (streaming && response.status == 200)) co_return response;
  auto body = co_await collect(std::exchange(response.stream, nullptr));
  if (!body) co_return body.error();
  response.body = std::move(*body);
  co_return response;
}

}  // namespace

Task<Result<net::HttpResponse>> MemorySender::send(net::HttpRequest request,
                                                   net::SendOptions options) {
  request.peer = peer_;
  auto answer = exchange(handler_, std::move(request), options.streaming);
  if (options.deadline == TimePoint::max()) co_return co_await std::move(answer);
  co_return co_await with_deadline(clock_, options.deadline, std::move(answer));
}

}  // namespace regatta::kube
