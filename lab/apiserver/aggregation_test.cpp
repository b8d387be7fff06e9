#include "lab/apiserver/server.h"
#include "lib/base/base64.h"
#include "lib/base/json_access.h"
#include "lib/runtime/task_scope.h"
#include "lib/sim/world.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::apiserver {
namespace {

using namespace std::chrono_literals;

/// The server of an APIService.
class FakeServer final : public Outgoing, public net::HttpSender {
 public:
  std::vector<net::HttpRequest> requests;
  Peer peer;
  bool down = false;

  Result<std::shared_ptr<net::HttpSender>> to(const Peer& wanted) override {
    peer = wanted;
    return std::shared_ptr<net::HttpSender>(std::shared_ptr<void>(), this);
  }
  Task<Result<net::HttpResponse>> send(net::HttpRequest request, net::SendOptions) override {
    requests.push_back(request);
    if (down) co_return Error(Errc::unavailable, "192.0.2.1:8082: Connection refused");
    const Json list = {{"kind", "APIResourceList"},
                       {"groupVersion", "remote.dev/v1"},
                       {"resources",
                        {{{"name", "things"},
                          {"singularName", ""},
                          {"namespaced", true},
                          {"kind", "Thing"},
                          {"verbs", {"get"}}},
                         {{"name", "things/pages"},
                          {"singularName", ""},
                          {"namespaced", true},
                          {"kind", "Page"},
                          {"verbs", {"get"}}}}}};
    const bool discovery = request.target == "/apis/remote.dev/v1";
    co_return net::HttpResponse(discovery ? 200 : 418, discovery ? list.dump() : "a page");
  }
};

class AggregationTest : public ::testing::Test {
 protected:
  AggregationTest() : world_(3), scope_(world_.executor()) {
    remote_ = std::make_shared<FakeServer>();
    ServerOptions options;
    options.front_proxy = {remote_, "front-proxy-client", "the authority", "of users"};
    options.tokens["admin"] = UserInfo{"admin", "", {"system:masters"}, {}};
    server_ = std::make_unique<Server>(world_.executor(), world_, world_.rng, options);
    scope_.spawn("server", server_->run());
  }
  ~AggregationTest() override {
    scope_.stop();
    world_.settle();
  }

  using Answered = std::shared_ptr<std::optional<net::HttpResponse>>;
  net::HttpResponse send(std::string method, std::string target, const Json& body = nullptr,
                         net::Headers headers = {}) {
    net::HttpRequest request(std::move(method), std::move(target));
    request.headers = std::move(headers);
    request.headers.set("Authorization", "Bearer admin");
    if (!body.is_null()) request.body = body.dump();
    auto answered = std::make_shared<std::optional<net::HttpResponse>>();
    scope_.spawn("request", exchange(std::move(request), answered));
    world_.run_for(1s, [&] { return answered->has_value(); });
    return answered->has_value() ? **answered : net::HttpResponse(0, "");
  }
  Task<> exchange(net::HttpRequest request, Answered into) {
    *into = co_await server_->handle(std::move(request));
  }

  void register_service() {
    const Json spec = {{"group", "remote.dev"},
                       {"version", "v1"},
                       {"groupPriorityMinimum", 100},
                       {"versionPriority", 100},
                       {"caBundle", base64_encode("an authority")},
                       {"service", {{"name", "svc"}, {"namespace", "default"}}}};
    ASSERT_EQ(send("POST", "/apis/apiregistration.k8s.io/v1/apiservices",
                   {{"metadata", {{"name", "v1.remote.dev"}}}, {"spec", spec}})
                  .status,
              201u);
    ASSERT_EQ(send("POST", "/api/v1/namespaces/default/services",
                   {{"metadata", {{"name", "svc"}}}, {"spec", {{"ports", {{{"port", 443}}}}}}})
                  .status,
              201u);
    const Json slice = {
        {"metadata", {{"name", "svc-1"}, {"labels", {{"kubernetes.io/service-name", "svc"}}}}},
        {"addressType", "IPv4"},
        {"ports", {{{"name", ""}, {"port", 8082}}}},
        {"endpoints", {{{"addresses", {"192.0.2.1"}}}}}};
    ASSERT_EQ(
        send("POST", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", slice).status,
        201u);
  }
  Json available() {
    const Json service =
        Json::parse(send("GET", "/apis/apiregistration.k8s.io/v1/apiservices/v1.remote.dev").body);
    const Json& conditions = list_or_empty(object_or_empty(service, {"status"}), "conditions");
    return conditions.empty() ? Json() : conditions[0];
  }

  sim::World world_;
  std::shared_ptr<FakeServer> remote_;
  std::unique_ptr<Server> server_;
  TaskScope scope_;
};

TEST_F(AggregationTest, ARequestIsPassedOnForItsUser) {
  register_service();
  EXPECT_EQ(send("GET", "/apis/remote.dev/v1/namespaces/a/things/b").status, 503u);
  world_.run_for(3s);
  EXPECT_EQ(text_at(available(), "status"), "True") << available().dump();
  const net::HttpResponse answer =
      send("GET", "/apis/remote.dev/v1/namespaces/a/things/b?limit=1", nullptr,
           {{"X-Remote-User", "mallory"}, {"X-Remote-Extra-Scopes", "everything"}});
  EXPECT_EQ(answer.status, 418u);
  EXPECT_EQ(answer.body, "a page");
  const net::HttpRequest& passed = remote_->requests.back();
  EXPECT_EQ(passed.target, "/apis/remote.dev/v1/namespaces/a/things/b?limit=1");
  EXPECT_EQ(passed.headers.get("X-Remote-User"), "admin");
  EXPECT_EQ(passed.headers.get("X-Remote-Group"), "system:masters");
  EXPECT_FALSE(passed.headers.has("Authorization"));
  EXPECT_FALSE(passed.headers.has("X-Remote-Extra-Scopes"));
  EXPECT_EQ(remote_->peer.server_name, "svc.default.svc");
}

TEST_F(AggregationTest, DiscoveryListsTheGroupWhileItsServerIsAvailable) {
  register_service();
  world_.run_for(3s);
  EXPECT_NE(send("GET", "/apis").body.find("remote.dev/v1"), std::string::npos);
  const std::string aggregated =
      send("GET", "/apis", nullptr,
           {{"Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}})
          .body;
  EXPECT_NE(aggregated.find("\"subresource\":\"pages\""), std::string::npos) << aggregated;
  remote_->down = true;
  world_.run_for(12s);
  EXPECT_EQ(text_at(available(), "status"), "False");
  EXPECT_EQ(text_at(available(), "reason"), "FailedDiscoveryCheck");
  EXPECT_EQ(send("GET", "/apis").body.find("remote.dev/v1"), std::string::npos);
  EXPECT_EQ(send("GET", "/apis/remote.dev/v1/namespaces/a/things/b").status, 503u);
}

TEST_F(AggregationTest, AConfigMapSaysWhomToBelieve) {
  const Json map = Json::parse(
      send("GET", "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication")
          .body);
  EXPECT_EQ(map["data"]["requestheader-client-ca-file"], "the authority");
  EXPECT_EQ(map["data"]["requestheader-allowed-names"], R"(["front-proxy-client"])");
}

}  // namespace
}  // namespace regatta::apiserver
