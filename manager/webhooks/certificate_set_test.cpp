#include "manager/webhooks/certificate_set.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>

namespace regatta::manager {
namespace {

using namespace std::chrono_literals;

constexpr Duration day = 24h;

class Certificates : public testing::Test {
 protected:
  CertificatesDue judged() const { return judge(set_, policy_, now_); }
  /// As a replica does it.
  void renew_what_is_due() {
    auto fresh = renew(set_, judged(), policy_, now_);
    ASSERT_TRUE(fresh) << fresh.error().what();
    set_ = std::move(*fresh);
  }
  bool accepted_by_clients_of(const std::string& authorities) const {
    return net::check_server(set_->serving, authorities, policy_.dns_names[1], now_).has_value();
  }
  std::size_t authorities() const { return net::certificates_in(set_->authorities_pem).size(); }

  TimePoint now_ = *parse_rfc3339("2026-03-01T12:00:00Z");
  CertificatePolicy policy_{
      {"kueue-webhook-service.kueue-system.svc", "kueue-visibility-server.kueue-system.svc"},
      90 * day};
  std::optional<CertificateSet> set_;
};

TEST_F(Certificates, an_empty_secret_gets_everything) {
  EXPECT_TRUE(judged().everything);
  renew_what_is_due();
  EXPECT_TRUE(accepted_by_clients_of(set_->authorities_pem));
  EXPECT_FALSE(judged().any());
  EXPECT_EQ(judged().next, now_ + 60 * day) << "when a third of the lifetime is left";
}

TEST_F(Certificates, a_secret_holds_a_set_under_upstreams_names) {
  renew_what_is_due();
  const Json secret{{"data", secret_data(*set_)}};
  for (const char* name : {"ca.crt", "ca.key", "tls.crt", "tls.key"}) {
    EXPECT_TRUE(secret["data"].contains(name)) << name;
    Json lacking = secret;
    lacking["data"].erase(name);
    EXPECT_FALSE(read_secret(lacking)) << name;
  }
  const auto read = read_secret(secret);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->serving.key_pem, set_->serving.key_pem);
  EXPECT_EQ(read->authorities_pem, set_->authorities_pem);
  EXPECT_FALSE(read_secret(Json{{"kind", "Secret"}}));
}

TEST_F(Certificates, a_serving_certificate_is_renewed_when_a_third_of_its_life_is_left) {
  renew_what_is_due();
  const CertificateSet first = *set_;
  now_ += 60 * day - 1s;
  EXPECT_FALSE(judged().any());
  now_ += 1s;
  EXPECT_TRUE(judged().serving && !judged().authority && !judged().everything);
  renew_what_is_due();
  EXPECT_NE(set_->serving.certificate_pem, first.serving.certificate_pem);
  EXPECT_EQ(set_->authorities_pem, first.authorities_pem);
  EXPECT_TRUE(accepted_by_clients_of(first.authorities_pem));
}

TEST_F(Certificates, no_client_is_ever_refused_while_authorities_follow_one_another) {
  policy_.valid_for = 30 * day;
  renew_what_is_due();
  std::string known = set_->authorities_pem;  // by API servers, which learn of it two days later
  std::vector<std::pair<TimePoint, std::string>> published;
  std::set<std::string> seen;
  for (int i = 0; i < 800; ++i, now_ += day) {
    if (judged().any()) renew_what_is_due();
    ASSERT_FALSE(judged().everything);
    published.emplace_back(now_, set_->authorities_pem);
    seen.insert(net::certificates_in(set_->authorities_pem).front());
    for (const auto& [at, pem] : published) {
      if (at + 2 * day <= now_) known = pem;
    }
    if (published.size() > 4) published.erase(published.begin());
    ASSERT_TRUE(accepted_by_clients_of(known)) << format_rfc3339(now_);
    ASSERT_LE(authorities(), 2u);
  }
  EXPECT_GE(seen.size(), 4u);
}

TEST_F(Certificates, a_new_authority_signs_only_when_api_servers_know_it) {
  renew_what_is_due();
  now_ += 60 * day - 1s;  // the serving certificate is due in a second
  auto fresh = renew(set_, {.authority = true}, policy_, now_);
  ASSERT_TRUE(fresh);
  set_ = std::move(*fresh);
  EXPECT_EQ(authorities(), 2u);
  now_ += 1s;
  EXPECT_FALSE(judged().any());
  EXPECT_EQ(judged().next, now_ - 1s + 15 * day) << "a sixth of the lifetime";
  now_ = judged().next;
  EXPECT_TRUE(judged().serving);
}

TEST_F(Certificates, what_clients_would_not_accept_is_replaced_at_once) {
  renew_what_is_due();
  policy_.dns_names[1] = "other.kueue-system.svc";
  EXPECT_TRUE(judged().serving && !judged().everything);
  renew_what_is_due();
  EXPECT_TRUE(accepted_by_clients_of(set_->authorities_pem));
  EXPECT_FALSE(judged().any());

  const auto stranger = net::CertificateAuthority::create("other", now_, 90 * day);
  set_->serving =
      *stranger->issue_server({policy_.dns_names[0], policy_.dns_names, {}}, now_, 90 * day);
  EXPECT_TRUE(judged().serving && !judged().everything);
  set_->serving.key_pem = "nonsense";
  EXPECT_TRUE(judged().serving);
}

TEST_F(Certificates, an_authority_that_cannot_sign_is_no_use) {
  renew_what_is_due();
  const CertificateSet fine = *set_;
  set_->authority_key_pem = fine.serving.key_pem;
  EXPECT_TRUE(judged().everything);
  set_ = fine;
  set_->authorities_pem = "nonsense";
  EXPECT_TRUE(judged().everything);
  set_ = fine;
  now_ += 901 * day;
  EXPECT_TRUE(judged().everything);
  renew_what_is_due();
  EXPECT_EQ(authorities(), 1u) << "what has ended is dropped";
}

TEST_F(Certificates, the_long_certificates_of_upstream_are_kept) {
  const Duration ten_years = 3650 * day;
  const auto authority = net::CertificateAuthority::create("kueue-ca", now_, ten_years, {"kueue"});
  const auto serving =
      authority->issue_server({policy_.dns_names[0], policy_.dns_names, {}}, now_, ten_years);
  set_ = CertificateSet{authority->certificate_pem(), authority->key_pair().key_pem, *serving};
  EXPECT_FALSE(judged().any());
  now_ += 3000 * day;
  EXPECT_FALSE(judged().any());
}

}  // namespace
}  // namespace regatta::manager
