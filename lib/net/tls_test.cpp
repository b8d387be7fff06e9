#include "lib/net/tls.h"

#include "lib/net/http_client.h"
#include "lib/net/http_server.h"
#include "lib/net/pki.h"
#include "lib/runtime/deadline.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <array>
#include <csignal>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace regatta::net {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Duration day = std::chrono::hours(24);

class WhoAmI final : public HttpHandler {
 public:
  Task<HttpResponse> handle(HttpRequest request) override {
    std::string text = request.peer.common_name;
    for (const std::string& group : request.peer.organizations) text += "," + group;
    co_return HttpResponse(200, text);
  }
};

/// Every name is one of this machine.
class Loopback final : public Resolver {
 public:
  Task<Result<std::vector<std::string>>> resolve(std::string) override {
    co_return std::vector<std::string>{"127.0.0.1"};
  }
};

/// One server and one client on loopback, for one exchange.
struct Tls : ::testing::Test {
  asio::io_context io{1};
  SystemClock clock;
  WhoAmI handler;
  CertificateAuthority ca = *CertificateAuthority::create("test-ca", clock.now(), day);
  CertificateAuthority other = *CertificateAuthority::create("other-ca", clock.now(), day);
  KeyPair server_pair = *ca.issue_server({"api", {"api.test"}, {"127.0.0.1"}}, clock.now(), day);
  TlsServerOptions server{server_pair.certificate_pem, server_pair.key_pem, "", false};
  TlsClientOptions options{.ca_pem = ca.certificate_pem()};
  std::uint16_t port = 0;

  void present(const KeyPair& pair) {
    options.certificate_pem = pair.certificate_pem;
    options.key_pem = pair.key_pem;
  }

  Task<> exchange(TlsListener* listener, std::string host, Result<HttpResponse>* out,
                  std::function<void(TlsListener&)> between) {
    auto dialer = TlsDialer::create(clock, options, std::make_shared<Loopback>());
    if (!dialer) {
      *out = dialer.error();
      co_return;
    }
    HttpClient client(co_await asio::this_coro::executor, clock, *dialer, host, port);
    const int rounds = between ? 2 : 1;
    for (int i = 0; i < rounds; ++i) {
      HttpRequest request("GET", "/");
      SendOptions send;
      send.deadline = clock.steady() + 10s;
      *out = co_await client.send(std::move(request), send);
      if (between) between(*listener);
    }
  }

  /// The answer to one request. The second form does something in `between`.
  Result<HttpResponse> ask(std::string host = "127.0.0.1",
                           std::function<void(TlsListener&)> between = nullptr) {
    Result<HttpResponse> answer = Error(Errc::timeout, "did not end");
    const Status served = serve([&](TlsListener* listener) -> Task<> {
      return exchange(listener, host, &answer, between);
    });
    if (!served) return served.error();
    return answer;
  }

  /// Until it has ended.
  void run(Task<> body) {
    TaskScope scope(io.get_executor());
    scope.spawn("body", std::move(body));
    io.run();
  }

  /// Runs the server until `client` has ended.
  Status serve(const std::function<Task<>(TlsListener*)>& client) {
    auto listener = listen_tls(io.get_executor(), "127.0.0.1", 0, server);
    if (!listener) return listener.error();
    TlsListener* raw = listener->get();
    port = raw->port();
    HttpServer http(io.get_executor(), clock, std::move(*listener), handler);
    TaskScope scope(io.get_executor());
    auto body = [&]() -> Task<> {
      co_await client(raw);
      asio::post(io, [&] { scope.stop(); });
    };
    scope.spawn("server", http.run());
    scope.spawn("client", body());
    io.restart();
    io.run();
    return ok();
  }
};

TEST_F(Tls, AnswersAnAnonymousClient) {
  auto answer = ask();
  ASSERT_TRUE(answer) << answer.error().what();
  EXPECT_EQ(answer->body, "");
}

