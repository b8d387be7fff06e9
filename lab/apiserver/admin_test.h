#pragma once

#include "lab/apiserver/server.h"
#include "lib/runtime/task_scope.h"
#include "lib/sim/world.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <string>

namespace regatta::apiserver {

/// A server in a simulated world, and an administrator's requests to it.
class AdminTest : public ::testing::Test {
 protected:
  using Answered = std::shared_ptr<std::optional<net::HttpResponse>>;

  AdminTest() : world_(3), scope_(world_.executor()) {}
  ~AdminTest() override {
    scope_.stop();
    world_.settle();
  }

  void open(ServerOptions options) {
    options.tokens["admin"] = UserInfo{"admin", "", {"system:masters"}, {}};
    server_ = std::make_unique<Server>(world_.executor(), world_, world_.rng, std::move(options));
  }

  /// Starts a request; the answer comes while the world runs. A PATCH is a merge patch.
  Answered start(std::string method, std::string target, const Json& body = nullptr,
                 net::Headers headers = {}) {
    net::HttpRequest request(std::move(method), std::move(target));
    request.headers = std::move(headers);
    request.headers.set("Authorization", "Bearer admin");
    if (request.method == "PATCH") {
      request.headers.set("Content-Type", "application/merge-patch+json");
    }
    if (!body.is_null()) request.body = body.dump();
    auto answered = std::make_shared<std::optional<net::HttpResponse>>();
    scope_.spawn("request", exchange(std::move(request), answered));
    world_.settle();
    return answered;
  }
  /// The answer; status 0 when there was none within 20 seconds.
  net::HttpResponse send(std::string method, std::string target, const Json& body = nullptr,
                         net::Headers headers = {}) {
    const Answered answered = start(std::move(method), std::move(target), body, std::move(headers));
    world_.run_for(std::chrono::seconds(20), [&] { return answered->has_value(); });
    return answered->has_value() ? **answered : net::HttpResponse(0, "");
  }

  sim::World world_;
  std::unique_ptr<Server> server_;
  TaskScope scope_;

 private:
  Task<> exchange(net::HttpRequest request, Answered into) {
    *into = co_await server_->handle(std::move(request));
  }
};

}  // namespace regatta::apiserver
