#include "lib/net/tls.h"

#include "lib/net/openssl_ptr.h"
#include "lib/net/tcp_socket.h"
#include "lib/runtime/deadline.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cerrno>
#include <new>
#include <sys/socket.h>
#include <tuple>

namespace regatta::net {
namespace {

namespace ssl = asio::ssl;
using asio::ip::tcp;
using boost::system::error_code;
constexpr auto as_tls_result = asio::as_tuple(asio::use_awaitable);

/// Whether the peer's alert says that it does not accept our certificate.
bool refuses_us(const error_code& ec) {
  if (ec.category() != asio::error::get_ssl_category()) return false;
  switch (ERR_GET_REASON(static_cast<unsigned long>(ec.value()))) {
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
      return true;
    default:
      return false;
  }
}

Task<Error> tls_error(error_code ec) {
  if (refuses_us(ec)) {
    co_return Error(Errc::denied, "the peer refused our certificate: " + ec.message());
  }
  co_return co_await internal::stream_error(ec);
}

PeerIdentity identity_of(SSL* tls) {
  PeerIdentity peer;
  const internal::X509Ptr certificate(SSL_get1_peer_certificate(tls));
  if (!certificate || SSL_get_verify_result(tls) != X509_V_OK) return peer;
  const X509_NAME* subject = X509_get_subject_name(certificate.get());
  auto names = internal::name_values(subject, NID_commonName);
  if (!names.empty()) peer.common_name = std::move(names.back());
  peer.organizations = internal::name_values(subject, NID_organizationName);
  return peer;
}

/// The socket of a stream as OpenSSL reads and writes it. OpenSSL's own BIO of a socket writes so
/// that SIGPIPE may come, and keeps the descriptor's number when the socket was closed.
///
/// OpenSSL reads on until it has data. A peer may send what is no data for ever: tickets, updates
/// of keys. So each step reads so many bytes only, and so many of such messages may come in a row.
struct Wire {
  explicit Wire(tcp::socket of) : socket(std::move(of)) {}

  tcp::socket socket;
  std::size_t left = 0;  ///< bytes that this step may read yet
  int messages = 0;      ///< since data came last
  bool interrupted = false;
  /// The last read got less than it asked for. A wait tells when there is more.
  bool drained = false;

