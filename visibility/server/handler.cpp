#include "visibility/server/handler.h"

#include "lib/base/json_access.h"
#include "visibility/status.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace regatta::visibility {
namespace {

// As long as any API server keeps such answers.
constexpr Duration decision_kept = std::chrono::seconds(10);
constexpr std::size_t decisions_max = 4096;
/// Questions to the API server at one time; more requests have to come again.
constexpr std::size_t questions_max = 32;

constexpr api::ResourceInfo reviews{"authorization.k8s.io", "v1", "SubjectAccessReview",
                                    "subjectaccessreviews", false};

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

struct Counted {
  explicit Counted(std::size_t* count) : count(count) { ++*count; }
  ~Counted() { --*count; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  std::size_t* count;
};

}  // namespace

VisibilityHandler::VisibilityHandler(HandlerDeps deps)
    : deps_(std::move(deps)), cache_(decisions_max, decision_kept) {}

Task<net::HttpResponse> VisibilityHandler::handle(net::HttpRequest request) {
  const std::string path = request.target.substr(0, request.target.find('?'));
  if (is_probe(path)) co_return to_response({200, "text/plain; charset=utf-8", "ok"});
  std::optional<User> user;
  if (proxy_) user = user_of(*proxy_, request.peer.common_name, request.headers.fields());
  if (!user) co_return to_response(unauthorized());
  const Attributes what = attributes_of(request.method, request.target);
  if (!always_allowed(*user)) {
    const Result<Decision> decision = co_await decide(*user, what);
    if (!decision) {
      deps_.log.warning("cannot ask whether a user may read pending workloads",
                        {{"error", decision.error().what()}});
      co_return to_response(unavailable("the API server cannot be asked whether this is allowed"));
    }
    if (!decision->allowed) {
      co_return to_response(
          forbidden(refusal_of(*user, what, decision->reason), refusal_details(what)));
    }
  }
  co_return to_response(page(request));
}

Task<Result<Decision>> VisibilityHandler::decide(User user, Attributes what) {
  const std::string review = dump_json(review_of(user, what));
  if (const Decision* kept = cache_.find(review, deps_.clock.steady())) co_return *kept;
  if (asking_ >= questions_max) co_return Error(Errc::unavailable, "too many questions at once");
  const Counted counted(&asking_);
  const Result<std::string> answer = co_await deps_.client.create_raw(reviews, "", review);
  if (!answer) co_return answer.error();
  const Result<Json> read = parse_json(*answer);
  if (!read) co_return read.error();
  const Json& status = object_or_empty(*read, {"status"});
  const Decision decision{true_at(status, "allowed"), text_at(status, "reason")};
  cache_.put(review, decision, deps_.clock.steady());
  co_return decision;
}

Answer VisibilityHandler::page(const net::HttpRequest& request) const {
  Answer out;
  const Query query{request.method, request.target, std::string(request.headers.get("Accept"))};
  const bool answered =
      deps_.with_source([&](const Source& source) { out = answer(query, source); });
  return answered ? out : unavailable("the caches are being filled");
}

}  // namespace regatta::visibility
