#pragma once

#include "lib/base/clock.h"
#include "lib/base/json.h"
#include "lib/net/pki.h"

#include <optional>
#include <string>
#include <vector>

/// The certificates of the webhook server, as a Secret holds them.
///
///   Secret ──read_secret()──▶ CertificateSet ──judge()──▶ what is due ──renew()──▶ CertificateSet
namespace regatta::manager {

/// What the Secret holds. The names of its members are upstream's.
struct CertificateSet {
  /// ca.crt: every authority that may have signed a certificate in use, the newest first.
  std::string authorities_pem;
  std::string authority_key_pem;  ///< ca.key: of the newest
  net::KeyPair serving;           ///< tls.crt, tls.key
};

/// nullopt when a member is missing or cannot be read: upstream's installation has an empty Secret.
std::optional<CertificateSet> read_secret(const Json& secret);
/// The members of `data`, for a Secret.
Json secret_data(const CertificateSet& set);

struct CertificatePolicy {
  /// Under which API servers call the manager's servers.
  std::vector<std::string> dns_names;
  /// How long a new serving certificate is valid; its authority is valid ten times as long.
  Duration valid_for = std::chrono::hours(24 * 365);
};

/// What has to be made anew, and when to look again.
struct CertificatesDue {
  bool everything = false;  ///< nothing can be kept: there is no set, or its authority is no use
  bool authority = false;
  bool serving = false;
  TimePoint next{};  ///< if nothing is due now

  bool any() const { return everything || authority || serving; }
};

/// Replicas that judge the same set at the same time agree. The first rule that applies decides, so
/// that an authority and what it signs are never new together:
///
/// 1. Without an authority that can sign, everything is made anew.
/// 2. A serving certificate that no client would accept is replaced at once.
/// 3. An authority that ends within the lifetimes of two serving certificates gets a successor. The
///    old one stays in `authorities_pem` until it ends: nothing that it signed is refused.
/// 4. A serving certificate that has less than a third of its lifetime left is replaced, but not by
///    an authority younger than a sixth of it: API servers need time to learn of that authority.
CertificatesDue judge(const std::optional<CertificateSet>& set, const CertificatePolicy& policy,
                      TimePoint now);

/// The set with what is due made anew.
Result<CertificateSet> renew(std::optional<CertificateSet> set, const CertificatesDue& due,
                             const CertificatePolicy& policy, TimePoint now);

}  // namespace regatta::manager
