#include "lib/net/handler_sender.h"
#include "lib/net/http_client.h"
#include "lib/net/http_codec.h"
#include "lib/net/http_server.h"
#include "lib/net/memory_stream.h"
#include "lib/sim/world.h"

#include <boost/asio/post.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regatta::net {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// Counts its instances, so that a test can see a stream being destroyed.
class TickingStream final : public BodyStream {
 public:
  TickingStream(Clock& clock, int pieces, int* alive, bool fails = false)
      : clock_(clock), left_(pieces), alive_(alive), fails_(fails) {
    ++*alive_;
  }
  ~TickingStream() override { --*alive_; }
  Task<Result<std::optional<std::string>>> next() override {
    co_await clock_.sleep_for(1s);
    if (left_-- > 0) co_return std::optional<std::string>("tick\n");
    if (fails_) co_return Error(Errc::unavailable, "source died");
    co_return std::optional<std::string>();
  }

 private:
  Clock& clock_;
  int left_;
  int* alive_;
  bool fails_;
};

/// Answers by target; see handle().
class TestHandler final : public HttpHandler {
 public:
  explicit TestHandler(Clock& clock) : clock_(clock) {}

  Task<HttpResponse> handle(HttpRequest request) override {
    seen.push_back(request.method + " " + request.target);
    if (request.target == "/slow") {
      struct Working {
        int& count;
        explicit Working(int& count) : count(count) { ++count; }
        ~Working() { --count; }
      } working(in_progress);
      co_await clock_.sleep_for(10s);
    }
    HttpResponse response(200, request.body.empty() ? "hello" : "got " + request.body);
    if (request.target == "/long") response.body = std::string(900'000, 'l');
    if (request.target == "/none") response = HttpResponse(204, "");
    if (request.target == "/missing") response = HttpResponse(404, "no such thing");
    if (request.target == "/ticks" || request.target == "/fails") {
      response.body.clear();
      response.stream =
          std::make_shared<TickingStream>(clock_, 3, &streams, request.target == "/fails");
    }
    if (request.target == "/forever") {
      response.body.clear();
      response.stream = std::make_shared<TickingStream>(clock_, 1 << 30, &streams);
    }
    if (request.target == "/whoami") response.body = request.peer.common_name;
    response.headers.set("X-Test", "yes");
    co_return response;
  }

  std::vector<std::string> seen;
  int in_progress = 0;
  int streams = 0;

 private:
  Clock& clock_;
};

struct Answer {
  bool ready = false;
  Errc code = Errc::not_found;
  unsigned status = 0;
  std::string text;  // the body, or what went wrong
  SteadyPoint at{};
};

struct Http : ::testing::Test {
  sim::World world{1};
  TestHandler handler{world};
  std::shared_ptr<MemoryNetwork> network = std::make_shared<MemoryNetwork>(world.executor());
  std::vector<MemoryStream*> clients;
  std::unique_ptr<HttpServer> server;
  std::unique_ptr<HttpClient> client;
  TaskScope scope{world.executor()};

  void start(HttpServerOptions server_options = {}, HttpClientOptions client_options = {}) {
    network->on_connect = [this](MemoryPair& pair) { clients.push_back(pair.client.get()); };
    server = std::make_unique<HttpServer>(world.executor(), world, network->listen("api", 80),
                                          handler, server_options);
    scope.spawn("server", server->run());
    client = make_client(client_options);
  }
  std::unique_ptr<HttpClient> make_client(HttpClientOptions options = {}) {
    return std::make_unique<HttpClient>(world.executor(), world, network, "api", 80, options);
  }
  void TearDown() override {
    scope.stop();
    world.settle();
    EXPECT_EQ(scope.size(), 0u);
    EXPECT_EQ(handler.streams, 0);
    EXPECT_EQ(handler.in_progress, 0);
    if (server) {
      EXPECT_EQ(server->connections(), 0u);
    }
  }

  /// Sends in the background; the answer is there after the world ran.
  std::shared_ptr<Answer> send(HttpSender& sender, HttpRequest request, SendOptions options = {}) {
    auto answer = std::make_shared<Answer>();
    scope.spawn("send", fill(sender, std::move(request), options, answer));
    return answer;
  }
  std::shared_ptr<Answer> get(std::string target, SendOptions options = {}) {
    return send(*client, HttpRequest("GET", std::move(target)), options);
  }
  Task<> fill(HttpSender& sender, HttpRequest request, SendOptions options,
              std::shared_ptr<Answer> answer) {
    auto response = co_await sender.send(std::move(request), options);
    answer->ready = true;
    answer->at = world.steady();
    if (!response) {
      answer->code = response.error().code();
      answer->text = response.error().what();
      co_return;
    }
    answer->status = response->status;
    answer->text = response->body;
    while (response->stream) {
      auto piece = co_await response->stream->next();
      if (!piece) answer->text += "!" + piece.error().what();
      if (!piece || !*piece) break;
      answer->text += **piece;
      answer->at = world.steady();
    }
  }

  /// What the server answers to raw bytes, until it closes or `wait` is over.
  std::string raw(std::string bytes, Duration wait = 5min) {
    std::string got;
    auto stream = std::make_shared<std::unique_ptr<ByteStream>>();
    auto body = [&]() -> Task<> {
      auto dialled = co_await network->dial("api", 80, SteadyPoint::max());
      *stream = std::move(*dialled);
      (void)co_await (*stream)->write_all(bytes);
      std::vector<char> buffer(4096);
      for (;;) {
        auto n = co_await (*stream)->read_some(buffer);
        if (!n || *n == 0) break;
        got.append(buffer.data(), *n);
      }
    };
    TaskScope inner(world.executor());
    inner.spawn("raw", body());
    world.run_for(wait, [&] { return inner.size() == 0; });
    inner.stop();
    world.settle();
    return got;
  }

