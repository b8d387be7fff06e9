#include "kubeconfig/cluster_profile.h"

#include "lib/api/codec.h"
#include "lib/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regatta::kubeconfig {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr const char* v1 = "client.authentication.k8s.io/v1";
const TimePoint now{std::chrono::seconds(1767225600)};  // 2026-01-01T00:00:00Z

api::ClusterProfile profile(const std::string& status) {
  const auto json = parse_json(R"({"apiVersion":"multicluster.x-k8s.io/v1alpha1",
    "kind":"ClusterProfile","metadata":{"name":"east","namespace":"kueue-system"},
    "spec":{"clusterManager":{"name":"m"}},"status":)" +
                               status + "}");
  return api::from_json<api::ClusterProfile>(json.value()).value();
}

api::ClusterProfile with_cluster(const std::string& cluster) {
  return profile(R"({"accessProviders":[{"name":"p","cluster":{)" + cluster + "}}]}");
}

api::ExecPlugin plugin(const std::string& provider = "p", const std::string& version = v1) {
  api::ExecPlugin out;
  out.provider = provider;
  out.command = "/bin/" + provider;
  out.api_version = version;
  return out;
}

std::string problem(const ProfileVerdict& verdict) {
  return verdict.access ? "none" : std::string(verdict.reason) + ": " + verdict.message;
}

TEST(ClusterProfiles, TheOrderOfTheConfigurationDecides) {
  const auto given = profile(R"({"accessProviders":[
    {"name":"a","cluster":{"server":"https://a.example"}},
    {"name":"b","cluster":{"server":"https://B.example:6443/base/"}}]})");
  const ProfileVerdict verdict = choose_access(given, {plugin("z"), plugin("b"), plugin("a")});
  ASSERT_TRUE(verdict.access) << problem(verdict);
  EXPECT_EQ(verdict.access->plugin.command, "/bin/b");
  EXPECT_EQ(verdict.access->endpoint.url, "https://b.example:6443/base");
}

TEST(ClusterProfiles, TheOlderListCountsAndTheNewerOneIsPreferred) {
  const auto given = profile(R"({"credentialProviders":[
    {"name":"a","cluster":{"server":"https://old.example"}},
    {"name":"b","cluster":{"server":"https://b.example"}}],
    "accessProviders":[{"name":"a","cluster":{"server":"https://new.example"}}]})");
  EXPECT_EQ(choose_access(given, {plugin("a")}).access->endpoint.host, "new.example");
  EXPECT_EQ(choose_access(given, {plugin("b")}).access->endpoint.host, "b.example");
}

