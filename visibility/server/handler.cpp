#include "visibility/server/handler.h"

#include "visibility/status.h"

namespace regatta::visibility {
namespace {

net::HttpResponse to_response(Answer answer) {
  net::HttpResponse response(answer.status, std::move(answer.body));
  response.headers.set("Content-Type", std::move(answer.content_type));
  if (answer.status == 503) response.headers.set("Retry-After", "1");
  return response;
}

/// Pages that need no user: load balancers and kubelets ask them.
bool is_probe(std::string_view path) {
  return path == "/healthz" || path == "/livez" || path == "/readyz";
}

}  // namespace

VisibilityHandler::VisibilityHandler(HandlerDeps deps)
    : deps_(std::move(deps)), permissions_(deps_.client, deps_.clock) {}

Task<net::HttpResponse> VisibilityHandler::handle(net::HttpRequest request) {
  const std::string path = request.target.substr(0, request.target.find('?'));
  if (is_probe(path)) co_return to_response({200, "text/plain; charset=utf-8", "ok"});
  std::optional<User> user;
  if (proxy_) user = user_of(*proxy_, request.peer.common_name, request.headers.fields());
  if (!user) co_return to_response(unauthorized());
  const Attributes what = attributes_of(request.method, request.target);
  const Result<Decision> decision = co_await permissions_.decide(*user, what);
  if (!decision) {
    deps_.log.warning("cannot ask whether a user may read pending workloads",
                      {{"error", decision.error().what()}});
    co_return to_response(unavailable("the API server cannot be asked whether this is allowed"));
  }
  if (!decision->allowed) {
    co_return to_response(
        forbidden(refusal_of(*user, what, decision->reason), refusal_details(what)));
  }
  co_return to_response(page(request));
}

Answer VisibilityHandler::page(const net::HttpRequest& request) const {
  Answer out;
  const Query query{request.method, request.target, std::string(request.headers.get("Accept"))};
  const bool answered =
      deps_.with_source([&](const Source& source) { out = answer(query, source); });
  return answered ? out : unavailable("the caches are being filled");
}

}  // namespace regatta::visibility