  /// A server that answers the n-th connection's first request with the n-th text, then hangs up
  /// (or keeps the connection when the text is empty).
  std::unique_ptr<ByteListener> scripted_listener;
  std::vector<std::unique_ptr<ByteStream>> scripted;
  int scripted_requests = 0;
  void start_script(std::vector<std::string> answers, bool hang_up = true) {
    scripted_listener = network->listen("api", 80);
    scope.spawn("script", play(std::move(answers), hang_up));
    client = make_client();
  }
  Task<> play(std::vector<std::string> answers, bool hang_up) {
    for (const std::string& answer : answers) {
      auto stream = co_await scripted_listener->accept();
      std::vector<char> buffer(4096);
      auto n = co_await (*stream)->read_some(buffer);
      if (n && *n != 0) ++scripted_requests;
      (void)co_await (*stream)->write_all(answer);
      if (hang_up) (*stream)->close();
      scripted.push_back(std::move(*stream));
    }
  }
};

TEST_F(Http, RequestsAreAnsweredOverOneKeptConnection) {
  start();
  HttpRequest post("POST", "/echo");
  post.body = std::string(100'000, 'x');
  auto first = get("/a");
  world.run_for(1s);
  auto second = send(*client, post);
  world.run_for(1s);
  auto third = get("/missing");
  world.run_for(1s);
  EXPECT_EQ(first->status, 200u);
  EXPECT_EQ(first->text, "hello");
  EXPECT_EQ(second->text, "got " + post.body);
  EXPECT_EQ(third->status, 404u);
  EXPECT_EQ(third->text, "no such thing");
  EXPECT_EQ(network->dialled(), 1u);
  EXPECT_EQ(server->connections(), 1u);
}

TEST_F(Http, EveryByteMayComeAlone) {
  start();
  network->on_connect = [](MemoryPair& pair) {
    pair.client->faults().split = [](std::size_t) { return std::size_t(1); };
  };
  HttpRequest post("PUT", "/echo");
  post.body = "a body";
  auto first = send(*client, post);
  auto ticks = get("/ticks", {.streaming = true});
  world.run_for(10s);
  EXPECT_EQ(first->text, "got a body");
  EXPECT_EQ(ticks->text, "tick\ntick\ntick\n");
}

TEST_F(Http, AnswersWithoutBody) {
  start();
  auto none = get("/none");
  world.run_for(1s);
  auto head = send(*client, HttpRequest("HEAD", "/a"));
  world.run_for(1s);
  auto head_of_stream = send(*client, HttpRequest("HEAD", "/ticks"));
  world.run_for(1s);
  auto after = get("/a");
  world.run_for(1s);
  EXPECT_EQ(none->status, 204u);
  EXPECT_EQ(none->text, "");
  EXPECT_EQ(head->status, 200u);
  EXPECT_EQ(head->text, "");
  EXPECT_EQ(head_of_stream->status, 200u);
  EXPECT_EQ(after->text, "hello");
  EXPECT_EQ(network->dialled(), 1u);
  EXPECT_THAT(raw("HEAD /a HTTP/1.1\r\n\r\n", 1s), HasSubstr("Content-Length: 5"));
  EXPECT_THAT(raw("GET /none HTTP/1.1\r\n\r\n", 1s), Not(HasSubstr("Content-Length")));
}

TEST_F(Http, DeadlineEndsAnExchangeAndItsConnection) {
  start();
  const SteadyPoint sent = world.steady();
  auto slow = get("/slow", {.deadline = sent + 3s});
  world.run_for(4s);
  EXPECT_EQ(slow->code, Errc::timeout);
  EXPECT_EQ(slow->at, sent + 3s);
  EXPECT_THAT(slow->text, HasSubstr("GET api:80/slow"));
  EXPECT_EQ(client->open_connections(), 0u);
  EXPECT_EQ(handler.in_progress, 0) << "the handler must be cancelled when the client goes away";
}

TEST_F(Http, ACallerWithoutDeadlineIsGivenOne) {
  start_script({""}, false);
  auto answer = get("/a");
  world.run_for(2min);
  EXPECT_EQ(answer->code, Errc::timeout);
}

TEST_F(Http, TheGateIsAskedAfterTheWaitForAConnection) {
  struct ClosesAt final : SendGate {
    ClosesAt(Clock& clock, SteadyPoint end) : clock(clock), end(end) {}
    Clock& clock;
    SteadyPoint end;
    Status may_send() const override {
      if (clock.steady() < end) return ok();
      return Error(Errc::denied, "too late");
    }
  };
  start();
  HttpClientOptions one;
  one.connections_max = 1;
  client = make_client(one);
  const ClosesAt gate(world, world.steady() + 2s);
  auto early = get("/slow", {.gate = &gate});
  auto late = get("/a", {.deadline = world.steady() + 1min, .gate = &gate});
  world.run_for(1min);
  EXPECT_EQ(early->text, "hello");
  EXPECT_EQ(late->code, Errc::denied);
  EXPECT_THAT(late->text, HasSubstr("too late"));
}

TEST_F(Http, AGateKnowsTheRequestsThatWaitForTheirAnswers) {
  struct Open final : SendGate {
    Status may_send() const override { return ok(); }
  };
  start();
  const Open gate;
  auto slow = get("/slow", {.gate = &gate});
  world.run_for(1s);
  EXPECT_EQ(gate.under_way(), 1u);
  world.run_for(1min);
  EXPECT_EQ(slow->text, "hello");
  EXPECT_EQ(gate.under_way(), 0u);
  EXPECT_EQ(gate.unanswered(), 0u);
  auto late = get("/slow", {.deadline = world.steady() + 1s, .gate = &gate});
  world.run_for(1min);
  EXPECT_EQ(late->code, Errc::timeout);
  EXPECT_EQ(gate.under_way(), 0u);
  EXPECT_EQ(gate.unanswered(), 1u);
}

TEST_F(Http, CancellationClosesTheConnection) {
  start();
  TaskScope inner(world.executor());
  auto answer = std::make_shared<Answer>();
  inner.spawn("send", fill(*client, HttpRequest("GET", "/slow"), {}, answer));
  world.run_for(1s);
  EXPECT_EQ(client->open_connections(), 1u);
  EXPECT_EQ(handler.in_progress, 1);
  inner.stop();
  world.run_for(1ms);
  EXPECT_EQ(inner.size(), 0u);
  EXPECT_FALSE(answer->ready);
  EXPECT_EQ(client->open_connections(), 0u);
  EXPECT_EQ(client->idle_connections(), 0u);
  EXPECT_EQ(handler.in_progress, 0);
}

TEST_F(Http, AConnectionThatIsOpenedForTheLastRequestIsClosedAfterIt) {
  start();
  SendOptions last;
  last.last = true;
  auto alone = get("/a", last);
  world.run_for(1s);
  EXPECT_EQ(alone->status, 200u);
  EXPECT_EQ(client->open_connections(), 0u);
  get("/a");
  world.run_for(1s);
  EXPECT_EQ(client->idle_connections(), 1u);
  auto beside = get("/a", last);
  world.run_for(1s);
  EXPECT_EQ(beside->status, 200u);
  EXPECT_EQ(client->idle_connections(), 1u) << "it was there for others";
}

TEST_F(Http, RequestsBeyondTheCapWait) {
  start({}, {.connections_max = 2});
  std::vector<std::shared_ptr<Answer>> answers;
  for (int i = 0; i < 6; ++i) answers.push_back(get("/slow"));
  auto hurried = get("/a", {.deadline = world.steady() + 1s});
  auto stream = get("/ticks", {.streaming = true});
  world.run_for(5s);
  EXPECT_EQ(handler.in_progress, 2);
  EXPECT_EQ(hurried->code, Errc::timeout) << "a waiter has its deadline";
  EXPECT_EQ(stream->text, "tick\ntick\ntick\n") << "streams are outside the cap";
  world.run_for(30s);
  for (const auto& answer : answers) EXPECT_EQ(answer->status, 200u);
  EXPECT_EQ(network->dialled(), 3u);
}

TEST_F(Http, AWaiterThatGivesUpPassesItsTurnOn) {
  start({}, {.connections_max = 1});
  const SteadyPoint begin = world.steady();
  auto holds = get("/slow");
  auto gives_up = get("/a", {.deadline = begin + 10s});  // just when the place becomes free
  auto waits = get("/a");
  world.run_for(30s);
  EXPECT_EQ(holds->status, 200u);
  EXPECT_TRUE(gives_up->ready);
  EXPECT_EQ(waits->status, 200u);
  EXPECT_EQ(waits->at, begin + 10s);
}

/// Refuses every connection, but only when told to.
class GateDialer final : public Dialer {
 public:
  explicit GateDialer(const Executor& executor) : gate(executor) {}
  Task<Result<std::unique_ptr<ByteStream>>> dial(std::string, std::uint16_t, SteadyPoint) override {
    ++dialled;
    co_await gate.wait();
    co_return Error(Errc::unavailable, "refused");
  }
  Wakeup gate;
  int dialled = 0;
};

TEST_F(Http, AWaiterCancelledAtItsTurnPassesItOn) {
  auto gated = std::make_shared<GateDialer>(world.executor());
  client = std::make_unique<HttpClient>(world.executor(), world, gated, "api", 80,
                                        HttpClientOptions{.connections_max = 1});
  TaskScope cancelled(world.executor());
  auto holds = get("/a");
  world.settle();
  auto never = std::make_shared<Answer>();
  cancelled.spawn("send", fill(*client, HttpRequest("GET", "/a"), {}, never));
  world.settle();
  auto waits = get("/a");
  world.settle();
  // The second request gets the place in one turn and is cancelled in the next, before it runs.
  gated->gate.notify_one();
  asio::post(world.executor(), [&] { cancelled.stop(); });
  world.settle();
  EXPECT_TRUE(holds->ready);
  EXPECT_FALSE(never->ready);
  EXPECT_EQ(gated->dialled, 2) << "the third has the place";
  gated->gate.notify_all();
  world.settle();
  EXPECT_TRUE(waits->ready);
}

/// Takes a while for each connection.
class SlowDialer final : public Dialer {
 public:
  SlowDialer(std::shared_ptr<Dialer> dialer, Clock& clock, Duration takes)
      : dialer_(std::move(dialer)), clock_(clock), takes_(takes) {}
  Task<Result<std::unique_ptr<ByteStream>>> dial(std::string host, std::uint16_t port,
                                                 SteadyPoint deadline) override {
    co_await clock_.sleep_for(takes_);
    co_return co_await dialer_->dial(std::move(host), port, deadline);
  }

 private:
  std::shared_ptr<Dialer> dialer_;
  Clock& clock_;
  Duration takes_;
};

/// A connection takes 10 ms to open.
struct SlowHttp : Http {
  std::vector<std::shared_ptr<Answer>> get_at_once(int count, const std::string& target) {
    start();
    auto slow = std::make_shared<SlowDialer>(network, world, 10ms);
    client = std::make_unique<HttpClient>(world.executor(), world, slow, "api", 80);
    std::vector<std::shared_ptr<Answer>> answers;
    for (int i = 0; i < count; ++i) answers.push_back(get(target));
    return answers;
  }
};

TEST_F(SlowHttp, ABurstOfShortRequestsOpensFewConnections) {
  const auto answers = get_at_once(20, "/a");
  world.run_for(1s);
  for (const auto& answer : answers) EXPECT_EQ(answer->status, 200u);
  EXPECT_LE(network->dialled(), 2u);
}

TEST_F(SlowHttp, RequestsThatTakeLongGetTwiceTheConnectionsEachTime) {
  const auto answers = get_at_once(9, "/slow");
  world.run_for(5ms);
  for (const int running : {0, 1, 2, 4, 8, 8}) {
    EXPECT_EQ(handler.in_progress, running);
    world.run_for(10ms);
  }
  world.run_for(30s);
  for (const auto& answer : answers) EXPECT_EQ(answer->status, 200u);
}

TEST_F(Http, IdleAndOldConnectionsAreNotReused) {
  start();
  (void)get("/a");
  world.run_for(29s);
  (void)get("/a");
  world.run_for(31s);
  EXPECT_EQ(network->dialled(), 1u);
  (void)get("/a");
  world.run_for(1s);
  EXPECT_EQ(network->dialled(), 2u);
  for (int i = 0; i < 62; ++i) {
    (void)get("/a");
    world.run_for(10s);
  }
  EXPECT_EQ(network->dialled(), 3u);
}

TEST_F(Http, IdleConnectionsAreClosedWithoutARequest) {
  start();
  (void)get("/a");
  world.run_for(20s);
  client->close_idle();
  world.run_for(1s);
  EXPECT_EQ(server->connections(), 1u);
  world.run_for(10s);
  client->close_idle();
  world.run_for(1s);
  EXPECT_EQ(server->connections(), 0u);
}

TEST_F(Http, AConnectionTheServerClosedWhileIdleIsReplaced) {
  start({.idle_max = 5s});
  (void)get("/a");
  world.run_for(10s);
  EXPECT_EQ(server->connections(), 0u);
  auto answer = get("/a");
  world.run_for(1s);
  EXPECT_EQ(answer->status, 200u);
  EXPECT_EQ(network->dialled(), 2u);
}

constexpr const char* kept = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

TEST_F(Http, AStaleConnectionIsRetriedOnceOnAFreshOne) {
  start_script({kept, kept}, false);
  (void)get("/a");
  world.run_for(1s);
  auto second = get("/b");
  world.settle();  // written to the kept connection, which dies before any byte of an answer
  scripted[0]->close();
  world.run_for(1s);
  EXPECT_EQ(second->text, "ok");
  EXPECT_EQ(network->dialled(), 2u);
}

TEST_F(Http, ASecondTryThatMayNotLeaveDoesNotSayThatTheFirstDidNot) {
  struct ClosesLater final : SendGate {
    bool open = true;
    Status may_send() const override {
      return open ? ok() : Status(Error(Errc::denied, "too late"));
    }
  };
  start_script({kept, kept}, false);
  (void)get("/a");
  world.run_for(1s);
  ClosesLater gate;
  auto second = get("/b", {.gate = &gate});
  world.settle();
  gate.open = false;
  scripted[0]->close();
  world.run_for(1s);
  EXPECT_EQ(second->code, Errc::unavailable) << "the server may have acted";
  EXPECT_THAT(second->text, HasSubstr("too late"));
}

TEST_F(Http, WhatComesUnaskedIsNeverTakenForAnAnswer) {
  start_script({kept, kept}, false);
  (void)get("/a");
  world.run_for(1s);
  auto body = [&]() -> Task<> {
    (void)co_await scripted[0]->write_all("HTTP/1.1 408 Late\r\nContent-Length: 0\r\n\r\n");
  };
  scope.spawn("unasked", body());
  world.run_for(1s);
  auto second = get("/b");
  world.run_for(1s);
  EXPECT_EQ(second->status, 200u);
  EXPECT_EQ(network->dialled(), 2u);
}

TEST_F(Http, AFreshConnectionIsNeverRetried) {
  start_script({"", kept});
  auto answer = get("/a");
  world.run_for(1s);
  EXPECT_EQ(answer->code, Errc::unavailable);
  EXPECT_THAT(answer->text, HasSubstr("GET api:80/a: connection closed without an answer"));
  EXPECT_EQ(network->dialled(), 1u);
}

TEST_F(Http, AReusedConnectionThatBeganToAnswerIsNeverRetried) {
  start_script({kept, kept}, false);
  (void)get("/a");
  world.run_for(1s);
  auto second = get("/b");
  world.settle();
  auto body = [&]() -> Task<> {
    (void)co_await scripted[0]->write_all("HTTP/1.1 200 O");
    scripted[0]->close();
  };
  scope.spawn("half", body());
  world.run_for(1s);
  EXPECT_EQ(second->code, Errc::unavailable);
  EXPECT_THAT(second->text, HasSubstr("in the middle of the answer"));
  EXPECT_EQ(network->dialled(), 1u);
}

TEST_F(Http, NoServerListening) {
  client = make_client();
  auto answer = get("/a");
  world.run_for(1s);
  EXPECT_EQ(answer->code, Errc::unavailable);
  EXPECT_THAT(answer->text, HasSubstr("api:80"));
  EXPECT_THAT(answer->text, HasSubstr("refused"));
}

struct Broken {
  const char* name;
  const char* answer;
  const char* want;
  Errc code = Errc::unavailable;
  friend void PrintTo(const Broken& c, std::ostream* out) { *out << c.name; }
};
class BrokenAnswers : public Http, public ::testing::WithParamInterface<Broken> {};

TEST_P(BrokenAnswers, AreErrors) {
  start_script({GetParam().answer});
  auto answer = get("/a");
  world.run_for(1s);
  EXPECT_EQ(answer->code, GetParam().code);
  EXPECT_THAT(answer->text, HasSubstr(GetParam().want));
}

INSTANTIATE_TEST_SUITE_P(
    , BrokenAnswers,
    ::testing::Values(
        Broken{"cut_in_the_header", "HTTP/1.1 200 OK\r\nContent-", "in the middle"},
        Broken{"cut_in_the_body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
               "in the middle"},
        Broken{"cut_in_a_chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc",
               "in the middle"},
        Broken{"cut_before_the_last_chunk",
               "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
               "in the middle"},
        Broken{"without_a_length", "HTTP/1.1 200 OK\r\n\r\nabc", "neither Content-Length"},
        Broken{"not_http", "SSH-2.0-OpenSSH\r\n\r\n", "malformed"},
        Broken{"length_beyond_the_limit",
               "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nabc", "larger than",
               Errc::too_large}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(RequestDecoder, ABodyWithoutChunksMayComeByteByByte) {
  RequestDecoder decoder({});
  const std::string wire = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
  for (const char& byte : wire) {
    EXPECT_FALSE(decoder.done());
    decoder.append({&byte, 1});
    ASSERT_TRUE(decoder.advance());
  }
  ASSERT_TRUE(decoder.done());
  EXPECT_EQ(decoder.take().body, "");
}

TEST_F(Http, InformationalAnswersAreSkipped) {
  start_script(
      {std::string("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n") + kept});
  auto answer = get("/a");
  world.run_for(1s);
  EXPECT_EQ(answer->status, 200u);
  EXPECT_EQ(answer->text, "ok");
}

TEST_F(Http, AnAnswerBeforeTheRequestWasTakenIsStillRead) {
  start({.body_max = 1000});
  HttpRequest post("POST", "/echo");
  post.body = std::string(2'000'000, 'x');
  auto answer = send(*client, post);
  world.run_for(1s);
  EXPECT_EQ(answer->status, 413u);
  EXPECT_EQ(client->idle_connections(), 0u);
}

TEST_F(Http, WhatCannotBeARequestIsRefusedHere) {
  start();
  HttpRequest split_header("GET", "/a");
  split_header.headers.add("X", "1\r\nY: 2");
  auto header = send(*client, split_header);
  auto target = get("/a HTTP/1.1\r\nX: y");
  world.run_for(1s);
  EXPECT_EQ(header->code, Errc::invalid);
  EXPECT_EQ(target->code, Errc::invalid);
  EXPECT_TRUE(handler.seen.empty());
}

TEST_F(Http, AStreamComesPieceByPiece) {
  start();
  const SteadyPoint begin = world.steady();
  auto ticks = get("/ticks", {.streaming = true});
  world.run_for(1500ms);
  EXPECT_EQ(ticks->status, 200u);
  EXPECT_EQ(ticks->text, "tick\n");
  EXPECT_EQ(ticks->at, begin + 1s);
  world.run_for(5s);
  EXPECT_EQ(ticks->text, "tick\ntick\ntick\n");
}

TEST_F(Http, AStreamIsCollectedForACallerThatDidNotAskForOne) {
  start();
  auto ticks = get("/ticks");
  world.run_for(10s);
  EXPECT_EQ(ticks->text, "tick\ntick\ntick\n");
}

TEST_F(Http, OtherAnswersToAStreamingRequestComeWhole) {
  start();
  auto missing = get("/missing", {.streaming = true});
  world.run_for(1s);
  EXPECT_EQ(missing->status, 404u);
  EXPECT_EQ(missing->text, "no such thing");
}

TEST_F(Http, AnotherSuccessThanAStreamIsRefusedUnread) {
  // The body never ends: an answer that is read whole would not come.
  start_script({"HTTP/1.1 201 Created\r\nContent-Length: 1000\r\n\r\nbegun"}, false);
  auto answer = get("/a", {.streaming = true});
  world.run_for(1s);
  EXPECT_TRUE(answer->ready);
  EXPECT_EQ(answer->code, Errc::unavailable);
  EXPECT_THAT(answer->text, HasSubstr("the answer has status 201 instead of 200"));
}

TEST_F(Http, AStreamThatFailsAtItsSourceIsCutShort) {
  start();
  auto fails = get("/fails", {.streaming = true});
  world.run_for(10s);
  EXPECT_THAT(fails->text, HasSubstr("tick\ntick\ntick\n!the stream of api:80: connection closed "
                                     "in the middle of the answer"));
}

TEST_F(Http, AStreamTakesAKeptConnectionForItself) {
  start({}, {.connections_max = 1});
  auto before = get("/a");
  world.run_for(1s);
  auto forever = get("/forever", {.streaming = true});
  world.run_for(1s);
  EXPECT_EQ(network->dialled(), 1u);
  EXPECT_EQ(client->open_connections(), 0u) << "streams are outside the cap";
  auto beside = get("/a");
  world.run_for(1s);
  EXPECT_EQ(beside->text, "hello");
  EXPECT_EQ(network->dialled(), 2u);
  EXPECT_THAT(forever->text, HasSubstr("tick"));
}

TEST_F(Http, AStreamIsAskedForAnewWhenTheKeptConnectionDies) {
  start_script({kept, kept}, false);
  (void)get("/a");
  world.run_for(1s);
  auto stream = get("/b", {.streaming = true});
  world.settle();
  scripted[0]->close();
  world.run_for(1s);
  EXPECT_EQ(stream->text, "ok");
  EXPECT_EQ(network->dialled(), 2u);
}

TEST_F(Http, AStreamHasNoLimit) {
  std::string wire = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string piece(100'000, 'x');
  for (int i = 0; i < 20; ++i) append_chunk(piece, &wire);
  wire += last_chunk;
  start_script({wire}, false);
  client = make_client({.body_max = 1000});
  auto answer = get("/a", {.streaming = true});
  world.run_for(1s);
  EXPECT_EQ(answer->text.size(), 2'000'000u);
}

TEST_F(Http, AClientThatGoesAwayEndsTheStreamAtTheSource) {
  start();
  TaskScope inner(world.executor());
  auto answer = std::make_shared<Answer>();
  inner.spawn("send", fill(*client, HttpRequest("GET", "/forever"), {.streaming = true}, answer));
  world.run_for(3500ms);
  EXPECT_EQ(handler.streams, 1);
  inner.stop();
  world.settle();
  EXPECT_EQ(handler.streams, 0) << "at once, not at the next piece";
  EXPECT_EQ(server->connections(), 0u);
}

TEST_F(Http, AResetEndsBothSides) {
  start();
  auto forever = get("/forever", {.streaming = true});
  world.run_for(2500ms);
  clients.at(0)->reset();
  world.settle();
  EXPECT_EQ(forever->text, "tick\ntick\n!the stream of api:80: connection reset");
  EXPECT_EQ(handler.streams, 0);
}

TEST_F(Http, PipelinedRequestsAreAnsweredInOrder) {
  start();
  const SteadyPoint begin = world.steady();
  const std::string got =
      raw("GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
          "POST /b HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"
          "GET /missing HTTP/1.1\r\nConnection: close\r\n\r\n"
          "GET /never HTTP/1.1\r\n\r\n");
  EXPECT_EQ(world.steady(), begin) << "the end of the last answer is said at once";
  const auto hello = got.find("hello"), echo = got.find("got abc"), missing = got.find("no such");
  EXPECT_LT(hello, echo);
  EXPECT_LT(echo, missing);
  EXPECT_NE(missing, std::string::npos);
  EXPECT_THAT(got, HasSubstr("Connection: close"));
  EXPECT_EQ(handler.seen, (std::vector<std::string>{"GET /a", "POST /b", "GET /missing"}));
}

TEST_F(Http, ChunkedRequestsAndExpectations) {
  start();
  EXPECT_THAT(
      raw("POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", 1s),
      HasSubstr("got abc"));
  const std::string got =
      raw("POST /b HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n", 1s);
  EXPECT_EQ(got, "HTTP/1.1 100 Continue\r\n\r\n");
}

TEST_F(Http, OldClientsGetTheStreamUntilTheConnectionCloses) {
  start();
  const std::string got = raw("GET /ticks HTTP/1.0\r\n\r\n");
  EXPECT_THAT(got, HasSubstr("\r\n\r\ntick\ntick\ntick\n"));
  EXPECT_THAT(got, Not(HasSubstr("chunked")));
}

struct Refusal {
  const char* name;
  std::string request;
  const char* want;
  friend void PrintTo(const Refusal& c, std::ostream* out) { *out << c.name; }
};
class Refusals : public Http, public ::testing::WithParamInterface<Refusal> {};

TEST_P(Refusals, AreAnsweredAndEndTheConnection) {
  start({.header_max = 2000, .body_max = 1000});
  EXPECT_THAT(raw(GetParam().request), ::testing::StartsWith(GetParam().want));
  EXPECT_TRUE(handler.seen.empty());
  world.settle();
  EXPECT_EQ(server->connections(), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    , Refusals,
    ::testing::Values(
        Refusal{"garbage", "\x16\x03\x01 hello\r\n\r\n", "HTTP/1.1 400 "},
        Refusal{"long_header", "GET / HTTP/1.1\r\nX: " + std::string(3000, 'x') + "\r\n\r\n",
                "HTTP/1.1 431 "},
        Refusal{"long_body", "POST / HTTP/1.1\r\nContent-Length: 1001\r\n\r\n", "HTTP/1.1 413 "},
        Refusal{"long_chunks",
                "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n800\r\n" +
                    std::string(0x800, 'x') + "\r\n",
                "HTTP/1.1 413 "},
        Refusal{"two_lengths",
                "POST / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
                "HTTP/1.1 400 "},
        Refusal{"length_and_chunks",
                "POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
                "0\r\n\r\n",
                "HTTP/1.1 400 "},
        Refusal{"silence", "", ""}, Refusal{"half_a_header", "GET / HTTP/1.1\r\nHos", ""},
        Refusal{"half_a_body", "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc", ""}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(Http, SlowRequestsHaveADeadlineAndIdleConnectionsToo) {
  start({.idle_max = 100s, .request_max = 10s});
  SteadyPoint begin = world.steady();
  (void)raw("GET / HT", 300s);
  EXPECT_NEAR(double((world.steady() - begin).count()), 10'000, 1'500);
  begin = world.steady();
  (void)raw("", 300s);
  EXPECT_NEAR(double((world.steady() - begin).count()), 10'000, 1'500);
  begin = world.steady();
  (void)raw("GET /a HTTP/1.1\r\n\r\n", 300s);
  EXPECT_NEAR(double((world.steady() - begin).count()), 100'000, 1'500);
}

TEST_F(Http, AClientThatDoesNotReadIsCutOff) {
  start({.write_max = 5s});
  HttpRequest big("POST", "/echo");
  big.body = std::string(1'000'000, 'x');
  auto pair_stream = std::make_shared<std::unique_ptr<ByteStream>>();
  auto body = [&]() -> Task<> {
    auto dialled = co_await network->dial("api", 80, SteadyPoint::max());
    *pair_stream = std::move(*dialled);
    auto wire = encode_request(big, "api");
    (void)co_await (*pair_stream)->write_all(*wire);
  };
  scope.spawn("lazy", body());
  world.run_for(1s);
  EXPECT_EQ(server->connections(), 1u);
  world.run_for(7s);
  EXPECT_EQ(server->connections(), 0u);
}

/// A client that sends some bytes and keeps its connection.
struct RawClient {
  std::unique_ptr<ByteStream> stream;
  std::string got;
  bool ended = false;
};

struct HttpBodies : Http {
  std::shared_ptr<RawClient> begin(std::string bytes, bool reads = true) {
    auto raw = std::make_shared<RawClient>();
    scope.spawn("raw-client", talk(raw, std::move(bytes), reads));
    world.run_for(1ms);
    return raw;
  }
  Task<> talk(std::shared_ptr<RawClient> raw, std::string bytes, bool reads) {
    auto dialled = co_await network->dial("api", 80, SteadyPoint::max());
    raw->stream = std::move(*dialled);
    (void)co_await raw->stream->write_all(bytes);
    std::vector<char> buffer(4096);
    while (reads) {
      auto n = co_await raw->stream->read_some(buffer);
      if (!n || *n == 0) break;
      raw->got.append(buffer.data(), *n);
    }
    raw->ended = reads;
  }
  static Task<> go_on(std::shared_ptr<RawClient> raw, std::string bytes) {
    (void)co_await raw->stream->write_all(bytes);
  }
  /// The beginning of a request with so many bytes of a body.
  static std::string part(std::size_t sent, std::size_t promised = 9000) {
    return "POST /slow HTTP/1.1\r\nContent-Length: " + std::to_string(promised) + "\r\n\r\n" +
           std::string(sent, 'x');
  }
};

TEST_F(HttpBodies, BeyondTheLimitTheLargestBodyMakesWay) {
  start({.bodies_max = 10'000});
  auto largest = begin(part(5000));
  auto large = begin(part(4000));
  EXPECT_EQ(server->bodies(), 9000u);
  HttpRequest small("POST", "/echo");
  small.body = std::string(1500, 's');
  auto answer = send(*client, small);
  world.run_for(100ms);
  EXPECT_EQ(answer->status, 200u) << answer->text;
  EXPECT_THAT(largest->got, ::testing::StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(largest->got, HasSubstr("Retry-After: 1\r\n"));
  EXPECT_THAT(largest->got, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(largest->got, HasSubstr("too much is being received"));
  EXPECT_TRUE(largest->ended);
  EXPECT_EQ(large->got, "");
  EXPECT_EQ(server->bodies(), 4000u);
  auto beyond = begin(part(6001));
  EXPECT_THAT(beyond->got, ::testing::StartsWith("HTTP/1.1 503 ")) << "it is the largest itself";
  EXPECT_EQ(server->bodies(), 4000u);
  EXPECT_EQ(large->got, "");
}

TEST_F(HttpBodies, OfEqualBodiesTheOldestMakesWay) {
  start({.bodies_max = 10'000});
  auto first = begin(part(4000)), second = begin(part(4000)), third = begin(part(4000));
  EXPECT_THAT(first->got, HasSubstr("503"));
  EXPECT_EQ(second->got + third->got, "");
  EXPECT_EQ(server->bodies(), 8000u);
}

TEST_F(HttpBodies, ABodyCountsUntilItsAnswerIsTaken) {
  start({.bodies_max = 1'000'000});
  HttpRequest big("POST", "/echo");
  big.body = std::string(900'000, 'x');
  auto lazy = begin(*encode_request(big, "api"), false);
  EXPECT_EQ(server->bodies(), 900'004u) << "with what the answer has besides";
  auto other = begin(part(200'000, 300'000));
  EXPECT_EQ(server->bodies(), 200'000u);
  EXPECT_EQ(server->connections(), 1u) << "the client that does not read is cut off";
}

TEST_F(HttpBodies, AnAnswerCountsUntilItIsTaken) {
  start({.bodies_max = 1'000'000});
  const std::string question = *encode_request(HttpRequest("GET", "/long"), "api");
  auto lazy = begin(question, false);
  EXPECT_EQ(server->bodies(), 900'000u);
  auto second = begin(question, false);
  EXPECT_EQ(server->bodies(), 900'000u);
  EXPECT_EQ(server->connections(), 1u) << "of two that do not read the first is cut off";
  second->stream->close();
  world.run_for(1ms);
  EXPECT_EQ(server->bodies(), 0u);
  const auto answer = send(*client, HttpRequest("GET", "/long"));
  world.run_for(100ms);
  EXPECT_EQ(answer->status, 200u) << answer->text;
}

TEST_F(HttpBodies, WhatIsGivenUpIsLoggedWithItsSizes) {
  struct Lines final : LogSink {
    bool enabled(LogLevel) const override { return true; }
    void write(LogLevel level, std::string_view, std::string_view message,
               std::initializer_list<KV> values) override {
      text += level == LogLevel::warning ? "warning: " : "";
      text += message;
      for (const KV& value : values) text += " " + std::string(value.key) + "=" + value.value;
      text += "\n";
    }
    std::string text;
  };
  auto lines = std::make_shared<Lines>();
  HttpServerOptions options;
  options.bodies_max = 1000;
  server = std::make_unique<HttpServer>(world.executor(), world, network->listen("api", 80),
                                        handler, options, Log(lines, "http"));
  scope.spawn("server", server->run());
  begin(part(1000));
  EXPECT_EQ(lines->text, "");
  begin(part(1));
  EXPECT_EQ(
      lines->text,
      "warning: too many bytes of requests and answers are under way: the largest is given up "
      "bytes=1001 limit=1000 largest=1000\n");
}

struct BodyEnd {
  const char* name;
  std::string more;  ///< the client sends it after 100 of 200 bytes, or hangs up when it is empty
  Duration wait;
  bool held;  ///< still, after that time
  friend void PrintTo(const BodyEnd& c, std::ostream* out) { *out << c.name; }
};
class BodyEnds : public HttpBodies, public ::testing::WithParamInterface<BodyEnd> {};

TEST_P(BodyEnds, WhatABodyHoldsIsGivenBackOnce) {
  start({.body_max = 300, .request_max = 5s});
  auto raw =
      begin("POST /slow HTTP/1.1\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n64\r\n" +
            std::string(100, 'x') + "\r\n");
  EXPECT_EQ(server->bodies(), 100u);
  if (GetParam().more.empty()) {
    raw->stream->close();
  } else {
    scope.spawn("more", go_on(raw, GetParam().more));
  }
  world.run_for(GetParam().wait);
  EXPECT_EQ(server->bodies() != 0, GetParam().held);
  if (GetParam().held) raw->stream->close();
  world.run_for(1s);
  EXPECT_EQ(server->bodies(), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    , BodyEnds,
    ::testing::Values(BodyEnd{"the_client_hangs_up", "", 1ms, false},
                      BodyEnd{"the_request_is_not_whole_in_time", "1\r\nx", 7s, false},
                      BodyEnd{"the_chunk_is_malformed", "what\r\n", 1ms, false},
                      BodyEnd{"the_body_is_too_large", "c9\r\n" + std::string(201, 'x') + "\r\n",
                              1ms, false},
                      BodyEnd{"the_handler_works", "0\r\n\r\n", 9s, true},
                      BodyEnd{"the_answer_is_taken", "0\r\n\r\n", 11s, false}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(HttpBodies, AServerThatStopsHoldsNothing) {
  start();
  auto arrives = begin(part(100)), handled = begin(part(9000));
  EXPECT_EQ(server->bodies(), 9100u);
  scope.stop();
  world.settle();
  EXPECT_EQ(server->bodies(), 0u);
}

TEST_F(Http, ConnectionsBeyondTheMaximumWaitForAPlace) {
  start({.connections_max = 2});
  auto one = get("/forever", {.streaming = true});
  auto two = get("/slow");
  auto three = get("/a");
  world.run_for(5s);
  EXPECT_EQ(server->connections(), 2u);
  EXPECT_FALSE(three->ready);
  clients.at(0)->reset();
  world.run_for(1s);
  EXPECT_EQ(three->status, 200u);
}

TEST_F(Http, DrainingAnswersWhatWasBegunAndNothingElse) {
  start();
  auto slow = get("/slow");
  world.run_for(1s);
  bool drained = false;
  auto body = [&]() -> Task<> {
    co_await server->drain(world.steady() + 60s);
    drained = true;
  };
  scope.spawn("drain", body());
  world.run_for(2s);
  auto late = get("/a");
  world.run_for(1s);
  EXPECT_FALSE(drained);
  EXPECT_EQ(late->code, Errc::unavailable);
  world.run_for(10s);
  EXPECT_EQ(slow->status, 200u);
  EXPECT_TRUE(drained);
}

TEST_F(Http, draining_answers_a_request_that_has_arrived_in_part) {
  start();
  std::string answer;
  bool drained = false;
  auto client = [&]() -> Task<> {
    auto dialled = co_await network->dial("api", 80, SteadyPoint::max());
    (void)co_await (*dialled)->write_all("POST /echo HTTP/1.1\r\nContent-Length: 6\r\n\r\nfirst");
    co_await world.sleep_for(2s);
    (void)co_await (*dialled)->write_all("!");
    std::vector<char> buffer(1000);
    const auto n = co_await (*dialled)->read_some(buffer);
    if (n) answer.assign(buffer.data(), *n);
  };
  auto drain = [&]() -> Task<> {
    co_await server->drain(world.steady() + 60s);
    drained = true;
  };
  scope.spawn("client", client());
  world.run_for(1s);
  scope.spawn("drain", drain());
  world.run_for(500ms);
  EXPECT_FALSE(drained);
  world.run_for(2s);
  EXPECT_THAT(answer, HasSubstr("got first!"));
  EXPECT_TRUE(drained);
}

TEST_F(Http, ARetiredConnectionAnswersWhatHasBegunAndNoMore) {
  start();
  auto slow = get("/slow");
  (void)get("/a");
  world.run_for(1s);
  ASSERT_EQ(server->connections(), 2u);
  server->retire_connections();
  world.run_for(1s);
  EXPECT_EQ(server->connections(), 1u) << "that of the request";
  world.run_for(10s);
  EXPECT_EQ(slow->status, 200u);
  EXPECT_EQ(server->connections(), 0u);
  EXPECT_EQ(network->dialled(), 2u);
  auto later = get("/a");
  world.run_for(1s);
  EXPECT_EQ(later->status, 200u);
  EXPECT_EQ(network->dialled(), 3u);
}

TEST_F(Http, StoppingTheServerEndsEverythingAtOnce) {
  start();
  auto slow = get("/slow");
  auto forever = get("/forever", {.streaming = true});
  world.run_for(2s);
  TaskScope other(world.executor());
  other.stop();
  scope.stop();
  world.settle();
  EXPECT_EQ(server->connections(), 0u);
  EXPECT_EQ(handler.in_progress + handler.streams, 0);
}

TEST_F(Http, AHandlerCanBeUsedWithoutBytes) {
  PeerIdentity alice;
  alice.common_name = "alice";
  HandlerSender sender(world, handler, alice);
  const SteadyPoint begin = world.steady();
  auto who = send(sender, HttpRequest("GET", "/whoami"));
  auto slow = send(sender, HttpRequest("GET", "/slow"), {.deadline = begin + 2s});
  auto ticks = send(sender, HttpRequest("GET", "/ticks"), {.streaming = true});
  auto whole = send(sender, HttpRequest("GET", "/ticks"));
  auto plain = send(sender, HttpRequest("GET", "/a"), {.streaming = true});
  auto head = send(sender, HttpRequest("HEAD", "/a"));
  world.run_for(5s);
  EXPECT_EQ(who->text, "alice");
  EXPECT_EQ(slow->code, Errc::timeout);
  EXPECT_EQ(slow->at, begin + 2s);
  EXPECT_EQ(ticks->text, "tick\ntick\ntick\n");
  EXPECT_EQ(whole->text, "tick\ntick\ntick\n");
  EXPECT_EQ(plain->text, "hello");
  EXPECT_EQ(head->text, "");
}

TEST(Codec, AWatchDecodesTheSameHoweverItIsSplit) {
  std::string wire =
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n";
  append_chunk("{\"type\":\"ADDED\",\"n\":1}\n{\"type\":\"MOD", &wire);
  append_chunk("IFIED\",\"n\":2}\n", &wire);
  append_chunk("{\"type\":\"BOOKMARK\"}\n", &wire);
  wire += last_chunk;
  const std::string want =
      "{\"type\":\"ADDED\",\"n\":1}\n{\"type\":\"MODIFIED\",\"n\":2}\n"
      "{\"type\":\"BOOKMARK\"}\n";
  for (std::size_t a = 0; a <= wire.size(); ++a) {
    for (std::size_t b = a; b <= wire.size(); b += 3) {
      ResponseDecoder decoder({});
      decoder.start(false);
      decoder.set_streaming(true);
      std::string got;
      const std::string_view all = wire;
      for (std::string_view part : {all.substr(0, a), all.substr(a, b - a), all.substr(b)}) {
        decoder.append(part);
        ASSERT_TRUE(decoder.advance().has_value()) << a << "/" << b;
        got += decoder.take_body();
      }
      ASSERT_TRUE(decoder.done()) << a << "/" << b;
      ASSERT_EQ(got, want) << a << "/" << b;
    }
  }
}

/// Feeds `text` in pieces as they come from a socket until the decoder refuses; how much it held at
/// most.
std::size_t most_buffered(Decoder& decoder, std::string_view text, Status* verdict) {
  constexpr std::size_t piece = 16 * 1024;
  std::size_t most = 0;
  *verdict = ok();
  while (!text.empty() && *verdict) {
    decoder.append(text.substr(0, piece));
    text.remove_prefix(std::min(piece, text.size()));
    *verdict = decoder.advance();
    (void)decoder.take_body();
    most = std::max(most, decoder.buffered());
  }
  return most;
}

TEST(Codec, WhatBelongsToNoBodyIsBounded) {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string long_text(4 << 20, 'x');
  const std::pair<const char*, std::string> cases[] = {
      {"an endless chunk extension", head + "1;a=" + long_text},
      {"an endless trailer", head + "1\r\nx\r\n0\r\nX-Trailer: " + long_text},
      {"many trailers", [&] {
         std::string text = head + "1\r\nx\r\n0\r\n";
         while (text.size() < long_text.size()) text += "X-Trailer: more\r\n";
         return text;
       }()}};
  for (const auto& [name, text] : cases) {
    for (const bool streaming : {false, true}) {
      ResponseDecoder decoder({.header_max = 64 * 1024});
      decoder.set_streaming(streaming);
      Status verdict = ok();
      EXPECT_LE(most_buffered(decoder, text, &verdict), 96u * 1024) << name;
      EXPECT_FALSE(verdict.has_value()) << name;
    }
  }
}

TEST(Codec, RequestsToo) {
  RequestDecoder decoder({.header_max = 16 * 1024});
  Status verdict = ok();
  const std::string text =
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;a=" + std::string(4 << 20, 'x');
  EXPECT_LE(most_buffered(decoder, text, &verdict), 48u * 1024);
  EXPECT_FALSE(verdict.has_value());
  EXPECT_EQ(decoder.refusal(), 400u);
}

TEST(Codec, ChunkExtensionsAndTrailersOfUsualSizeAreRead) {
  ResponseDecoder decoder({});
  decoder.append(
      std::string_view("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                       "2;a=b\r\nhi\r\n0;c\r\nX-Trailer: t\r\n\r\n"));
  ASSERT_TRUE(decoder.advance().has_value());
  EXPECT_TRUE(decoder.done());
  EXPECT_EQ(decoder.take_body(), "hi");
}

TEST(Codec, InformationalAnswersAreCounted) {
  const auto flood = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "HTTP/1.1 103 Early Hints\r\n\r\n";
    text += "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    ResponseDecoder decoder({});
    decoder.append(text);
    return decoder.advance();
  };
  EXPECT_TRUE(flood(16).has_value());
  EXPECT_FALSE(flood(17).has_value());
}

TEST(Codec, ACutWatchIsNeverWhole) {
  std::string wire = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  append_chunk("{\"type\":\"ADDED\"}\n", &wire);
  wire += last_chunk;
  for (std::size_t cut = 0; cut < wire.size(); ++cut) {
    ResponseDecoder decoder({});
    decoder.set_streaming(true);
    decoder.append(std::string_view(wire).substr(0, cut));
    ASSERT_TRUE(decoder.advance().has_value());
    EXPECT_FALSE(decoder.end_of_stream().has_value()) << cut;
  }
}

}  // namespace
}  // namespace regatta::net