TEST_F(Tls, SeesTheClientsIdentity) {
  server.client_ca_pem = ca.certificate_pem();
  present(*ca.issue_client("system:admin", {"system:masters", "devs"}, clock.now(), day));
  auto answer = ask();
  ASSERT_TRUE(answer) << answer.error().what();
  EXPECT_EQ(answer->body, "system:admin,system:masters,devs");
}

TEST_F(Tls, AClientCertificateIsOptional) {
  server.client_ca_pem = ca.certificate_pem();
  auto answer = ask();
  ASSERT_TRUE(answer) << answer.error().what();
  EXPECT_EQ(answer->body, "");
}

TEST_F(Tls, ClientsOfOneProcessShareNeitherTrustNorIdentity) {
  server.client_ca_pem = ca.certificate_pem();
  const TlsClientOptions anonymous = options;
  present(*ca.issue_client("system:admin", {}, clock.now(), day));
  EXPECT_EQ(ask()->body, "system:admin");
  options = anonymous;
  EXPECT_EQ(ask()->body, "");
  options.ca_pem = other.certificate_pem();
  const auto refused = ask();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::denied) << refused.error().what();
  options.ca_pem = ca.certificate_pem();
  present(*ca.issue_client("dev", {}, clock.now(), day));
  EXPECT_EQ(ask()->body, "dev");
}

/// Requests with a connection for each, by one dialer.
struct TlsSessions : Tls {
  /// Runs ahead of the system's.
  class LaterClock final : public Clock {
   public:
    TimePoint now() const override { return real_.now() + ahead; }
    SteadyPoint steady() const override { return real_.steady() + ahead; }
    Task<> sleep_until(SteadyPoint t) override { return real_.sleep_until(t - ahead); }
    Duration ahead{0};

   private:
    SystemClock real_;
  };

  Task<> request(std::string host, std::string* out) {
    HttpClient client(co_await asio::this_coro::executor, late, dialer, host, port);
    HttpRequest request("GET", "/");
    SendOptions send;
    send.deadline = late.steady() + 10s;
    const auto answer = co_await client.send(std::move(request), send);
    *out = answer ? answer->body : answer.error().what();
  }
  Task<> all(std::vector<std::function<void(TlsListener&)>> steps, TlsListener* listener,
             std::vector<std::string>* out) {
    for (const auto& step : steps) {
      if (step) step(*listener);
      co_await request("127.0.0.1", &out->emplace_back());
      out->back() += dialer->resumed() > resumed ? " resumed" : "";
      resumed = dialer->resumed();
    }
  }
  /// The answers to as many requests as there are steps, each of which comes first.
  std::vector<std::string> ask_after(std::vector<std::function<void(TlsListener&)>> steps) {
    dialer = TlsDialer::create(late, options).value();
    resumed = 0;
    std::vector<std::string> answers;
    EXPECT_TRUE(serve([&](TlsListener* listener) { return all(steps, listener, &answers); }));
    return answers;
  }

  LaterClock late;
  std::shared_ptr<TlsDialer> dialer;
  std::uint64_t resumed = 0;
};

TEST_F(TlsSessions, ALaterConnectionGoesOnWithTheSessionOfAnEarlierOne) {
  server.client_ca_pem = ca.certificate_pem();
  server.sessions = true;
  present(*ca.issue_client("dev", {"team"}, clock.now(), day));
  EXPECT_THAT(ask_after({nullptr, nullptr, nullptr}),
              ElementsAre("dev,team", "dev,team resumed", "dev,team resumed"));
  server.sessions = false;
  EXPECT_THAT(ask_after({nullptr, nullptr}), ElementsAre("dev,team", "dev,team"));
}

TEST_F(TlsSessions, TheCertificateIsVerifiedAnewEachHour) {
  server.sessions = true;
  const auto later = [&](Duration by) { return [this, by](TlsListener&) { late.ahead += by; }; };
  EXPECT_THAT(ask_after({nullptr, later(59min), later(2min), later(59min)}),
              ElementsAre("", " resumed", "", " resumed"));
}

