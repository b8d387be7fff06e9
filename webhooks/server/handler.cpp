#include "webhooks/server/handler.h"

#include "webhooks/conversion.h"

#include <nlohmann/json.hpp>

namespace regatta::webhooks {
namespace {

net::HttpResponse json_response(unsigned status, const Json& body) {
  net::HttpResponse response(status, body.is_null() ? std::string() : dump_json(body));
  if (!body.is_null()) response.headers.set("Content-Type", "application/json");
  return response;
}

}  // namespace

void WebhookHandler::add(std::string path, Reviewer reviewer) {
  others_.insert_or_assign(std::move(path), std::move(reviewer));
}

bool WebhookHandler::answers(std::string_view path) const {
  return path == conversion_path || endpoint_at(path) || others_.contains(path);
}

Task<net::HttpResponse> WebhookHandler::handle(net::HttpRequest request) {
  // The API server adds ?timeout=10s.
  const std::string path = request.target.substr(0, request.target.find('?'));
  const bool converts = path == conversion_path;
  const auto endpoint = endpoint_at(path);
  const auto other = others_.find(path);
  if (!converts && !endpoint && other == others_.end()) {
    co_return net::HttpResponse(404, "there is no webhook here\n");
  }
  if (request.method != "POST") co_return net::HttpResponse(405, "only POST is possible here\n");
  if (converts) {
    const ConversionAnswer converted = convert_review(request.body, gates_);
    co_return json_response(static_cast<unsigned>(converted.http_status), converted.review);
  }
  const std::string_view type = request.headers.get("Content-Type");
  if (type != "application/json") {
    co_return json_response(
        200, unreadable_review("contentType=" + std::string(type) + ", expected application/json"));
  }
  if (endpoint) co_return json_response(200, review_body(*endpoint, request.body, gates_));
  co_return json_response(200, co_await review(other->second, request.body));
}

Task<Json> WebhookHandler::review(const Reviewer& reviewer, const std::string& body) const {
  Result<OpenReview> open = read_review(body);
  if (!open) co_return unreadable_review(open.error().what());
  const Verdict verdict = co_await reviewer(open->request);
  co_return answer_to(std::move(*open), verdict);
}

net::HttpServerOptions webhook_server_options() {
  net::HttpServerOptions options;
  options.body_max = review_bytes_max;
  options.bodies_max = reviews_bytes_max;
  options.connections_max = 256;
  options.makes_room = true;
  options.request_max = std::chrono::seconds(10);
  options.write_max = std::chrono::seconds(10);
  return options;
}

}  // namespace regatta::webhooks
