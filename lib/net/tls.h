#pragma once

#include "lib/net/tcp.h"

#include <cstdint>

namespace regatta::net {

/// Holds a private key: never logged.
struct TlsClientOptions {
  std::string ca_pem;           ///< the only trusted authorities; empty: those of the system
  std::string server_name;      ///< expected in the certificate, and SNI; empty: the dialled host
  std::string certificate_pem;  ///< with its chain; empty for none
  std::string key_pem;
};

/// TLS 1.2 or newer over TCP. The server's certificate and name are always verified: a connection
/// may go on with the session of an earlier one of this dialer, which saves most of the work of
/// greeting, for an hour after the certificate was verified.
class TlsDialer final : public Dialer {
 public:
  /// `invalid` when a PEM cannot be used.
  static Result<std::shared_ptr<TlsDialer>> create(
      Clock& clock, const TlsClientOptions& options,
      std::shared_ptr<Resolver> resolver = make_system_resolver());
  ~TlsDialer() override;

  Task<Result<std::unique_ptr<ByteStream>>> dial(std::string host, std::uint16_t port,
                                                 SteadyPoint deadline) override;

  static constexpr Duration session_age_max = std::chrono::hours(1);
  /// How many connections went on with the session of an earlier one.
  std::uint64_t resumed() const;

 private:
  struct Context;
  TlsDialer(Clock& clock, std::shared_ptr<Resolver> resolver, std::unique_ptr<Context> context);

  Clock& clock_;
  std::shared_ptr<Resolver> resolver_;
  std::unique_ptr<Context> context_;
};

/// Holds a private key: never logged.
struct TlsServerOptions {
  std::string certificate_pem;  ///< with its chain
  std::string key_pem;
  /// Authorities that may sign client certificates; empty: no certificate is asked for. A
  /// certificate that does not verify ends the handshake.
  std::string client_ca_pem;
  bool client_certificate_required = false;
  /// Clients may go on with the session of an earlier connection, as those of Go's servers may.
  /// What says so arrives after the greeting, before anything else.
  bool sessions = false;
};

class TlsListener : public TcpListener {
 public:
  /// Other certificates for later connections. On an error the old ones stay.
  virtual Status reload(const TlsServerOptions& options) = 0;
};

/// As listen_tcp(), with TLS 1.2 or newer.
Result<std::unique_ptr<TlsListener>> listen_tls(const Executor& executor, std::string_view address,
                                                std::uint16_t port,
                                                const TlsServerOptions& options);

}  // namespace regatta::net