TEST_F(TlsSessions, AServerWithAnotherCertificateIsVerified) {
  server.sessions = true;
  const auto reload = [&](CertificateAuthority& authority) {
    return [this, &authority](TlsListener& listener) {
      const KeyPair fresh = *authority.issue_server({"api", {}, {"127.0.0.1"}}, clock.now(), day);
      TlsServerOptions changed{fresh.certificate_pem, fresh.key_pem, "", false, true};
      ASSERT_TRUE(listener.reload(changed));
    };
  };
  const auto answers = ask_after({nullptr, nullptr, reload(ca), nullptr, reload(other), nullptr});
  ASSERT_EQ(answers.size(), 6U);
  EXPECT_THAT(std::vector(answers.begin(), answers.begin() + 4),
              ElementsAre("", " resumed", "", " resumed"));
  EXPECT_THAT(answers[4], HasSubstr("certificate is not accepted"));
  EXPECT_THAT(answers[5], HasSubstr("certificate is not accepted"));
}

TEST_F(Tls, ARequiredClientCertificateThatIsMissingIsDenied) {
  server.client_ca_pem = ca.certificate_pem();
  server.client_certificate_required = true;
  auto answer = ask();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), Errc::denied) << answer.error().what();
  EXPECT_THAT(answer.error().what(), HasSubstr("127.0.0.1:" + std::to_string(port)));
}

TEST_F(Tls, AClientCertificateOfAnotherAuthorityIsDenied) {
  server.client_ca_pem = ca.certificate_pem();
  present(*other.issue_client("mallory", {"system:masters"}, clock.now(), day));
  auto answer = ask();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), Errc::denied) << answer.error().what();
}

TEST_F(Tls, TheCommonNameOfAServerDoesNotStandForItsNames) {
  const KeyPair by_common_name =
      *ca.issue_server({"localhost", {}, {"127.0.0.2"}}, clock.now(), day);
  server.certificate_pem = by_common_name.certificate_pem;
  server.key_pem = by_common_name.key_pem;
  auto answer = ask("localhost");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), Errc::denied) << answer.error().what();
}

/// The key with a passphrase around it, in both forms that are in use.
std::string encrypted(const std::string& key_pem, bool traditional) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> in(
      BIO_new_mem_buf(key_pem.data(), static_cast<int>(key_pem.size())), &BIO_free);
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      PEM_read_bio_PrivateKey(in.get(), nullptr, nullptr, nullptr), &EVP_PKEY_free);
  const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), &BIO_free);
  unsigned char phrase[] = "secret";
  const auto write =
      traditional ? &PEM_write_bio_PrivateKey_traditional : &PEM_write_bio_PrivateKey;
  write(out.get(), key.get(), EVP_aes_128_cbc(), phrase, 6, nullptr, nullptr);
  char* text = nullptr;
  const long size = BIO_get_mem_data(out.get(), &text);
  return std::string(text, static_cast<std::size_t>(size));
}

TEST_F(Tls, AnEncryptedKeyIsRefusedAndNeverAsksForAPassphrase) {
  for (const bool traditional : {false, true}) {
    KeyPair pair = *ca.issue_client("system:admin", {}, clock.now(), day);
    pair.key_pem = encrypted(pair.key_pem, traditional);
    present(pair);
    auto answer = ask();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code(), Errc::invalid);
    EXPECT_THAT(answer.error().what(), HasSubstr("the private key is encrypted"));
  }
}

TEST_F(Tls, AServerOfAnotherAuthorityIsRefused) {
  options.ca_pem = other.certificate_pem();
  auto answer = ask();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), Errc::denied);
  EXPECT_THAT(answer.error().what(), HasSubstr("certificate is not accepted"));
}

