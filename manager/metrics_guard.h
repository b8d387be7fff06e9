#pragma once

#include "lib/base/kept_answers.h"
#include "lib/base/log.h"
#include "lib/kube/client.h"
#include "lib/kube/token_bucket.h"
#include "lib/net/http.h"
#include "visibility/server/permissions.h"

#include <optional>
#include <string>

namespace regatta::manager {

/// Lets requests through to `pages` whose bearer token the API server knows, and whose user may do
/// that to the path (a nonResourceURL). Answers of the API server are kept: for a minute to whom a
/// token belongs, for ten seconds that a token is none and what a user may do. A flood of unknown
/// tokens costs ten questions a second, and keeps out no token that was good within the last hour.
class MetricsGuard final : public net::HttpHandler {
 public:
  /// `client` creates TokenReviews and SubjectAccessReviews; every replica may. All outlive this.
  MetricsGuard(kube::Client& client, Clock& clock, Log log, net::HttpHandler& pages);

  Task<net::HttpResponse> handle(net::HttpRequest request) override;

 private:
  /// nullopt: of no user.
  using Known = std::optional<visibility::User>;
  Task<Result<Known>> owner_of(std::string token);

  kube::Client& client_;
  Clock& clock_;
  Log log_;
  net::HttpHandler& pages_;
  KeptAnswers<Known> tokens_;  // by digests of tokens
  KeptAnswers<bool> readers_;  // digests of tokens that were good
  kube::TokenBucket questions_, questions_of_readers_;
  visibility::Permissions permissions_;
};

}  // namespace regatta::manager
