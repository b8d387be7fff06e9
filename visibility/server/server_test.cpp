#include "visibility/server/server.h"

#include "admission/state.h"
#include "lib/base/json_access.h"
#include "lib/net/handler_sender.h"
#include "lib/net/http_client.h"
#include "lib/net/pki.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::visibility {
namespace {

using namespace std::chrono_literals;

constexpr Duration day = std::chrono::hours(24);
constexpr const char* page =
    "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/main/"
    "pendingworkloads";

/// The API server of the cluster, as far as the visibility server needs it.
class Cluster final : public net::HttpHandler {
 public:
  Task<net::HttpResponse> handle(net::HttpRequest request) override {
    if (request.method == "GET") co_return config_map();
    ++reviews;
    const auto review = parse_json(request.body);
    last_review = review ? *review : Json();
    if (broken) co_return net::HttpResponse(500, "{}");
    Json answer = last_review;
    answer["status"] = Json{{"allowed", text_at(last_review, {"spec", "user"}) == "ann"}};
    net::HttpResponse response(201, dump_json(answer));
    response.headers.set("Content-Type", "application/json");
    co_return response;
  }

  std::string ca_pem;
  int reviews = 0;
  Json last_review;
  bool broken = false;

 private:
  net::HttpResponse config_map() const {
    const Json map{{"apiVersion", "v1"},
                   {"kind", "ConfigMap"},
                   {"metadata",
                    {{"name", "extension-apiserver-authentication"}, {"namespace", "kube-system"}}},
                   {"data",
                    {{"requestheader-client-ca-file", ca_pem},
                     {"requestheader-allowed-names", R"(["front-proxy"])"},
                     {"requestheader-username-headers", R"(["X-Remote-User"])"},
                     {"requestheader-group-headers", R"(["X-Remote-Group"])"}}}};
    net::HttpResponse response(200, dump_json(map));
    response.headers.set("Content-Type", "application/json");
    return response;
  }
};

/// The visibility server on loopback, over real TLS.
class VisibilityOverHttps : public testing::Test {
 protected:
  VisibilityOverHttps() {
    cluster.ca_pem = proxies.certificate_pem();
    ServerOptions options;
    options.address = "127.0.0.1";
    options.port = 0;
    const auto own = *servers.issue_server({"x", {}, {"127.0.0.1"}}, clock.now(), day);
    options.certificate_pem = own.certificate_pem;
    options.key_pem = own.key_pem;
    server.emplace(io.get_executor(),
                   HandlerDeps{client, clock, Log(),
                               [this](const auto& answer) {
                                 if (!ready) return false;
                                 const admission::StatusReader reader = state.reader();
                                 answer(Source{reader, [](const auto&) { return std::nullopt; }});
                                 return true;
                               }},
                   options);
    present(proxies, "front-proxy");
  }

  void TearDown() override {
    scope.stop();
    io.run();
  }

  void present(const net::CertificateAuthority& authority, const std::string& name) {
    const auto pair = authority.issue_client(name, {}, clock.now(), day);
    certificate = *pair;
  }

  Task<std::unique_ptr<net::HttpClient>> connected() {
    while (server->port() == 0) co_await asio::post(io, asio::use_awaitable);
    net::TlsClientOptions options;
    options.ca_pem = servers.certificate_pem();
    options.certificate_pem = certificate.certificate_pem;
    options.key_pem = certificate.key_pem;
    const auto dialer = net::TlsDialer::create(clock, options);
    co_return std::make_unique<net::HttpClient>(io.get_executor(), clock, *dialer, "127.0.0.1",
                                                server->port());
  }

  Task<> exchange(std::vector<net::HttpRequest> requests,
                  std::vector<Result<net::HttpResponse>>* answers) {
    const auto http = co_await connected();
    for (net::HttpRequest& request : requests) {
      net::SendOptions send;
      send.deadline = clock.steady() + 10s;
      answers->push_back(co_await http->send(std::move(request), send));
    }
  }

  /// The answers to these requests, one after the other.
  std::vector<Result<net::HttpResponse>> ask(std::vector<net::HttpRequest> requests) {
    std::vector<Result<net::HttpResponse>> answers;
    bool done = false;
    auto body = [&]() -> Task<> {
      co_await exchange(std::move(requests), &answers);
      done = true;
    };
    if (!std::exchange(started, true)) scope.spawn("server", server->run());
    scope.spawn("client", body());
    while (!done) io.run_one();
    return answers;
  }
  static net::HttpRequest as(const std::string& user, const std::string& target = page) {
    net::HttpRequest request("GET", target);
    request.headers.set("X-Remote-User", user);
    request.headers.set("X-Remote-Group", user == "root" ? "system:masters" : "dev");
    return request;
  }
  /// The status of one answer; 0 when there is none.
  unsigned status_of(const net::HttpRequest& request) {
    const auto answers = ask({request});
    return answers.front() ? answers.front()->status : 0;
  }

