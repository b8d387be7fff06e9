#include "webhooks/server/handler.h"

#include "lib/net/memory_stream.h"
#include "lib/runtime/task_scope.h"
#include "lib/sim/world.h"

#include <gtest/gtest.h>

namespace regatta::webhooks {
namespace {

struct WebhookPort : ::testing::Test {
  sim::World world{1};
  std::shared_ptr<net::MemoryNetwork> network =
      std::make_shared<net::MemoryNetwork>(world.executor());
  WebhookHandler handler{Gates()};
  net::HttpServer server{world.executor(), world, network->listen("hooks", 9443), handler,
                         webhook_server_options()};
  TaskScope scope{world.executor()};
  std::string answer;

  WebhookPort() { scope.spawn("server", server.run()); }
  void TearDown() override {
    scope.stop();
    world.settle();
  }

  /// The answer to one request.
  const std::string& send(const std::string& head, const std::string& body) {
    answer.clear();
    scope.spawn(
        "client",
        [](WebhookPort& test,
           std::string text) -> Task<> {
          auto stream = co_await test.network->dial("hooks", 9443, SteadyPoint::max());
          (void)co_await (*stream)->write_all(text);
          std::vector<char> buffer(65536);
          for (;;) {
            auto n = co_await (*stream)->read_some(buffer);
            if (!n || *n == 0) co_return;
            test.answer.append(buffer.data(), *n);
          }
        }(*this, head +
                                 " HTTP/1.1\r\nHost: hooks\r\nConnection: close\r\nContent-Type: "
                                 "application/json\r\nContent-Length: " +
                                 std::to_string(body.size()) + "\r\n\r\n" + body));
    world.settle();
    return answer;
  }
  bool answered(std::string_view part) const { return answer.find(part) != std::string::npos; }
};

TEST_F(WebhookPort, reviews_and_conversions_are_answered_on_their_paths) {
  send("POST /validate-kueue-x-k8s-io-v1beta2-cohort?timeout=10s",
       R"({"request":{"uid":"u7","operation":"CREATE","object":{}}})");
  EXPECT_TRUE(answered("HTTP/1.1 200")) << answer;
  EXPECT_TRUE(answered(R"("allowed":true)")) << answer;
  EXPECT_TRUE(answered("u7")) << answer;
  send("POST /convert", R"({"request":{"uid":"u8","desiredAPIVersion":"v1"}})");
  EXPECT_TRUE(answered("Success") && answered("u8")) << answer;
  send("POST /convert", "{");
  EXPECT_TRUE(answered("HTTP/1.1 400")) << answer;
}

TEST_F(WebhookPort, other_paths_and_methods_are_refused) {
  send("POST /validate-kueue-x-k8s-io-v1beta2-nothing", "{}");
  EXPECT_TRUE(answered("HTTP/1.1 404")) << answer;
  send("PUT /validate-kueue-x-k8s-io-v1beta2-cohort", "{}");
  EXPECT_TRUE(answered("HTTP/1.1 405")) << answer;
}

TEST_F(WebhookPort, further_webhooks_have_paths_of_their_own) {
  EXPECT_FALSE(handler.answers("/validate-batch-v1-job"));
  handler.add("/validate-batch-v1-job", [](const ReviewRequest& request) -> Task<Verdict> {
    co_return judged({{"spec", "no " + request.operation, api::field_error::forbidden, ""}});
  });
  EXPECT_TRUE(handler.answers("/validate-batch-v1-job"));
  EXPECT_TRUE(handler.answers("/convert"));
  send("POST /validate-batch-v1-job?timeout=10s",
       R"({"request":{"uid":"u9","operation":"CREATE"}})");
  EXPECT_TRUE(answered(R"("allowed":false)") && answered("spec: no CREATE")) << answer;
}

TEST_F(WebhookPort, a_body_has_a_limit) {
  const std::string path = "POST /validate-kueue-x-k8s-io-v1beta2-cohort";
  send(path, std::string(review_bytes_max + 1, ' '));
  EXPECT_TRUE(answered("HTTP/1.1 413")) << answer.substr(0, 200);
}

TEST_F(WebhookPort, bodies_that_do_not_end_fill_no_memory_and_keep_no_review_out) {
  std::vector<std::unique_ptr<net::ByteStream>> kept;
  const auto begin = [&](std::size_t bytes) {
    scope.spawn("stranger", [](WebhookPort& test, std::size_t body, auto& streams) -> Task<> {
      auto stream = co_await test.network->dial("hooks", 9443, SteadyPoint::max());
      net::ByteStream& opened = **stream;
      streams.push_back(std::move(*stream));
      const std::string text =
          "POST /convert HTTP/1.1\r\nHost: hooks\r\nContent-Length: 7340032\r\n\r\n" +
          std::string(body, ' ');
      (void)co_await opened.write_all(text);
    }(*this, bytes, kept));
    world.settle();
  };
  for (int i = 0; i < 12; ++i) begin(review_bytes_max - 1);
  ASSERT_EQ(server.bodies(), 9 * (review_bytes_max - 1));
  begin(reviews_bytes_max - server.bodies());
  EXPECT_EQ(server.bodies(), reviews_bytes_max);
  send("POST /validate-kueue-x-k8s-io-v1beta2-cohort",
       R"({"request":{"uid":"u7","operation":"CREATE","object":{}}})");
  EXPECT_TRUE(answered("HTTP/1.1 200")) << answer;
}

TEST_F(WebhookPort, a_review_of_another_content_type_is_a_bad_request) {
  WebhookHandler one{Gates()};
  net::HttpRequest request("POST", "/mutate-kueue-x-k8s-io-v1beta2-workload");
  request.headers.set("Content-Type", "text/plain");
  net::HttpResponse response;
  scope.spawn("ask",
              [](WebhookHandler& hook, net::HttpRequest asked, net::HttpResponse& out) -> Task<> {
                out = co_await hook.handle(std::move(asked));
              }(one, std::move(request), response));
  world.settle();
  EXPECT_EQ(response.status, 200u);
  EXPECT_NE(response.body.find("contentType=text/plain, expected application/json"),
            std::string::npos);
}

}  // namespace
}  // namespace regatta::webhooks
