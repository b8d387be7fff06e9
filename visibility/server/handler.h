#pragma once

#include "lib/base/log.h"
#include "lib/kube/client.h"
#include "lib/net/http.h"
#include "visibility/access.h"
#include "visibility/api.h"
#include "visibility/front_proxy.h"
#include "visibility/server/permissions.h"

#include <functional>
#include <memory>

namespace regatta::visibility {

/// What the handler asks the manager for.
struct HandlerDeps {
  kube::Client& client;  ///< creates the SubjectAccessReviews; every replica may
  Clock& clock;
  Log log;
  /// Calls `answer` with the queues as they are now; false while the caches are being filled.
  std::function<bool(const std::function<void(const Source&)>& answer)> with_source;
};

/// Answers requests that an API server passes on, if their users may read the pages.
class VisibilityHandler final : public net::HttpHandler {
 public:
  explicit VisibilityHandler(HandlerDeps deps);

  /// Until this is called, no client is known.
  void trust(FrontProxy proxy) { proxy_ = std::move(proxy); }
  Task<net::HttpResponse> handle(net::HttpRequest request) override;

 private:
  Answer page(const net::HttpRequest& request) const;

  HandlerDeps deps_;
  std::optional<FrontProxy> proxy_;
  Permissions permissions_;
};

}  // namespace regatta::visibility
