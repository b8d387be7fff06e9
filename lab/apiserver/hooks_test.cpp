#include "lab/apiserver/server.h"
#include "lib/base/base64.h"
#include "lib/base/json_access.h"
#include "lib/runtime/task_scope.h"
#include "lib/sim/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::apiserver {
namespace {

using ::testing::HasSubstr;

/// A webhook server whose answers a test decides.
class FakeHooks final : public Outgoing, public net::HttpSender {
 public:
  struct Call {
    Peer peer;
    net::HttpRequest request;
    Json review;
  };
  /// The response of an AdmissionReview, without its uid.
  std::function<Json(const Call&)> answer = [](const Call&) { return Json{{"allowed", true}}; };
  Duration delay{};
  std::vector<Call> calls;

  explicit FakeHooks(Clock& clock) : clock_(clock) {}

  Result<std::shared_ptr<net::HttpSender>> to(const Peer& peer) override {
    peer_ = peer;
    return std::shared_ptr<net::HttpSender>(std::shared_ptr<void>(), this);
  }
  Task<Result<net::HttpResponse>> send(net::HttpRequest request, net::SendOptions) override {
    calls.push_back({peer_, request, Json::parse(request.body)});
    const Call call = calls.back();
    if (delay > Duration::zero()) co_await clock_.sleep_for(delay);
    Json response = answer(call);
    response["uid"] = call.review["request"]["uid"];
    const Json review = {{"kind", "AdmissionReview"},
                         {"apiVersion", call.review["apiVersion"]},
                         {"response", std::move(response)}};
    co_return net::HttpResponse(200, review.dump());
  }

 private:
  Clock& clock_;
  Peer peer_;
};

class HooksTest : public ::testing::Test {
 protected:
  HooksTest() : world_(3), scope_(world_.executor()) {
    hooks_ = std::make_shared<FakeHooks>(world_);
    ServerOptions options;
    options.outgoing = hooks_;
    options.tokens["admin"] = UserInfo{"admin", "", {"system:masters"}, {}};
    server_ = std::make_unique<Server>(world_.executor(), world_, world_.rng, options);
  }
  ~HooksTest() override {
    scope_.stop();
    world_.settle();
  }

  using Answered = std::shared_ptr<std::optional<net::HttpResponse>>;