TEST(ClusterProfiles, WithoutAMatchBothSidesAreNamed) {
  EXPECT_THAT(problem(choose_access(with_cluster(R"("server":"https://a.example")"), {})),
              HasSubstr("BadClusterProfile: no access provider configured"));
  EXPECT_EQ(problem(choose_access(with_cluster(R"("server":"https://a.example")"),
                                  {plugin("x"), plugin("y")})),
            "BadClusterProfile: no matching access provider in ClusterProfile \"east\": it has "
            "[p], the manager is configured for [x, y]");
  EXPECT_THAT(problem(choose_access(profile("{}"), {plugin()})), HasSubstr("it has []"));
}

TEST(ClusterProfiles, TheRulesForKubeconfigsHold) {
  const struct {
    const char* cluster;
    const char* wanted;
  } cases[] = {
      {R"("server":"")", "server URL is required for cluster p"},
      {R"("server":"http://a.example")", "http scheme is not allowed, use https for cluster p"},
      {R"("server":"https://a_b.example")", "untrusted server endpoint"},
      {R"("server":"https://a.example","insecure-skip-tls-verify":true)",
       "insecure TLS verification is not allowed for cluster p"},
      {R"("server":"https://a.example","certificate-authority":"/etc/ca")",
       "certificate-authority file paths are not allowed, use certificate-authority-data for "
       "cluster p"},
      {R"("server":"https://a.example","proxy-url":"http://x")",
       "proxy-url is not allowed for cluster p"},
      {R"("server":"https://a.example","certificate-authority-data":"%")",
       "certificate-authority-data: "},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(problem(choose_access(with_cluster(c.cluster), {plugin()})),
                HasSubstr("BadRestConfig: access provider \"p\": " + std::string(c.wanted)));
  }
}

TEST(ClusterProfiles, AVersionThatIsNotSpokenIsRefusedBeforeAnythingRuns) {
  EXPECT_EQ(problem(choose_access(with_cluster(R"("server":"https://a.example")"),
                                  {plugin("p", "client.authentication.k8s.io/v1alpha1")})),
            "BadRestConfig: access provider \"p\": exec plugin: invalid apiVersion "
            "\"client.authentication.k8s.io/v1alpha1\"");
}

TEST(ClusterProfiles, ThePluginLearnsOfTheClusterWhenItIsToldTo) {
  auto given = with_cluster(R"("server":"https://a.example","tls-server-name":"n",
    "certificate-authority-data":"Y2E=","extensions":[{"name":"other","extension":{"x":1}},
    {"name":"client.authentication.k8s.io/exec","extension":{"clusterName":"east"}}])");
  api::ExecPlugin one = plugin();
  EXPECT_EQ(exec_info(*choose_access(given, {one}).access),
            R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",)"
            R"("spec":{"interactive":false}})");
  one.provide_cluster_info = true;
  EXPECT_EQ(exec_info(*choose_access(given, {one}).access),
            R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":)"
            R"({"cluster":{"certificate-authority-data":"Y2E=","config":{"clusterName":"east"},)"
            R"("server":"https://a.example","tls-server-name":"n"},"interactive":false}})");
}

TEST(ClusterProfiles, TheDigestFollowsTheAccessAndNothingElse) {
  const auto of = [](const api::ClusterProfile& given) {
    return choose_access(given, {plugin()}).access->digest();
  };
  const auto a = of(with_cluster(R"("server":"https://a.example")"));
  EXPECT_EQ(a, of(profile(R"({"accessProviders":[{"name":"x","cluster":{"server":"https://x"}},
    {"name":"p","cluster":{"server":"https://a.example"}}]})")));
  EXPECT_NE(a, of(with_cluster(R"("server":"https://b.example")")));
  EXPECT_NE(a, of(with_cluster(R"("server":"https://a.example",
                                  "certificate-authority-data":"Y2E=")")));
}

std::string answer(const std::string& status, const std::string& version = v1) {
  return R"({"kind":"ExecCredential","apiVersion":")" + version + R"(","status":)" + status + "}";
}

std::string refusal(const std::string& printed) {
  const auto read = read_credential(printed, v1, now);
  return read ? "none" : read.error().what();
}

TEST(PluginCredentials, ATokenOrACertificateIsEnough) {
  const auto token = read_credential(answer(R"({"token":"t"})"), v1, now);
  ASSERT_TRUE(token);
  EXPECT_EQ(token->token, "t");
  EXPECT_FALSE(token->expires);
  const auto both = read_credential(answer(R"({"clientCertificateData":"c","clientKeyData":"k",
                 "expirationTimestamp":"2026-01-01T01:00:00Z"})"),
                                    v1, now);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->certificate_pem, "c");
  EXPECT_EQ(both->key_pem, "k");
  EXPECT_EQ(both->expires, now + 1h);
}

TEST(PluginCredentials, EachFaultHasItsMessage) {
  EXPECT_EQ(refusal("secret"), "its output is not JSON");
  EXPECT_EQ(refusal("[]"), "it printed no ExecCredential");
  EXPECT_EQ(refusal(answer("{}", "client.authentication.k8s.io/v1beta1")),
            "it answered in client.authentication.k8s.io/v1beta1, but is configured for "
            "client.authentication.k8s.io/v1");
  EXPECT_EQ(refusal(answer("{}", "secret")),
            "it answered in an unknown apiVersion, but is configured for "
            "client.authentication.k8s.io/v1");
  EXPECT_EQ(refusal(answer("null")), "its ExecCredential has no status");
  EXPECT_EQ(refusal(answer("{}")), "it gave neither a token nor a client certificate");
  EXPECT_EQ(refusal(answer(R"({"token":"t","clientKeyData":"k"})")),
            "it gave a client certificate or its key, and not both");
  EXPECT_THAT(refusal(answer(R"({"token":"a\r\nb"})")), HasSubstr("characters that tokens"));
  EXPECT_THAT(refusal(answer(R"({"token":")" + std::string(70'000, 'x') + R"("})")),
              HasSubstr("longer than 64 KiB"));
  const auto ending = [](const std::string& at) {
    return refusal(answer(R"({"token":"t","expirationTimestamp":)" + at + "}"));
  };
  EXPECT_EQ(ending("1"), "its expirationTimestamp is not a time in RFC 3339");
  EXPECT_EQ(ending(R"("soon")"), "its expirationTimestamp is not a time in RFC 3339");
  EXPECT_EQ(ending(R"("2026-01-01T00:00:00Z")"), "its credential has expired already");
  EXPECT_EQ(ending(R"("2026-01-01T00:00:01Z")"),
            "its credential expires within 10s, which is too soon to be of use");
  EXPECT_EQ(ending(R"("2026-01-01T00:00:10Z")"), "none");
}

TEST(PluginCredentials, AreRenewedBeforeTheirEndAndNotWithoutAPause) {
  EXPECT_EQ(renew_after(1h), 55min);
  EXPECT_EQ(renew_after(10min), 8min);
  EXPECT_EQ(renew_after(shortest_life), 8s);
}

}  // namespace
}  // namespace regatta::kubeconfig
