#include "operate/expiry.h"

#include "lib/base/base64.h"
#include "lib/net/pki.h"

#include <gtest/gtest.h>

#include <sstream>

namespace regatta::operate {
namespace {

using namespace std::chrono_literals;

const TimePoint noon = *parse_rfc3339("2026-03-01T12:00:00Z");

std::string token_with(const std::string& claims) {
  return "e30." + base64url_encode(claims) + ".sig";
}

TEST(Expiry, a_token_says_when_it_ends) {
  EXPECT_EQ(token_end(token_with(R"({"exp":1772366400})")), noon);
  EXPECT_EQ(token_end(token_with(R"({"sub":"x"})")), std::nullopt);
  for (const char* opaque : {"", "opaque", "a.b", "a.!!.c", "a..c"}) {
    EXPECT_EQ(token_end(opaque), std::nullopt) << opaque;
  }
}

TEST(Expiry, what_ends_soon_is_a_warning_and_what_has_ended_an_error) {
  Examination out;
  check_end(&out, "east", "the token", noon + 48h, noon, 24h, "rotate");
  EXPECT_TRUE(out.findings.empty());
  check_end(&out, "east", "the token", noon + 23h, noon, 24h, "rotate");
  check_end(&out, "east", "the token", noon, noon, 24h, "rotate");
  ASSERT_EQ(out.findings.size(), 2u);
  EXPECT_EQ(out.findings[0].severity, Severity::warning);
  EXPECT_EQ(out.findings[0].what, "the token ends 2026-03-02T11:00:00Z");
  EXPECT_EQ(out.findings[1].severity, Severity::error);
  EXPECT_EQ(out.findings[1].what, "the token ended 2026-03-01T12:00:00Z");
  EXPECT_EQ(out.checks, 3);
}

TEST(Expiry, a_certificate_that_cannot_be_read_is_a_finding) {
  Examination out;
  const auto authority = net::CertificateAuthority::create("x", noon, 48h);
  check_certificate(&out, "hub", "it", authority->certificate_pem(), noon, 24h, "see");
  EXPECT_TRUE(out.findings.empty());
  check_certificate(&out, "hub", "it", "nonsense", noon, 24h, "see");
  EXPECT_EQ(out.findings.size(), 1u);
}

TEST(Expiry, clocks_may_differ_by_a_few_seconds) {
  Examination out;
  check_skew(&out, "east", 5s);
  check_skew(&out, "east", -5s);
  EXPECT_TRUE(out.findings.empty());
  check_skew(&out, "east", 90s);
  check_skew(&out, "west", -6s);
  ASSERT_EQ(out.findings.size(), 2u);
  EXPECT_EQ(out.findings[0].what, "its clock is 90 s ahead of the hub's");
  EXPECT_EQ(out.findings[1].what, "its clock is 6 s behind the hub's");
}

TEST(Examination, is_printed_with_what_to_do) {
  Examination out;
  out.error("east", "there is no namespace a", "make it");
  out.cannot_check("hub: something");
  std::ostringstream text;
  print(out, text);
  EXPECT_EQ(text.str(),
            "ERROR    east: there is no namespace a\n"
            "         make it\n"
            "SKIPPED  hub: something\n"
            "0 checks, 1 findings, 1 skipped\n");
}

}  // namespace
}  // namespace regatta::operate
