#include "operate/secret_credential.h"

#include "lib/base/base64.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regatta::operate {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

const TimePoint now{std::chrono::seconds(1767225600)};  // 2026-01-01T00:00:00Z

std::string info(const std::string& spec) {
  return R"({"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential","spec":)" +
         spec + "}";
}

const std::string of_profile =
    info(R"({"cluster":{"server":"https://east","config":{"secret":"east-token"}}})");

api::Secret secret(const std::string& token, const std::string& server = "") {
  api::Secret out;
  out.data["token"] = token;
  if (!server.empty()) out.metadata.annotations[std::string(server_annotation)] = server;
  return out;
}

std::string answer(const std::string& exec_info, const api::Secret& given, SecretFlags flags = {}) {
  const auto request = secret_request(flags, exec_info);
  if (!request) return "! " + request.error().what();
  const auto printed = secret_credential(*request, given, now);
  return printed ? *printed : "! " + printed.error().what();
}

TEST(SecretCredential, TheProfileNamesTheSecretAndTheSecretNamesTheServer) {
  EXPECT_EQ(secret_request({}, of_profile)->secret, api::ObjectKey("kueue-system", "east-token"));
  EXPECT_EQ(answer(of_profile, secret("t\n", "https://east")),
            R"({"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential",)"
            R"("status":{"expirationTimestamp":"2026-01-01T00:10:00Z","token":"t"}})");
  const std::string refused =
      "! Secret kueue-system/east-token is not for this server: set its annotation "
      "multikueue.regatta.dev/server to https://east";
  EXPECT_EQ(answer(of_profile, secret("t")), refused);
  EXPECT_EQ(answer(of_profile, secret("t", "https://west")), refused);
}

TEST(SecretCredential, AFlagNamesTheSecretForEveryServer) {
  SecretFlags flags;
  flags.ns = "n";
  flags.name = "s";
  EXPECT_EQ(secret_request(flags, of_profile)->secret, api::ObjectKey("n", "s"));
  EXPECT_THAT(answer(info("{}"), secret("t"), flags), HasSubstr(R"("token":"t")"));
  EXPECT_THAT(answer(of_profile, secret("t"), flags), HasSubstr(R"("token":"t")"));
}

TEST(SecretCredential, TheEndIsThatOfTheTokenIfItComesFirst) {
  const auto token = [](const std::string& claims) {
    return base64url_encode("{}") + "." + base64url_encode(claims) + ".x";
  };
  EXPECT_THAT(answer(of_profile, secret(token(R"({"exp":1767225660})"), "https://east")),
              HasSubstr("2026-01-01T00:01:00Z"));
  EXPECT_THAT(answer(of_profile, secret(token(R"({"exp":1967225660})"), "https://east")),
              HasSubstr("2026-01-01T00:10:00Z"));
}

TEST(SecretCredential, EachFaultIsNamedWithoutASecret) {
  EXPECT_THAT(answer("", secret("t")), HasSubstr("! KUBERNETES_EXEC_INFO: not set"));
  EXPECT_THAT(answer("{", secret("t")), HasSubstr("no ExecCredential"));
  EXPECT_THAT(answer(info("{}"), secret("t")), HasSubstr("set provideClusterInfo"));
  EXPECT_THAT(answer(info(R"({"cluster":{"server":"https://east"}})"), secret("t")),
              HasSubstr("the cluster's config has no \"secret\""));
  EXPECT_EQ(answer(of_profile, secret(" ", "https://east")),
            "! Secret kueue-system/east-token has no \"token\"");
}

}  // namespace
}  // namespace regatta::operate