  static constexpr std::size_t step_max = 64 * 1024;
  static constexpr int messages_max = 100;
  bool babbles() const { return messages > messages_max; }
};

int socket_write(BIO* bio, const char* bytes, int n) {
  auto& socket = static_cast<Wire*>(BIO_get_data(bio))->socket;
  BIO_clear_retry_flags(bio);
  const auto done =
      ::send(socket.native_handle(), bytes, static_cast<std::size_t>(n), MSG_NOSIGNAL);
  if (done < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
  return static_cast<int>(done);
}

int socket_read(BIO* bio, char* into, int n) {
  Wire& wire = *static_cast<Wire*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  if (wire.babbles()) {
    errno = EPROTO;
    return -1;
  }
  wire.interrupted = wire.left == 0;
  if (wire.interrupted || wire.drained) {
    BIO_set_retry_read(bio);
    return -1;
  }
  const std::size_t most = std::min(wire.left, static_cast<std::size_t>(n));
  const auto done = ::recv(wire.socket.native_handle(), into, most, 0);
  if (done > 0) wire.left -= static_cast<std::size_t>(done);
  wire.drained = done > 0 && static_cast<std::size_t>(done) < most;
  if (done < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
  if (done == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return static_cast<int>(done);
}

/// OpenSSL's callback for each message.
void count_message(int sent, int, int type, const void*, std::size_t, SSL*, void* wire) {
  const bool counts = type == SSL3_RT_HANDSHAKE || type == SSL3_RT_ALERT;
  if (sent == 0 && counts) ++static_cast<Wire*>(wire)->messages;
}

long socket_control(BIO* bio, int what, long, void*) {
  if (what == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
  return what == BIO_CTRL_FLUSH ? 1 : 0;
}

const BIO_METHOD* socket_method() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "regatta socket");
    BIO_meth_set_write(made, socket_write);
    BIO_meth_set_read(made, socket_read);
    BIO_meth_set_ctrl(made, socket_control);
    return made;
  }();
  return method;
}

using SessionPtr = std::unique_ptr<SSL_SESSION, internal::FreeWith<SSL_SESSION_free>>;

/// What the server that was dialled last gave, so that the next connection needs no certificates.
/// It counts for a while only, so that a certificate that has ended or was replaced is noticed.
struct LastSession {
  SessionPtr session;       ///< null: none yet
  std::string server_name;  ///< that the certificate was verified for
  SteadyPoint verified{};
  std::uint64_t resumed = 0;
};

/// TLS over the socket itself. Boost.Asio's stream holds 68 KB of buffers for each connection, and
/// most connections wait; here a connection that waits has none.
class TlsStream final : public ByteStream {
 public:
  /// The server side shakes hands in its first read.
  TlsStream(tcp::socket socket, SSL_CTX* context, bool server)
      : wire_(std::move(socket)), tls_(SSL_new(context)), greeted_(!server) {
    BIO* const bio = tls_ ? BIO_new(socket_method()) : nullptr;
    if (!bio) throw std::bad_alloc();
    BIO_set_data(bio, &wire_);
    BIO_set_init(bio, 1);
    SSL_set_bio(tls_.get(), bio, bio);
    server ? SSL_set_accept_state(tls_.get()) : SSL_set_connect_state(tls_.get());
    SSL_set_msg_callback(tls_.get(), count_message);
    SSL_set_msg_callback_arg(tls_.get(), &wire_);
    error_code ignored;
    wire_.socket.native_non_blocking(true, ignored);
  }

  /// A connection that was just closed says nothing against its session, as OpenSSL assumes unless
  /// it has said goodbye.
  ~TlsStream() override { SSL_set_shutdown(tls_.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN); }

  Task<Status> handshake() {
    error_code ec;
    const auto greet = [this](std::size_t*) { return SSL_do_handshake(tls_.get()); };
    co_await until_done(greet, &ec);
    if (!ec) co_return ok();
    const long verdict = SSL_get_verify_result(tls_.get());
    if (!SSL_is_server(tls_.get()) && verdict != X509_V_OK) {
      co_return Error(Errc::denied, std::string("the server's certificate is not accepted: ") +
                                        X509_verify_cert_error_string(verdict));
    }
    const auto refused = co_await tls_error(ec);
    co_return refused.within("TLS handshake");
  }
  SSL* native() { return tls_.get(); }

  /// Goes on with the last session if that may be, and keeps in `last` what the server gives.
  void use_sessions(std::shared_ptr<LastSession> last, std::string server_name, SteadyPoint now) {
    last_ = std::move(last);
    server_name_ = std::move(server_name);
    verified_ = now;
    SSL_set_ex_data(tls_.get(), index_of_stream(), this);
    const bool fits = last_->session && last_->server_name == server_name_ &&
                      now - last_->verified < TlsDialer::session_age_max;
    if (!fits || SSL_set_session(tls_.get(), last_->session.get()) != 1) return;
    offered_ = last_->verified;
  }
  /// After the handshake.
  bool went_on() const { return SSL_session_reused(tls_.get()) == 1; }

  /// OpenSSL's callback, after a handshake: takes the session.
  static int keep_session(SSL* tls, SSL_SESSION* given) {
    auto* const stream = static_cast<TlsStream*>(SSL_get_ex_data(tls, index_of_stream()));
    if (!stream || !stream->last_ || SSL_SESSION_is_resumable(given) != 1) return 0;
    LastSession& last = *stream->last_;
    last.session.reset(given);
    last.server_name = stream->server_name_;
    last.verified = stream->went_on() ? stream->offered_ : stream->verified_;
    return 1;
  }

  Task<Result<std::size_t>> read_some(std::span<char> into) override {
    if (!greeted_) {
      const Status greeting = co_await handshake();
      if (!greeting) co_return greeting.error();
      greeted_ = true;
      peer_ = identity_of(native());
    }
    error_code ec;
    const auto read = [this, into](std::size_t* n) {
      return SSL_read_ex(tls_.get(), into.data(), into.size(), n);
    };
    const std::size_t n = co_await until_done(read, &ec);
    if (n > 0) wire_.messages = 0;
    if (ec == asio::error::eof || ec == ssl::error::stream_truncated) co_return std::size_t(0);
    if (wire_.babbles()) co_return babble();
    if (ec) co_return co_await tls_error(ec);
    co_return n;
  }
  Task<Status> write_all(std::string_view bytes) override {
    while (!bytes.empty()) {
      error_code ec;
      const auto write = [this, bytes](std::size_t* n) {
        return SSL_write_ex(tls_.get(), bytes.data(), bytes.size(), n);
      };
      bytes.remove_prefix(co_await until_done(write, &ec));
      if (ec) co_return co_await tls_error(ec);
    }
    co_return ok();
  }
  void close() noexcept override { internal::close(wire_.socket); }
  void shutdown_write() noexcept override { internal::shutdown_write(wire_.socket); }
  bool quiet() noexcept override { return internal::quiet(wire_.socket); }
  PeerIdentity peer() const override { return peer_; }

 private:
  /// Calls `step` again whenever the socket is ready for what it waits for, until it succeeds or
  /// fails. What it says to have done; 0 with `ec` set.
  template <class Step>
  Task<std::size_t> until_done(Step step, error_code* ec) {
    for (;;) {
      std::size_t n = 0;
      ERR_clear_error();
      errno = 0;
      wire_.left = Wire::step_max;
      wire_.interrupted = false;
      const int outcome = step(&n);
      if (outcome == 1) {
        // A peer that always has more must not keep all others waiting.
        if (++in_a_row_ % in_a_row_max == 0) co_await asio::post(asio::use_awaitable);
        co_return n;
      }
      const int why = SSL_get_error(tls_.get(), outcome);
      if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) {
        *ec = failure(why);
        co_return 0;
      }
      if (wire_.interrupted) {
        co_await asio::post(asio::use_awaitable);  // others have their turn
        continue;
      }
      in_a_row_ = 0;
      const bool reads = why == SSL_ERROR_WANT_READ;
      const auto what = reads ? tcp::socket::wait_read : tcp::socket::wait_write;
      std::tie(*ec) = co_await wire_.socket.async_wait(what, as_tls_result);
      wire_.drained = false;
      if (*ec) co_return 0;
    }
  }

  error_code failure(int why) const {
    const int system = errno;
    if (!wire_.socket.is_open()) return asio::error::operation_aborted;
    if (why == SSL_ERROR_ZERO_RETURN) return asio::error::eof;
    const unsigned long first = ERR_get_error();
    if (why == SSL_ERROR_SYSCALL && first == 0) {
      if (system == 0) return ssl::error::stream_truncated;
      return {system, boost::system::system_category()};
    }
    if (ERR_GET_REASON(first) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
      return ssl::error::stream_truncated;
    }
    return {static_cast<int>(first), asio::error::get_ssl_category()};
  }

  static Error babble() {
    return Error(Errc::unavailable, "the peer has sent more than " +
                                        std::to_string(Wire::messages_max) +
                                        " messages of TLS without any data");
  }

  static int index_of_stream() {
    static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return index;
  }

  static constexpr unsigned in_a_row_max = 8;
  Wire wire_;
  std::unique_ptr<SSL, internal::FreeWith<SSL_free>> tls_;
  bool greeted_;
  unsigned in_a_row_ = 0;
  PeerIdentity peer_;
  std::shared_ptr<LastSession> last_;  ///< of a client; may be null
  std::string server_name_;
  SteadyPoint verified_{};  ///< when the certificate is verified, if it has to be
  SteadyPoint offered_{};   ///< when that of the session was that the greeting offers
};

struct FreeChain {
  void operator()(STACK_OF(X509) * chain) const { sk_X509_pop_free(chain, X509_free); }
};

Status bad_pem(std::string_view what, const error_code& ec) {
  return Error(Errc::invalid, "cannot use " + std::string(what) + ": " + ec.message());
}

Status use_key_pair(ssl::context& context, const std::string& certificate, const std::string& key) {
  error_code ec;
  context.use_certificate_chain(asio::buffer(certificate), ec);
  if (ec) return bad_pem("the certificate", ec);
  // OpenSSL would ask for the passphrase on the terminal, and hold everything up.
  context.set_password_callback([](std::size_t, ssl::context::password_purpose) { return ""; });
  if (key.find("ENCRYPTED") != std::string::npos) {
    return Error(Errc::invalid, "the private key is encrypted: give it without a passphrase");
  }
  context.use_private_key(asio::buffer(key), ssl::context::pem, ec);
  if (ec) return bad_pem("the private key", ec);
  if (SSL_CTX_check_private_key(context.native_handle()) != 1) {
    ERR_clear_error();
    return Error(Errc::invalid, "the private key does not belong to the certificate");
  }
  return ok();
}

void set_floor(ssl::context& context) {
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.native_handle(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(context.native_handle(), SSL_MODE_RELEASE_BUFFERS |
                                                SSL_MODE_ENABLE_PARTIAL_WRITE |
                                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context.native_handle(), 1);
}

Result<std::shared_ptr<ssl::context>> server_context(const TlsServerOptions& options) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  set_floor(*context);
  SSL_CTX_set_session_cache_mode(context->native_handle(), SSL_SESS_CACHE_OFF);
  if (options.sessions) {
    static constexpr unsigned char of_regatta[] = "regatta";
    SSL_CTX_set_session_id_context(context->native_handle(), of_regatta, sizeof(of_regatta) - 1);
    SSL_CTX_set_num_tickets(context->native_handle(), 1);
  } else {
    SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(context->native_handle(), 0);
  }
  if (auto used = use_key_pair(*context, options.certificate_pem, options.key_pem); !used) {
    return used.error();
  }
  if (options.client_ca_pem.empty()) return context;
  error_code ec;
  context->add_certificate_authority(asio::buffer(options.client_ca_pem), ec);
  if (ec) return bad_pem("the client CA", ec).error();
  const int required = options.client_certificate_required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0;
  SSL_CTX_set_verify(context->native_handle(), SSL_VERIFY_PEER | required, nullptr);
  return context;
}

class TlsListenerImpl final : public TlsListener {
 public:
  TlsListenerImpl(tcp::acceptor acceptor, std::shared_ptr<ssl::context> context)
      : acceptor_(std::move(acceptor)), context_(std::move(context)) {}

