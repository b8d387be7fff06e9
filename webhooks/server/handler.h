#pragma once

#include "lib/net/http.h"
#include "lib/net/http_server.h"
#include "webhooks/gates.h"
#include "webhooks/review.h"

#include <functional>
#include <map>
#include <string>

namespace regatta::webhooks {

/// The verdict on a request, of one webhook. The request outlives the task.
using Reviewer = std::function<Task<Verdict>(const ReviewRequest&)>;

/// Answers admission and conversion reviews over HTTP, on the paths that upstream's webhook
/// configurations name. Those of Kueue's kinds need no state: every replica answers, leader or not.
class WebhookHandler final : public net::HttpHandler {
 public:
  explicit WebhookHandler(const Gates& gates) : gates_(gates) {}
  /// One more webhook, at that path.
  void add(std::string path, Reviewer reviewer);
  bool answers(std::string_view path) const;
  Task<net::HttpResponse> handle(net::HttpRequest request) override;

 private:
  Task<Json> review(const Reviewer& reviewer, const std::string& body) const;

  Gates gates_;
  std::map<std::string, Reviewer, std::less<>> others_;
};

/// Two objects of the largest size that an API server takes fit into a body.
constexpr std::size_t review_bytes_max = 7u << 20;
/// Of all bodies at a time. They come before anything is known of the client, and the chart gives
/// the manager 512 MiB.
constexpr std::size_t reviews_bytes_max = 64u << 20;

net::HttpServerOptions webhook_server_options();

}  // namespace regatta::webhooks
