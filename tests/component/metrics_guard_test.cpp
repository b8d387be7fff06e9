#include "manager/metrics_guard.h"

#include "lib/net/handler_sender.h"
#include "tests/support/test_cluster.h"

#include <gtest/gtest.h>

namespace regatta::test_support {
namespace {

using namespace std::chrono_literals;

/// What is behind the guard.
struct OnePage final : net::HttpHandler {
  Task<net::HttpResponse> handle(net::HttpRequest) override {
    ++reads;
    co_return net::HttpResponse(200, "series");
  }
  int reads = 0;
};

class MetricsGuarded : public testing::Test {
 protected:
  net::HttpResponse ask(const std::string& authorization, const std::string& target = "/metrics",
                        const std::string& method = "GET") {
    net::HttpRequest request(method, target);
    if (!authorization.empty()) request.headers.set("Authorization", authorization);
    return run(world_, guard_.handle(std::move(request)));
  }
  unsigned status(const std::string& token, const std::string& target = "/metrics") {
    return ask("Bearer " + token, target).status;
  }
  void let_limited_read() {
    ASSERT_TRUE(cluster_.let_limited("reader", "- {nonResourceURLs: [/metrics], verbs: [get]}"));
  }
  int questions() const { return requests_.count("create"); }

  sim::World world_{1};
  TestCluster cluster_{world_, "hub"};
  RequestCounts requests_;
  Rng rng_{7};
  std::shared_ptr<kube::NetworkFaults> faults_ = std::make_shared<kube::NetworkFaults>();
  kube::FaultySender sender_{cluster_.sender(), world_, rng_, faults_};
  kube::Client client_{{sender_,
                        world_,
                        rng_,
                        std::make_shared<kube::StaticToken>(TestCluster::admin_token),
                        {.observer = [this](const auto& seen) { requests_.note(seen); }}}};
  OnePage page_;
  manager::MetricsGuard guard_{client_, world_, Log(), page_};
};

TEST_F(MetricsGuarded, only_a_token_that_the_cluster_knows_gets_an_answer) {
  EXPECT_EQ(ask("").status, 401u);
  EXPECT_EQ(ask("").headers.get("WWW-Authenticate"), "Bearer");
  EXPECT_EQ(ask("Basic YTpi").status, 401u);
  EXPECT_EQ(ask("Bearer ").status, 401u);
  EXPECT_EQ(questions(), 0) << "there was no token";
  EXPECT_EQ(status("made-up"), 401u);
  EXPECT_EQ(ask("bearer  " + std::string(TestCluster::admin_token)).body, "series");
  EXPECT_EQ(page_.reads, 1);
}

TEST_F(MetricsGuarded, a_user_needs_the_right_to_get_the_path) {
  const net::HttpResponse refused = ask("Bearer " + std::string(TestCluster::limited_token));
  EXPECT_EQ(refused.status, 403u);
  EXPECT_NE(refused.body.find("User \"limited\" cannot get path \"/metrics\""), std::string::npos)
      << refused.body;
  let_limited_read();
  EXPECT_EQ(status(TestCluster::limited_token), 403u) << "the answer is kept";
  world_.run_for(10s);
  EXPECT_EQ(status(TestCluster::limited_token, "/metrics?x=y"), 200u);
  EXPECT_EQ(status(TestCluster::limited_token, "/other"), 403u);
  EXPECT_EQ(status(TestCluster::limited_token, "/metrics/other"), 403u);
  EXPECT_EQ(ask("Bearer " + std::string(TestCluster::limited_token), "/metrics", "POST").status,
            403u);
}

TEST_F(MetricsGuarded, a_scrape_each_second_costs_a_question_every_ten_seconds) {
  let_limited_read();
  for (int i = 0; i < 60; ++i) {
    EXPECT_EQ(status(TestCluster::limited_token), 200u);
    world_.run_for(1s);
  }
  EXPECT_EQ(requests_.count("create", "tokenreviews"), 1);
  EXPECT_EQ(requests_.count("create", "subjectaccessreviews"), 6);
}

TEST_F(MetricsGuarded, a_flood_of_unknown_tokens_costs_ten_questions_a_second) {
  int refused = 0;
  for (int i = 0; i < 1000; ++i) refused += status("made-up-" + std::to_string(i)) == 503u ? 1 : 0;
  EXPECT_EQ(questions(), 20);
  EXPECT_EQ(refused, 980);
  for (int i = 0; i < 100; ++i) status("made-up-0");
  EXPECT_EQ(questions(), 20) << "that it is none is known";
  world_.run_for(1s);
  for (int i = 0; i < 1000; ++i) status("another-" + std::to_string(i));
  EXPECT_EQ(questions(), 30);
  world_.run_for(10s);
  EXPECT_EQ(status("made-up-0"), 401u);
  EXPECT_EQ(questions(), 31) << "it may be one by now";
}

TEST_F(MetricsGuarded, a_flood_of_unknown_tokens_keeps_no_reader_out) {
  let_limited_read();
  ASSERT_EQ(status(TestCluster::limited_token), 200u);
  int n = 0;
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < 200; ++j) status("made-up-" + std::to_string(n++));
    EXPECT_EQ(status(TestCluster::limited_token), 200u) << i * 10 << " s";
    world_.run_for(10s);
  }
}

/// Says whose the token was, and that it is not valid.
struct TellsOfEndedTokens final : net::HttpHandler {
  Task<net::HttpResponse> handle(net::HttpRequest) override {
    net::HttpResponse response(201, R"({"status":{"authenticated":false,"user":)"
                                    R"({"username":"root","groups":["system:masters"]}}})");
    response.headers.set("Content-Type", "application/json");
    co_return response;
  }
};

TEST_F(MetricsGuarded, an_invalid_token_has_no_owner) {
  TellsOfEndedTokens server;
  net::HandlerSender sender(world_, server);
  kube::Client client({sender, world_, rng_, nullptr, {}});
  manager::MetricsGuard guard(client, world_, Log(), page_);
  net::HttpRequest request("GET", "/metrics");
  request.headers.set("Authorization", "Bearer ended");
  EXPECT_EQ(run(world_, guard.handle(std::move(request))).status, 401u);
}

TEST_F(MetricsGuarded, a_token_that_ends_is_refused_within_a_minute) {
  EXPECT_EQ(status(TestCluster::admin_token), 200u);
  faults_->partitioned = true;
  world_.run_for(50s);
  EXPECT_EQ(status(TestCluster::admin_token), 200u) << "its owner may do everything";
  world_.run_for(10s);
  const net::HttpResponse unknown = ask("Bearer " + std::string(TestCluster::admin_token));
  EXPECT_EQ(unknown.status, 503u);
  EXPECT_EQ(unknown.headers.get("Retry-After"), "1");
}

}  // namespace
}  // namespace regatta::test_support
