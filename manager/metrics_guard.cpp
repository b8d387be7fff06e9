#include "manager/metrics_guard.h"

#include "lib/base/digest.h"
#include "lib/base/json_access.h"
#include "lib/base/lower_case.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace regatta::manager {
namespace {

constexpr Duration owner_kept = std::chrono::minutes(1);
constexpr Duration refusal_kept = std::chrono::seconds(10);
constexpr Duration reader_kept = std::chrono::hours(1);
constexpr std::size_t tokens_max = 1024;
constexpr std::size_t readers_max = 256;
constexpr double questions_per_second = 10;
constexpr int questions_at_once = 20;

constexpr api::ResourceInfo token_reviews{"authentication.k8s.io", "v1", "TokenReview",
                                          "tokenreviews", false};

/// The token of "Authorization: Bearer TOKEN"; empty without one.
std::string bearer_token(const net::Headers& headers) {
  constexpr std::string_view scheme = "bearer ";
  const std::string_view value = headers.get("Authorization");
  if (lower_case(value.substr(0, scheme.size())) != scheme) return {};
  const std::size_t from = value.find_first_not_of(' ', scheme.size());
  return from == std::string_view::npos ? std::string() : std::string(value.substr(from));
}

std::vector<std::string> texts_in(const Json& list) {
  std::vector<std::string> out;
  for (const Json& text : list) {
    if (text.is_string()) out.push_back(text.get<std::string>());
  }
  return out;
}

std::optional<visibility::User> user_in(const Json& status) {
  const Json& given = object_or_empty(status, {"user"});
  visibility::User user;
  user.name = text_at(given, "username");
  if (!true_at(status, "authenticated") || user.name.empty()) return std::nullopt;
  user.groups = texts_in(list_or_empty(given, "groups"));
  for (const auto& [key, values] : object_or_empty(given, {"extra"}).items()) {
    if (values.is_array()) user.extra[key] = texts_in(values);
  }
  return user;
}

net::HttpResponse unauthorized() {
  net::HttpResponse response(401, "a bearer token is needed that this cluster accepts\n");
  response.headers.set("WWW-Authenticate", "Bearer");
  return response;
}

net::HttpResponse unavailable() {
  net::HttpResponse response(503, "the API server cannot be asked about the token now\n");
  response.headers.set("Retry-After", "1");
  return response;
}

}  // namespace

MetricsGuard::MetricsGuard(kube::Client& client, Clock& clock, Log log, net::HttpHandler& pages)
    : client_(client),
      clock_(clock),
      log_(std::move(log)),
      pages_(pages),
      tokens_(tokens_max),
      readers_(readers_max),
      questions_(clock, questions_per_second, questions_at_once),
      questions_of_readers_(clock, questions_per_second, questions_at_once),
      permissions_(client, clock) {}

Task<net::HttpResponse> MetricsGuard::handle(net::HttpRequest request) {
  const std::string token = bearer_token(request.headers);
  if (token.empty()) co_return unauthorized();
  const Result<Known> user = co_await owner_of(token);
  if (!user) {
    log_.warning("cannot ask whose token it is", {{"error", user.error().what()}});
    co_return unavailable();
  }
  if (!*user) co_return unauthorized();
  visibility::Attributes what;
  what.verb = lower_case(request.method);
  what.path = request.target.substr(0, request.target.find('?'));
  const Result<visibility::Decision> decision = co_await permissions_.decide(**user, what);
  if (!decision) {
    log_.warning("cannot ask whether a user may read metrics",
                 {{"error", decision.error().what()}});
    co_return unavailable();
  }
  if (!decision->allowed) {
    const std::string why = visibility::refusal_of(**user, what, decision->reason);
    co_return net::HttpResponse(403, why + "\n");
  }
  co_return co_await pages_.handle(std::move(request));
}

Task<Result<MetricsGuard::Known>> MetricsGuard::owner_of(std::string token) {
  const std::string digest = sha256_hex(token);
  if (const Known* kept = tokens_.find(digest, clock_.steady())) co_return *kept;
  const bool known = readers_.find(digest, clock_.steady()) != nullptr;
  kube::TokenBucket& questions = known ? questions_of_readers_ : questions_;
  if (!questions.try_take()) co_return Error(Errc::unavailable, "too many unknown tokens");
  const Json review{{"apiVersion", "authentication.k8s.io/v1"},
                    {"kind", "TokenReview"},
                    {"spec", {{"token", token}}}};
  const std::string body = dump_json(review);
  const Result<std::string> answer = co_await client_.create_raw(token_reviews, "", body);
  if (!answer) co_return answer.error();
  const Result<Json> read = parse_json(*answer);
  if (!read) co_return read.error();
  const Known user = user_in(object_or_empty(*read, {"status"}));
  tokens_.put(digest, user, clock_.steady(), user ? owner_kept : refusal_kept);
  if (user) readers_.put(digest, true, clock_.steady(), reader_kept);
  co_return user;
}

}  // namespace regatta::manager