  asio::io_context io{1};
  SystemClock clock;
  Rng rng{1};
  Cluster cluster;
  net::CertificateAuthority servers =
      *net::CertificateAuthority::create("servers", clock.now(), day);
  net::CertificateAuthority proxies =
      *net::CertificateAuthority::create("front-proxy-ca", clock.now(), day);
  net::CertificateAuthority others =
      *net::CertificateAuthority::create("other-ca", clock.now(), day);
  net::HandlerSender sender{clock, cluster};
  kube::Client client{{sender, clock, rng, nullptr, {}}};
  net::KeyPair certificate;
  admission::State state;
  bool ready = true;
  bool started = false;
  std::optional<VisibilityServer> server;
  TaskScope scope{io.get_executor()};
};

TEST_F(VisibilityOverHttps, AUserWhomTheApiServerAllowsIsAnswered) {
  const auto answers = ask({as("ann")});
  ASSERT_TRUE(answers.front()) << answers.front().error().what();
  EXPECT_EQ(answers.front()->status, 404u);
  EXPECT_NE(answers.front()->body.find("clusterqueue.visibility.kueue.x-k8s.io"),
            std::string::npos);
  EXPECT_EQ(text_at(cluster.last_review, {"spec", "resourceAttributes", "subresource"}),
            "pendingworkloads");
}

TEST_F(VisibilityOverHttps, AUserWhoMayNotIsForbidden) {
  EXPECT_EQ(status_of(as("bob")), 403u);
}

TEST_F(VisibilityOverHttps, ADecisionIsAskedForOnce) {
  ask({as("ann"), as("ann"), as("ann"), as("bob"), as("bob")});
  EXPECT_EQ(cluster.reviews, 2);
  ask({as("ann", "/apis/visibility.kueue.x-k8s.io/v1beta2")});
  EXPECT_EQ(cluster.reviews, 3);
}

TEST_F(VisibilityOverHttps, MastersAreNotAskedAbout) {
  EXPECT_EQ(status_of(as("root", "/apis")), 200u);
  EXPECT_EQ(cluster.reviews, 0);
}

TEST_F(VisibilityOverHttps, HeadersOfAClientThatIsNoApiServerAreNotBelieved) {
  certificate = {};
  EXPECT_EQ(status_of(as("root")), 401u);
  present(proxies, "some-client");
  EXPECT_EQ(status_of(as("root")), 401u);
  EXPECT_EQ(cluster.reviews, 0);
}

TEST_F(VisibilityOverHttps, ACertificateOfAnotherAuthorityEndsTheConnection) {
  present(others, "front-proxy");
  EXPECT_EQ(status_of(as("root")), 0u);
}

TEST_F(VisibilityOverHttps, WhatAFormerAuthorityHasSignedCountsNoLonger) {
  std::vector<Result<net::HttpResponse>> answers;
  bool done = false;
  auto body = [&]() -> Task<> {
    const auto http = co_await connected();
    answers.push_back(co_await http->send(as("root", "/apis"), {}));
    cluster.ca_pem = others.certificate_pem();
    EXPECT_TRUE(co_await server->follow());
    answers.push_back(co_await http->send(as("root", "/apis"), {}));
    done = true;
  };
  scope.spawn("server", server->run());
  scope.spawn("client", body());
  while (!done) io.run_one();
  ASSERT_TRUE(answers[0]);
  EXPECT_EQ(answers[0]->status, 200u);
  EXPECT_FALSE(answers[1]) << answers[1]->status;
  started = true;
  present(others, "front-proxy");
  EXPECT_EQ(status_of(as("root", "/apis")), 200u);
}

TEST_F(VisibilityOverHttps, WhatCannotBeAskedIsNotAllowed) {
  cluster.broken = true;
  EXPECT_EQ(status_of(as("ann")), 503u);
  cluster.broken = false;
  EXPECT_EQ(status_of(as("ann")), 404u);
}

TEST_F(VisibilityOverHttps, APageWaitsForTheCaches) {
  ready = false;
  EXPECT_EQ(status_of(as("root")), 503u);
}

TEST_F(VisibilityOverHttps, ProbesNeedNoUser) {
  certificate = {};
  EXPECT_EQ(status_of(net::HttpRequest("GET", "/readyz")), 200u);
}

TEST_F(VisibilityOverHttps, NoPortIsOpenBeforeTheClusterHasSaidWhomToTrust) {
  cluster.ca_pem.clear();
  scope.spawn("server", server->run());
  for (int i = 0; i < 100; ++i) io.poll();
  EXPECT_EQ(server->port(), 0);
}

}  // namespace
}  // namespace regatta::visibility
