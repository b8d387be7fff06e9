#include "manager/webhooks/certificate_set.h"

#include "lib/base/base64.h"
#include "lib/base/json_access.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace regatta::manager {
namespace {

using net::CertificateAuthority;

constexpr int authority_lives = 10;  // of serving certificates

template <class Set>
auto members_of(Set& set) {
  return std::array{std::pair("ca.crt", &set.authorities_pem),
                    std::pair("ca.key", &set.authority_key_pem),
                    std::pair("tls.crt", &set.serving.certificate_pem),
                    std::pair("tls.key", &set.serving.key_pem)};
}

/// The newest authority, when it can sign now.
std::optional<CertificateAuthority> signer_of(const CertificateSet& set, TimePoint now) {
  const auto certificates = net::certificates_in(set.authorities_pem);
  if (certificates.empty()) return std::nullopt;
  const auto until = net::valid_until(certificates.front());
  auto authority = CertificateAuthority::load({certificates.front(), set.authority_key_pem});
  if (!authority || !until || *until <= now) return std::nullopt;
  return std::move(*authority);
}

Result<CertificateAuthority> new_authority(const CertificatePolicy& policy, TimePoint now) {
  return CertificateAuthority::create("kueue-ca", now, authority_lives * policy.valid_for,
                                      {"kueue"});
}

bool accepted(const CertificateSet& set, const CertificatePolicy& policy, TimePoint now) {
  return std::all_of(
      policy.dns_names.begin(), policy.dns_names.end(), [&](const std::string& name) {
        return net::check_server(set.serving, set.authorities_pem, name, now).has_value();
      });
}

/// The authorities that have not ended.
std::string still_valid(const std::string& authorities_pem, TimePoint now) {
  std::string out;
  for (const std::string& pem : net::certificates_in(authorities_pem)) {
    const auto until = net::valid_until(pem);
    if (until && *until > now) out += pem;
  }
  return out;
}

}  // namespace

std::optional<CertificateSet> read_secret(const Json& secret) {
  CertificateSet set;
  for (const auto& [name, text] : members_of(set)) {
    auto decoded = base64_decode(text_at(secret, {"data", name}));
    if (!decoded || decoded->empty()) return std::nullopt;
    *text = std::move(*decoded);
  }
  return set;
}

Json secret_data(const CertificateSet& set) {
  Json data = Json::object();
  for (const auto& [name, text] : members_of(set)) data[name] = base64_encode(*text);
  return data;
}

CertificatesDue judge(const std::optional<CertificateSet>& set, const CertificatePolicy& policy,
                      TimePoint now) {
  CertificatesDue due;
  const auto authority = set ? signer_of(*set, now) : std::nullopt;
  due.everything = !authority;  // rule 1
  if (due.everything) return due;
  const std::string& newest = authority->certificate_pem();
  due.serving = !accepted(*set, policy, now);  // rule 2
  if (due.serving) return due;
  const TimePoint authority_due = *net::valid_until(newest) - 2 * policy.valid_for;
  due.authority = authority_due <= now;  // rule 3
  if (due.authority) return due;
  const TimePoint settled = *net::valid_from(newest) + net::backdated + policy.valid_for / 6;
  const TimePoint end = *net::valid_until(set->serving.certificate_pem);
  const TimePoint serving_due = std::max(end - policy.valid_for / 3, settled);
  due.serving = serving_due <= now;  // rule 4
  due.next = std::min(authority_due, serving_due);
  return due;
}

Result<CertificateSet> renew(std::optional<CertificateSet> set, const CertificatesDue& due,
                             const CertificatePolicy& policy, TimePoint now) {
  CertificateSet out = std::move(set).value_or(CertificateSet());
  if (due.everything || due.authority) {
    const auto authority = new_authority(policy, now);
    if (!authority) return authority.error();
    out.authorities_pem = authority->certificate_pem() + still_valid(out.authorities_pem, now);
    out.authority_key_pem = authority->key_pair().key_pem;
  }
  if (due.everything || due.serving) {
    const auto certificates = net::certificates_in(out.authorities_pem);
    const auto authority =
        CertificateAuthority::load({certificates.front(), out.authority_key_pem});
    if (!authority) return authority.error();
    auto pair = authority->issue_server({policy.dns_names.front(), policy.dns_names, {}}, now,
                                        policy.valid_for);
    if (!pair) return pair.error();
    out.serving = std::move(*pair);
  }
  return out;
}

}  // namespace regatta::manager