  /// Starts a request; the answer comes while the world runs.
  Answered start(std::string method, std::string target, const Json& body = nullptr) {
    net::HttpRequest request(std::move(method), std::move(target));
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
  net::HttpResponse send(std::string method, std::string target, const Json& body = nullptr) {
    const Answered answered = start(std::move(method), std::move(target), body);
    world_.run_for(std::chrono::seconds(20), [&] { return answered->has_value(); });
    return answered->has_value() ? **answered : net::HttpResponse(0, "");
  }
  Task<> exchange(net::HttpRequest request, Answered into) {
    *into = co_await server_->handle(std::move(request));
  }

  static Json hook(const Json& changes = Json::object()) {
    Json hook = {{"name", "h.example.dev"},
                 {"clientConfig",
                  {{"url", "https://127.0.0.1:9443/h"}, {"caBundle", base64_encode("authority")}}},
                 {"rules",
                  {{{"operations", {"*"}},
                    {"apiGroups", {""}},
                    {"apiVersions", {"v1"}},
                    {"resources", {"configmaps"}}}}},
                 {"admissionReviewVersions", {"v1"}},
                 {"sideEffects", "None"}};
    hook.update(changes);
    return hook;
  }
  void configure(const std::string& plural, const Json& hook) {
    const net::HttpResponse made = send("POST", "/apis/admissionregistration.k8s.io/v1/" + plural,
                                        {{"metadata", {{"name", "c"}}}, {"webhooks", {hook}}});
    ASSERT_EQ(made.status, 201u) << made.body;
  }
  net::HttpResponse create(const std::string& name) {
    return send("POST", maps, {{"metadata", {{"name", name}}}, {"data", {{"k", "v"}}}});
  }

  static constexpr const char* maps = "/api/v1/namespaces/default/configmaps";
  sim::World world_;
  std::shared_ptr<FakeHooks> hooks_;
  std::unique_ptr<Server> server_;
  TaskScope scope_;
};

Json patch_answer(const Json& operations) {
  return {
      {"allowed", true}, {"patchType", "JSONPatch"}, {"patch", base64_encode(operations.dump())}};
}

TEST_F(HooksTest, AMutatingWebhookChangesWhatIsStored) {
  configure("mutatingwebhookconfigurations", hook());
  hooks_->answer = [](const FakeHooks::Call&) {
    return patch_answer({{{"op", "add"}, {"path", "/data/added"}, {"value", "yes"}}});
  };
  const Json made = Json::parse(create("a").body);
  EXPECT_EQ(made["data"]["added"], "yes");
  EXPECT_EQ(Json::parse(send("GET", std::string(maps) + "/a").body)["data"]["added"], "yes");
}

TEST_F(HooksTest, AnUpdateIsJudgedAgainWhenTheObjectChangedDuringTheCall) {
  ASSERT_EQ(create("a").status, 201u);
  configure("validatingwebhookconfigurations", hook());
  hooks_->delay = std::chrono::seconds(1);
  const Answered first = start("PATCH", std::string(maps) + "/a", {{"data", {{"first", "1"}}}});
  hooks_->delay = Duration::zero();
  ASSERT_EQ(send("PATCH", std::string(maps) + "/a", {{"data", {{"second", "2"}}}}).status, 200u);
  world_.run_for(std::chrono::seconds(5));
  ASSERT_TRUE(first->has_value());
  EXPECT_EQ((*first)->status, 200u) << (*first)->body;
  const Json live = Json::parse(send("GET", std::string(maps) + "/a").body);
  EXPECT_EQ(text_at(live, {"data", "first"}), "1");
  EXPECT_EQ(text_at(live, {"data", "second"}), "2") << "the second write was overwritten";
  ASSERT_EQ(hooks_->calls.size(), 3u);
  EXPECT_EQ(hooks_->calls[2].review["request"]["oldObject"]["data"]["second"], "2");
}

TEST_F(HooksTest, APutOfAnOldVersionConflictsWhenTheObjectChangedDuringTheCall) {
  Json object = Json::parse(create("a").body);
  configure("validatingwebhookconfigurations", hook());
  hooks_->delay = std::chrono::seconds(1);
  object["data"]["first"] = "1";
  const Answered first = start("PUT", std::string(maps) + "/a", object);
  hooks_->delay = Duration::zero();
  ASSERT_EQ(send("PATCH", std::string(maps) + "/a", {{"data", {{"second", "2"}}}}).status, 200u);
  world_.run_for(std::chrono::seconds(5));
  ASSERT_TRUE(first->has_value());
  EXPECT_EQ((*first)->status, 409u) << (*first)->body;
}

TEST_F(HooksTest, ADeletionCanBeRefused) {
  ASSERT_EQ(create("a").status, 201u);
  configure("validatingwebhookconfigurations", hook());
  hooks_->answer = [](const FakeHooks::Call&) {
    return Json{{"allowed", false}, {"status", {{"code", 403}, {"message", "keep it"}}}};
  };
  const net::HttpResponse refused = send("DELETE", std::string(maps) + "/a");
  EXPECT_EQ(refused.status, 403u);
  EXPECT_THAT(refused.body, HasSubstr("denied the request: keep it"));
  EXPECT_EQ(send("GET", std::string(maps) + "/a").status, 200u);
}

TEST_F(HooksTest, AServiceIsCalledAtAReadyEndpointUnderItsName) {
  const Json by_service = {
      {"clientConfig",
       {{"service", {{"namespace", "default"}, {"name", "svc"}, {"path", "/h"}}},
        {"caBundle", base64_encode("authority")}}}};
  configure("validatingwebhookconfigurations", hook(by_service));
  EXPECT_THAT(create("a").body, HasSubstr("service \\\"svc\\\" not found"));
  ASSERT_EQ(send("POST", "/api/v1/namespaces/default/services",
                 {{"metadata", {{"name", "svc"}}},
                  {"spec", {{"ports", {{{"name", "webhook"}, {"port", 443}}}}}}})
                .status,
            201u);
  EXPECT_THAT(create("a").body, HasSubstr("no endpoints available for service \\\"svc\\\""));
  const Json slice = {
      {"metadata", {{"name", "svc-1"}, {"labels", {{"kubernetes.io/service-name", "svc"}}}}},
      {"addressType", "IPv4"},
      {"ports", {{{"name", "webhook"}, {"port", 9443}}, {{"name", "other"}, {"port", 1}}}},
      {"endpoints",
       {{{"addresses", {"192.0.2.1"}}, {"conditions", {{"ready", false}}}},
        {{"addresses", {"192.0.2.2"}}, {"conditions", {{"ready", true}}}}}}};
  ASSERT_EQ(
      send("POST", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", slice).status,
      201u);
  EXPECT_EQ(create("a").status, 201u);
  ASSERT_EQ(hooks_->calls.size(), 1u);
  const FakeHooks::Call& call = hooks_->calls[0];
  EXPECT_EQ(call.peer.host, "192.0.2.2");
  EXPECT_EQ(call.peer.port, 9443);
  EXPECT_EQ(call.peer.server_name, "svc.default.svc");
  EXPECT_EQ(call.peer.ca_pem, "authority");
  EXPECT_EQ(call.request.target, "/h?timeout=10s");
}

TEST_F(HooksTest, OnlyWritesOfSelectedNamespacesAreShown) {
  const Json selector = {
      {"matchExpressions",
       {{{"key", "kubernetes.io/metadata.name"}, {"operator", "NotIn"}, {"values", {"default"}}}}}};
  configure("validatingwebhookconfigurations", hook({{"namespaceSelector", selector}}));
  EXPECT_EQ(create("a").status, 201u);
  EXPECT_TRUE(hooks_->calls.empty());
  EXPECT_EQ(
      send("POST", "/api/v1/namespaces/kube-public/configmaps", {{"metadata", {{"name", "a"}}}})
          .status,
      201u);
  EXPECT_EQ(hooks_->calls.size(), 1u);
}

TEST_F(HooksTest, WebhookConfigurationsAreNeverShown) {
  const Json everything = {{"rules",
                            {{{"operations", {"*"}},
                              {"apiGroups", {"*"}},
                              {"apiVersions", {"*"}},
                              {"resources", {"*/*"}}}}}};
  configure("validatingwebhookconfigurations", hook(everything));
  hooks_->answer = [](const FakeHooks::Call&) { return Json{{"allowed", false}}; };
  EXPECT_EQ(create("a").status, 400u);
  EXPECT_EQ(
      send("DELETE", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/c")
          .status,
      200u);
  EXPECT_EQ(create("a").status, 201u);
}

}  // namespace
}  // namespace regatta::apiserver