TEST_F(Tls, AServerOfAnotherNameIsRefused) {
  options.server_name = "elsewhere.test";
  auto answer = ask();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), Errc::denied);
  EXPECT_THAT(answer.error().what(), HasSubstr("ostname mismatch"));
}

TEST_F(Tls, TheServerNameToExpectCanBeGiven) {
  options.server_name = "api.test";
  EXPECT_TRUE(ask());
}

TEST_F(Tls, AnExpiredServerCertificateIsRefused) {
  const KeyPair old = *ca.issue_server({"api", {}, {"127.0.0.1"}}, clock.now() - 10 * day, day);
  server.certificate_pem = old.certificate_pem;
  server.key_pem = old.key_pem;
  auto answer = ask();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), Errc::denied);
  EXPECT_THAT(answer.error().what(), HasSubstr("expired"));
}

TEST_F(Tls, ReloadedCertificatesAreUsedForNewConnections) {
  const KeyPair fresh = *other.issue_server({"api", {}, {"127.0.0.1"}}, clock.now(), day);
  server.client_ca_pem = "";
  auto answer = ask("127.0.0.1", [&](TlsListener& listener) {
    EXPECT_FALSE(listener.reload({"nonsense", "nonsense", "", false}));
    EXPECT_TRUE(listener.reload({fresh.certificate_pem, fresh.key_pem, "", false}));
  });
  EXPECT_TRUE(answer) << "a kept connection goes on";
}

TEST_F(Tls, UselessCredentialsAreNamed) {
  options.ca_pem = "nonsense";
  EXPECT_THAT(ask().error().what(), HasSubstr("certificate authority"));
  options.ca_pem = ca.certificate_pem();
  options.certificate_pem = server_pair.certificate_pem;
  EXPECT_THAT(ask().error().what(), HasSubstr("private key"));
  options.key_pem = ca.key_pair().key_pem;
  EXPECT_EQ(ask().error().code(), Errc::invalid);
}

sockaddr_in on_loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

TEST_F(Tls, NothingOlderThanTls12IsSpoken) {
  auto listener = listen_tls(io.get_executor(), "127.0.0.1", 0, server);
  ASSERT_TRUE(listener);
  HttpServer http(io.get_executor(), clock, std::move(*listener), handler);
  port = static_cast<TlsListener&>(http.listener()).port();
  TaskScope scope(io.get_executor());
  scope.spawn("server", http.run());
  std::map<int, int> outcome;
  std::thread client([&] {
    for (const int version : {TLS1_1_VERSION, TLS1_2_VERSION, TLS1_3_VERSION}) {
      SSL_CTX* context = SSL_CTX_new(TLS_client_method());
      SSL_CTX_set_cipher_list(context, "DEFAULT:@SECLEVEL=0");
      SSL_CTX_set_min_proto_version(context, version);
      SSL_CTX_set_max_proto_version(context, version);
      const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
      const sockaddr_in address = on_loopback(port);
      EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
      SSL* tls = SSL_new(context);
      SSL_set_fd(tls, fd);
      outcome[version] = SSL_connect(tls);
      SSL_free(tls);
      ::close(fd);
      SSL_CTX_free(context);
    }
    asio::post(io, [&] { scope.stop(); });
  });
  io.run();
  client.join();
  EXPECT_NE(outcome[TLS1_1_VERSION], 1);
  EXPECT_EQ(outcome[TLS1_2_VERSION], 1);
  EXPECT_EQ(outcome[TLS1_3_VERSION], 1);
}

/// A peer of OpenSSL alone, in a thread of its own, that greets and then says much that is no data.
class Babbler {
 public:
  using Say = std::function<void(SSL*)>;
  static constexpr int most = 50'000;

