#include "manager/webhooks/tls_port.h"

#include "lib/net/http_client.h"
#include "lib/net/pki.h"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

namespace regatta::manager {
namespace {

using namespace std::chrono_literals;

struct Greets final : net::HttpHandler {
  Task<net::HttpResponse> handle(net::HttpRequest request) override {
    co_return net::HttpResponse(200, request.peer.common_name);
  }
};

class TlsPortTest : public testing::Test {
 protected:
  TlsPortTest() {
    const auto own = *servers_.issue_server({"x", {}, {"127.0.0.1"}}, clock_.now(), 24h);
    tls_.certificate_pem = own.certificate_pem;
    tls_.key_pem = own.key_pem;
  }

  /// What two requests over one connection are answered with, `between` which something happens.
  std::vector<std::string> ask_twice(const std::function<void()>& between) {
    std::vector<std::string> answers;
    auto body = [&]() -> Task<> {
      const auto mine = *first_.issue_client("caller", {}, clock_.now(), 24h);
      net::TlsClientOptions options;
      options.ca_pem = servers_.certificate_pem();
      options.certificate_pem = mine.certificate_pem;
      options.key_pem = mine.key_pem;
      const auto dialer = net::TlsDialer::create(clock_, options);
      net::HttpClient client(io_.get_executor(), clock_, *dialer, "127.0.0.1", port_.port());
      for (int i = 0; i < 2; ++i) {
        const auto answer = co_await client.send(net::HttpRequest("GET", "/"), {});
        answers.push_back(answer ? answer->body : "none");
        if (i == 0) between();
      }
      scope_.stop();
    };
    scope_.spawn("client", body());
    io_.run();
    return answers;
  }

  boost::asio::io_context io_{1};
  SystemClock clock_;
  Greets handler_;
  net::CertificateAuthority servers_ =
      *net::CertificateAuthority::create("servers", clock_.now(), 24h);
  net::CertificateAuthority first_ = *net::CertificateAuthority::create("first", clock_.now(), 24h);
  net::CertificateAuthority second_ =
      *net::CertificateAuthority::create("second", clock_.now(), 24h);
  net::TlsServerOptions tls_;
  TaskScope scope_{io_.get_executor()};
  TlsPort port_{scope_, clock_, Log(), {"pages", "port", "127.0.0.1", 0}, handler_, {}};
};

TEST_F(TlsPortTest, OtherCertificatesOfItsOwnDisturbNoConnection) {
  tls_.client_ca_pem = first_.certificate_pem();
  ASSERT_TRUE(port_.offer(tls_));
  const auto other = *second_.issue_server({"x", {}, {"127.0.0.1"}}, clock_.now(), 24h);
  const auto answers = ask_twice([&] {
    tls_.certificate_pem = other.certificate_pem;
    tls_.key_pem = other.key_pem;
    EXPECT_TRUE(port_.offer(tls_));
  });
  EXPECT_EQ(answers, (std::vector<std::string>{"caller", "caller"}));
}

TEST_F(TlsPortTest, WhatAFormerAuthorityHasSignedCountsNoLonger) {
  tls_.client_ca_pem = first_.certificate_pem();
  ASSERT_TRUE(port_.offer(tls_));
  const auto answers = ask_twice([&] {
    tls_.client_ca_pem = second_.certificate_pem();
    EXPECT_TRUE(port_.offer(tls_));
  });
  EXPECT_EQ(answers, (std::vector<std::string>{"caller", "none"}));
}

}  // namespace
}  // namespace regatta::manager