  Task<Result<std::unique_ptr<ByteStream>>> accept() override {
    auto socket = co_await internal::accept(acceptor_);
    if (!socket) co_return socket.error();
    std::unique_ptr<ByteStream> stream =
        std::make_unique<TlsStream>(std::move(*socket), context_->native_handle(), true);
    co_return std::move(stream);
  }
  void close() noexcept override {
    error_code ignored;
    acceptor_.close(ignored);
  }
  std::uint16_t port() const override { return acceptor_.local_endpoint().port(); }
  Status reload(const TlsServerOptions& options) override {
    auto fresh = server_context(options);
    if (!fresh) return fresh.error();
    context_ = std::move(*fresh);  // open connections keep the old context
    return ok();
  }

 private:
  tcp::acceptor acceptor_;
  std::shared_ptr<ssl::context> context_;
};

/// The certificate must be for `name`. The server is told the name, unless it is an address, for
/// which TLS has no such field.
bool expect_name(SSL* tls, const std::string& name) {
  X509_VERIFY_PARAM* const wanted = SSL_get0_param(tls);
  X509_VERIFY_PARAM_set_hostflags(
      wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  error_code not_literal;
  asio::ip::make_address(name, not_literal);
  if (!not_literal) return X509_VERIFY_PARAM_set1_ip_asc(wanted, name.c_str()) == 1;
  return X509_VERIFY_PARAM_set1_host(wanted, name.data(), name.size()) == 1 &&
         SSL_set_tlsext_host_name(tls, name.c_str()) == 1;
}

/// What one client trusts, and what it shows of itself. A context of OpenSSL takes another 13 KB,
/// and a hub has a client for each worker, so all of them share one, and each connection gets this.
struct Client {
  std::unique_ptr<X509_STORE, internal::FreeWith<X509_STORE_free>> trusted;
  internal::X509Ptr certificate;  ///< null: none, and no key
  internal::KeyPtr key;
  std::unique_ptr<STACK_OF(X509), FreeChain> chain;  ///< of the certificate; null: none
};

/// What a context was given.
Client client_of(ssl::context& context) {
  SSL_CTX* const from = context.native_handle();
  Client out;
  X509_STORE_up_ref(SSL_CTX_get_cert_store(from));
  out.trusted.reset(SSL_CTX_get_cert_store(from));
  X509* const certificate = SSL_CTX_get0_certificate(from);
  if (!certificate) return out;
  X509_up_ref(certificate);
  out.certificate.reset(certificate);
  EVP_PKEY* const key = SSL_CTX_get0_privatekey(from);
  EVP_PKEY_up_ref(key);
  out.key.reset(key);
  STACK_OF(X509)* chain = nullptr;
  SSL_CTX_get0_chain_certs(from, &chain);
  if (chain) out.chain.reset(X509_chain_up_ref(chain));
  return out;
}

bool stand_for(SSL* tls, const Client& client) {
  if (SSL_set1_verify_cert_store(tls, client.trusted.get()) != 1) return false;
  if (!client.certificate) return true;
  return SSL_use_cert_and_key(tls, client.certificate.get(), client.key.get(), client.chain.get(),
                              1) == 1;
}

/// Trusts no authority and shows no certificate; never changes.
SSL_CTX* client_context() {
  static SSL_CTX* const made = [] {
    ssl::context context(ssl::context::tls_client);
    set_floor(context);
    context.set_verify_mode(ssl::verify_peer);
    // Each dialer keeps its own.
    SSL_CTX_set_session_cache_mode(context.native_handle(),
                                   SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context.native_handle(), TlsStream::keep_session);
    SSL_CTX_up_ref(context.native_handle());
    return context.native_handle();
  }();
  return made;
}

Task<Result<std::unique_ptr<ByteStream>>> greet(std::unique_ptr<TlsStream> stream,
                                                std::shared_ptr<LastSession> last) {
  const Status greeting = co_await stream->handshake();
  if (!greeting) co_return greeting.error();
  if (stream->went_on()) ++last->resumed;
  std::unique_ptr<ByteStream> ready = std::move(stream);
  co_return std::move(ready);
}

}  // namespace

struct TlsDialer::Context {
  Client client;
  std::string server_name;
  std::shared_ptr<LastSession> last = std::make_shared<LastSession>();
};

TlsDialer::TlsDialer(Clock& clock, std::shared_ptr<Resolver> resolver,
                     std::unique_ptr<Context> context)
    : clock_(clock), resolver_(std::move(resolver)), context_(std::move(context)) {}

TlsDialer::~TlsDialer() = default;

std::uint64_t TlsDialer::resumed() const {
  return context_->last->resumed;
}

Result<std::shared_ptr<TlsDialer>> TlsDialer::create(Clock& clock, const TlsClientOptions& options,
                                                     std::shared_ptr<Resolver> resolver) {
  ssl::context reader{ssl::context::tls_client};
  error_code ec;
  if (options.ca_pem.empty()) {
    reader.set_default_verify_paths(ec);
    if (ec) return bad_pem("the system's certificate authorities", ec).error();
  } else {
    reader.add_certificate_authority(asio::buffer(options.ca_pem), ec);
    if (ec) return bad_pem("the certificate authority", ec).error();
  }
  if (options.certificate_pem.empty() != options.key_pem.empty()) {
    return Error(Errc::invalid, "a client certificate needs its private key, and the other way");
  }
  if (!options.certificate_pem.empty()) {
    auto used = use_key_pair(reader, options.certificate_pem, options.key_pem);
    if (!used) return used.error().within("client credentials");
  }
  auto context = std::make_unique<Context>();
  context->client = client_of(reader);
  context->server_name = options.server_name;
  return std::shared_ptr<TlsDialer>(new TlsDialer(clock, std::move(resolver), std::move(context)));
}

Task<Result<std::unique_ptr<ByteStream>>> TlsDialer::dial(std::string host, std::uint16_t port,
                                                          SteadyPoint deadline) {
  auto socket = co_await internal::connect(clock_, resolver_, host, port, deadline);
  if (!socket) co_return socket.error();
  const std::string name = context_->server_name.empty() ? host : context_->server_name;
  auto stream = std::make_unique<TlsStream>(std::move(*socket), client_context(), false);
  if (!stand_for(stream->native(), context_->client)) {
    co_return Error(Errc::invalid,
                    "cannot use the client credentials: " + internal::last_openssl_error());
  }
  if (!expect_name(stream->native(), name)) {
    co_return Error(Errc::invalid, "not usable as a server name: " + name);
  }
  const std::shared_ptr<LastSession> last = context_->last;
  stream->use_sessions(last, name, clock_.steady());
  auto ready = co_await with_deadline(clock_, deadline, greet(std::move(stream), last));
  if (ready) co_return std::move(*ready);
  last->session.reset();
  co_return ready.error().within("connecting to " + host_and_port(host, port));
}

Result<std::unique_ptr<TlsListener>> listen_tls(const Executor& executor, std::string_view address,
                                                std::uint16_t port,
                                                const TlsServerOptions& options) {
  auto context = server_context(options);
  if (!context) return context.error();
  auto acceptor = internal::open_acceptor(executor, address, port);
  if (!acceptor) return acceptor.error();
  std::unique_ptr<TlsListener> listener =
      std::make_unique<TlsListenerImpl>(std::move(*acceptor), std::move(*context));
  return listener;
}

}  // namespace regatta::net