  /// As a server, or, with `port`, as a client of that port.
  Babbler(const KeyPair& pair, std::uint16_t port, Say say)
      : server_(port == 0), pair_(pair), say_(std::move(say)) {
    fd_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = on_loopback(port);
    socklen_t size = sizeof address;
    if (server_) {
      EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
      EXPECT_EQ(::listen(fd_, 1), 0);
      EXPECT_EQ(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size), 0);
      port_ = ntohs(address.sin_port);
    } else {
      EXPECT_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
    }
    thread_ = std::thread([this] { run(); });
  }
  Babbler(const Babbler&) = delete;
  ~Babbler() { join(); }
  std::uint16_t port() const { return port_; }
  /// How much it could say.
  int join() {
    if (thread_.joinable()) thread_.join();
    return said_;
  }

 private:
  void run() {
    sigset_t broken_pipe;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
    const int fd = server_ ? ::accept(fd_, nullptr, nullptr) : ::dup(fd_);
    asio::ssl::context context(server_ ? asio::ssl::context::tls_server
                                       : asio::ssl::context::tls_client);
    if (server_) {
      context.use_certificate_chain(asio::buffer(pair_.certificate_pem));
      context.use_private_key(asio::buffer(pair_.key_pem), asio::ssl::context::pem);
    }
    SSL* tls = SSL_new(context.native_handle());
    SSL_set_fd(tls, fd);
    const int greeted = server_ ? SSL_accept(tls) : SSL_connect(tls);
    while (greeted == 1 && said_ < most) {
      say_(tls);
      if (SSL_do_handshake(tls) != 1) break;
      pollfd ended{fd, 0, 0};
      if (::poll(&ended, 1, 0) != 0) break;  // OpenSSL takes no notice
      ++said_;
    }
    SSL_free(tls);
    ::close(fd);
    ::close(fd_);
  }
  const bool server_;
  const KeyPair pair_;
  const Say say_;
  int fd_ = -1;
  std::uint16_t port_ = 0;
  int said_ = 0;
  std::thread thread_;
};

TEST_F(Tls, AGreetingMayBeLong) {
  for (int i = 0; i < 230; ++i) server.certificate_pem += ca.certificate_pem();
  auto answer = ask();
  ASSERT_TRUE(answer) << answer.error().what();
  EXPECT_EQ(answer->status, 200u);
}

TEST_F(Tls, AServerThatGivesTicketsForEverIsLeft) {
  Babbler server_of_tickets(server_pair, 0, [](SSL* tls) { SSL_new_session_ticket(tls); });
  Result<std::size_t> got = Error(Errc::timeout, "did not end");
  auto body = [&]() -> Task<> {
    auto dialer = TlsDialer::create(clock, options, std::make_shared<Loopback>());
    const std::uint16_t at = server_of_tickets.port();
    auto stream = co_await (*dialer)->dial("127.0.0.1", at, clock.steady() + 10s);
    EXPECT_TRUE(stream);
    std::array<char, 16> buffer{};
    if (stream) got = co_await (*stream)->read_some(buffer);
  };
  run(body());
  EXPECT_LT(server_of_tickets.join(), Babbler::most);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), Errc::unavailable);
  EXPECT_THAT(got.error().what(), HasSubstr("messages of TLS without any data"));
}

TEST_F(Tls, AClientThatChangesItsKeysForEverIsLeft) {
  auto listener = listen_tls(io.get_executor(), "127.0.0.1", 0, server);
  ASSERT_TRUE(listener);
  Babbler client({}, (*listener)->port(),
                 [](SSL* tls) { SSL_key_update(tls, SSL_KEY_UPDATE_NOT_REQUESTED); });
  Result<std::size_t> got = Error(Errc::timeout, "did not end");
  auto body = [&]() -> Task<> {
    auto stream = co_await (*listener)->accept();
    std::array<char, 16> buffer{};
    if (stream) got = co_await (*stream)->read_some(buffer);
  };
  run(body());
  EXPECT_LT(client.join(), Babbler::most);
  EXPECT_FALSE(got);
}

