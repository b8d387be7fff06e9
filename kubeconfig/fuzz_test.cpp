#include "kubeconfig/validate.h"
#include "lib/base/rng.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace regatta::kubeconfig {
namespace {

const std::string seeds[] = {
    R"(apiVersion: v1
kind: Config
current-context: east
clusters:
- name: east
  cluster:
    server: https://10.0.0.1:6443/base
    certificate-authority-data: Zm9v
    tls-server-name: east.example
contexts:
- name: east
  context: {cluster: east, user: admin, namespace: default}
users:
- name: admin
  user:
    token: "abc"
    as-user-extra: {scopes: [a, b]}
    exec: {command: aws, args: [eks, get-token], env: null}
preferences: {colors: true}
)",
    R"({"apiVersion":"v1","kind":"Config","current-context":"a","clusters":[{"name":"a","cluster":)"
    R"({"server":"https://[::1]:443"}}],"contexts":[{"name":"a","context":{"cluster":"a","user":"u"}}],)"
    R"("users":[{"name":"u","user":{"client-certificate-data":"Zm9v","client-key-data":"YmFy"}}]})",
};

const std::string tokens[] = {"\n",  ":",  ": ",   "- ", "[",    "]",    "{",       "}",   "\"",
                              "'",   "&a", "*a",   "|",  ">",    "!!",   "<<: *a",  "?",   "\t",
                              "---", "%",  "null", "~",  "\xff", "\xc3", "\\u0000", "1e9", "   ",
                              "#",   ",",  "...",  "@",  "true", "0x"};

std::size_t position(Rng& rng, const std::string& text) {
  return std::size_t(rng.between(0, std::int64_t(text.size())));
}

/// One small change: a bit, a removal, a token, a repetition, a line moved elsewhere.
void mutate(Rng& rng, std::string* text) {
  const std::size_t at = position(rng, *text);
  const std::size_t span = std::size_t(rng.between(1, 40));
  switch (rng.between(0, 5)) {
    case 0:
      if (at < text->size()) (*text)[at] = char((*text)[at] ^ (1 << rng.between(0, 7)));
      break;
    case 1:
      text->erase(at, span);
      break;
    case 2:
      text->insert(at, tokens[std::size_t(rng.between(0, std::int64_t(std::size(tokens)) - 1))]);
      break;
    case 3: {
      const std::string piece = text->substr(at, span);
      text->insert(position(rng, *text), piece);
      break;
    }
    case 4:
      text->resize(at);
      break;
    default:
      text->insert(at, std::string(span, "[{ -:"[rng.between(0, 4)]));
  }
}

TEST(KubeconfigFuzz, NoBytesCrashItAndWhatPassesIsSafe) {
  const char* given = std::getenv("REGATTA_SEED");
  const std::uint64_t seed = given ? std::strtoull(given, nullptr, 10) : 20260101;
  const int rounds = given ? 50'000 : 4'000;
  SCOPED_TRACE("REGATTA_SEED=" + std::to_string(seed));
  Rng rng(seed);
  int accepted = 0;
  for (int round = 0; round < rounds; ++round) {
    std::string text = seeds[std::size_t(rng.between(0, 1))];
    const auto changes = rng.between(0, 6);
    for (int i = 0; i < changes; ++i) mutate(rng, &text);
    const Verdict verdict = from_bytes(text);
    ASSERT_NE(verdict.endpoint.has_value(), !verdict.message.empty()) << text;
    if (!verdict.endpoint) continue;
    ++accepted;
    ASSERT_TRUE(verdict.endpoint->tls) << text;
    ASSERT_TRUE(verdict.endpoint->url.starts_with("https://")) << text;
    ASSERT_TRUE(verdict.endpoint->bearer_token_file.empty()) << text;
    ASSERT_TRUE(parse_server_url(verdict.endpoint->url)) << text;
  }
  EXPECT_GT(accepted, rounds / 50) << "mutations too wild to test anything";
}

}  // namespace
}  // namespace regatta::kubeconfig
