#include "manager/metrics_port.h"

#include "lib/base/temporary_folder.h"
#include "lib/net/handler_sender.h"
#include "lib/net/http_client.h"
#include "lib/net/pki.h"
#include "lib/net/tls.h"
#include "manager/webhooks/certificate_source.h"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>

namespace regatta::manager {
namespace {

using namespace std::chrono_literals;

/// An API server that knows one token, whose user may do everything.
struct ApiServer final : net::HttpHandler {
  Task<net::HttpResponse> handle(net::HttpRequest request) override {
    const bool known = request.body.find("good") != std::string::npos;
    net::HttpResponse response(
        201, known ? R"({"status":{"authenticated":true,"user":{"username":"prometheus",)"
                     R"("groups":["system:masters"]}}})"
                   : R"({"status":{"error":"invalid bearer token"}})");
    response.headers.set("Content-Type", "application/json");
    co_return response;
  }
};
struct OnePage final : net::HttpHandler {
  Task<net::HttpResponse> handle(net::HttpRequest) override {
    co_return net::HttpResponse(200, "series");
  }
};

/// The port of metrics on loopback, over real TLS.
class MetricsOverHttps : public testing::Test {
 protected:
  MetricsOverHttps() {
    config.metrics.bind_address = "127.0.0.1:0";
    config.metrics.cert_dir = folder.string();
  }
  ~MetricsOverHttps() override {
    scope.stop();
    io.run();
  }
  Result<std::unique_ptr<MetricsPort>> make() {
    return make_metrics_port(config, {scope, clock, Log(), client, files, pages});
  }
  void write(const net::KeyPair& pair) {
    std::ofstream(folder / "tls.crt") << pair.certificate_pem;
    std::ofstream(folder / "tls.key") << pair.key_pem;
  }
  /// The status of GET /metrics for a client that trusts that authority.
  Result<net::HttpResponse> get(std::uint16_t port, const std::string& authority_pem) {
    std::optional<Result<net::HttpResponse>> out;
    const auto body = [&]() -> Task<> {
      net::TlsClientOptions options;
      options.ca_pem = authority_pem;
      const auto dialer = net::TlsDialer::create(clock, options);
      net::HttpClient http(io.get_executor(), clock, *dialer, "127.0.0.1", port);
      net::HttpRequest request("GET", "/metrics");
      request.headers.set("Authorization", "Bearer good");
      net::SendOptions send;
      send.deadline = clock.steady() + 10s;
      out.emplace(co_await http.send(std::move(request), send));
    };
    scope.spawn("client", body());
    while (!out) io.run_one();
    return std::move(*out);
  }

  asio::io_context io{1};
  SystemClock clock;
  Rng rng{1};
  ApiServer server;
  net::HandlerSender sender{clock, server};
  kube::Client client{{sender, clock, rng, nullptr, {}}};
  kubeconfig::SystemFiles files;
  TemporaryFolder folder;
  Configuration config;
  OnePage pages;
  std::unique_ptr<MetricsPort> port;
  TaskScope scope{io.get_executor()};
};

TEST_F(MetricsOverHttps, the_certificate_in_the_folder_is_used) {
  const auto authority = *net::CertificateAuthority::create("ours", clock.now(), 24h);
  const auto pair = authority.issue_server({"x", {}, {"127.0.0.1"}}, clock.now(), 1h);
  write(*pair);
  auto made = make();
  ASSERT_TRUE(made) << made.error().what();
  port = std::move(*made);
  const auto answer = get(port->port(), authority.certificate_pem());
  ASSERT_TRUE(answer) << answer.error().what();
  EXPECT_EQ(answer->body, "series");
}

TEST_F(MetricsOverHttps, without_a_certificate_the_port_has_one_of_its_own) {
  auto made = make();
  ASSERT_TRUE(made) << made.error().what();
  port = std::move(*made);
  const auto other = *net::CertificateAuthority::create("other", clock.now(), 24h);
  const auto refused = get(port->port(), other.certificate_pem());
  ASSERT_FALSE(refused) << "a client that checks certificates does not know its authority";
  EXPECT_NE(refused.error().what().find("certificate"), std::string::npos)
      << refused.error().what();
}

TEST_F(MetricsOverHttps, an_address_that_is_taken_is_an_error_at_once) {
  auto first = make();
  ASSERT_TRUE(first) << first.error().what();
  port = std::move(*first);
  config.metrics.bind_address = "127.0.0.1:" + std::to_string(port->port());
  for (const bool secure : {true, false}) {
    config.metrics.secure_serving = secure;
    const auto second = make();
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().what().find("metrics.bindAddress"), std::string::npos);
  }
  config.metrics.bind_address = "0";
  EXPECT_EQ(*make(), nullptr);
}

}  // namespace
}  // namespace regatta::manager