TEST_F(Tls, NoServerListeningIsUnavailable) {
  Result<HttpResponse> answer = Error(Errc::timeout, "did not end");
  auto body = [&]() -> Task<> {
    HttpClient client(io.get_executor(), clock, std::make_shared<TcpDialer>(clock), "127.0.0.1", 1);
    answer = co_await client.send(HttpRequest("GET", "/"), {});
  };
  run(body());
  EXPECT_EQ(answer.error().code(), Errc::unavailable);
  EXPECT_EQ(answer.error().what(),
            "GET 127.0.0.1:1/: connecting to 127.0.0.1:1: Connection refused");
}

class FixedResolver final : public Resolver {
 public:
  Task<Result<std::vector<std::string>>> resolve(std::string host) override {
    if (host != "api.test") co_return Error(Errc::unavailable, "Host not found");
    co_return std::vector<std::string>{"127.0.0.2", "127.0.0.1"};
  }
};

TEST_F(Tls, EveryAddressOfANameIsTried) {
  auto listener = listen_tcp(io.get_executor(), "127.0.0.1", 0);
  ASSERT_TRUE(listener);
  port = (*listener)->port();
  std::string known, unknown;
  auto body = [&]() -> Task<> {
    TcpDialer dialer(clock, std::make_shared<FixedResolver>());
    auto first = co_await dialer.dial("api.test", port, clock.steady() + 10s);
    known = first ? "" : first.error().what();
    auto second = co_await dialer.dial("other.test", 1, clock.steady() + 10s);
    unknown = second ? "" : second.error().what();
  };
  run(body());
  EXPECT_EQ(known, "");
  EXPECT_EQ(unknown, "connecting to other.test:1: Host not found");
}

TEST_F(Tls, AServerThatNeverGreetsTimesOut) {
  auto listener = listen_tcp(io.get_executor(), "127.0.0.1", 0);  // only the kernel accepts
  ASSERT_TRUE(listener);
  port = (*listener)->port();
  std::optional<Errc> code;
  auto body = [&]() -> Task<> {
    auto dialer = TlsDialer::create(clock, options, std::make_shared<Loopback>());
    auto stream = co_await (*dialer)->dial("127.0.0.1", port, clock.steady() + 20ms);
    if (!stream) code = stream.error().code();
  };
  run(body());
  EXPECT_EQ(code, Errc::timeout);
}

TEST_F(Tls, PlainTcpWorksToo) {
  auto listener = listen_tcp(io.get_executor(), "127.0.0.1", 0);
  ASSERT_TRUE(listener);
  port = (*listener)->port();
  HttpServer http(io.get_executor(), clock, std::move(*listener), handler);
  TaskScope scope(io.get_executor());
  unsigned status = 0;
  auto body = [&]() -> Task<> {
    const auto dialer = std::make_shared<TcpDialer>(clock, std::make_shared<Loopback>());
    HttpClient client(io.get_executor(), clock, dialer, "localhost", port);
    auto answer = co_await client.send(HttpRequest("GET", "/"), {});
    if (answer) status = answer->status;
    scope.stop();
  };
  scope.spawn("server", http.run());
  scope.spawn("client", body());
  io.run();
  EXPECT_EQ(status, 200u);
}

TEST(Pki, CertificatesSayWhenTheyEnd) {
  const TimePoint now = *parse_rfc3339("2026-03-01T12:00:00Z");
  const auto ca = CertificateAuthority::create("ca", now, 10 * day);
  ASSERT_TRUE(ca);
  EXPECT_EQ(format_rfc3339(*valid_until(ca->certificate_pem())), "2026-03-11T12:00:00Z");
  EXPECT_FALSE(valid_until("nonsense"));
  EXPECT_TRUE(CertificateAuthority::load(ca->key_pair()));
  EXPECT_FALSE(CertificateAuthority::load({ca->certificate_pem(), "nonsense"}));
  EXPECT_FALSE(ca->issue_server({"x", {"a,DNS:b"}, {}}, now, day));
}

}  // namespace
}  // namespace regatta::net
