#pragma once

#include "lib/base/clock.h"

#include <string>
#include <vector>

namespace regatta::net {

/// A certificate and its private key (ECDSA P-256), both as PEM. Never logged.
struct KeyPair {
  std::string certificate_pem;
  std::string key_pem;
};

struct ServerNames {
  std::string common_name;
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;
};

/// Certificates that this file makes are valid from so long before they are made, for clocks that
/// are behind.
constexpr Duration backdated = std::chrono::hours(1);

/// A certificate authority of our own.
class CertificateAuthority {
 public:
  static Result<CertificateAuthority> create(std::string_view common_name, TimePoint now,
                                             Duration valid_for,
                                             const std::vector<std::string>& organizations = {});
  /// From the key pair that create() made.
  static Result<CertificateAuthority> load(KeyPair pair);

  const std::string& certificate_pem() const { return pair_.certificate_pem; }
  /// For storing; holds the private key.
  const KeyPair& key_pair() const { return pair_; }

  Result<KeyPair> issue_server(const ServerNames& names, TimePoint now, Duration valid_for) const;
  /// CN is the user name, O are its groups, as Kubernetes reads them.
  Result<KeyPair> issue_client(std::string_view common_name,
                               const std::vector<std::string>& organizations, TimePoint now,
                               Duration valid_for) const;

 private:
  explicit CertificateAuthority(KeyPair pair) : pair_(std::move(pair)) {}
  KeyPair pair_;
};

/// An RSA or ECDSA key for signing tokens: PEM of the private and of the public key.
struct SigningKey {
  std::string private_pem;
  std::string public_pem;
};
Result<SigningKey> make_signing_key();

/// When the first certificate of a PEM begins to be valid, and when it expires.
Result<TimePoint> valid_from(std::string_view certificate_pem);
Result<TimePoint> valid_until(std::string_view certificate_pem);

/// The certificates of a PEM, one text each, in their order; what else is in it is left out.
std::vector<std::string> certificates_in(std::string_view pem);

/// Whether a client that trusts `authorities_pem` would accept a server with this pair as
/// `dns_name` at that time. The Error says why not.
Status check_server(const KeyPair& pair, std::string_view authorities_pem,
                    const std::string& dns_name, TimePoint at);

/// `bytes` random bytes of the operating system as hexadecimal digits: for tokens.
std::string random_token(std::size_t bytes = 32);

}  // namespace regatta::net
