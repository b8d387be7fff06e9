#include "kubeconfig/kubeconfig.h"

#include "kubeconfig/local.h"
#include "kubeconfig/validate.h"
#include "lib/base/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace regatta::kubeconfig {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A good file, with three places that a test can change.
std::string file(const std::string& cluster = "", const std::string& user = "token: secret",
                 const std::string& server = "https://east.example:6443") {
  return "apiVersion: v1\nkind: Config\ncurrent-context: ctx\n"
         "clusters:\n- name: east\n  cluster:\n    server: \"" +
         server + "\"\n    " + cluster +
         "\n"
         "contexts:\n- name: ctx\n  context:\n    cluster: east\n    user: admin\n"
         "users:\n- name: admin\n  user:\n    " +
         user + "\n";
}

std::string with_other(const std::string& cluster, const std::string& user) {
  return "current-context: ctx\n"
         "clusters:\n- {name: east, cluster: {server: https://east.example}}\n"
         "- {name: other, cluster: {" +
         cluster +
         "}}\n"
         "contexts:\n- {name: ctx, context: {cluster: east, user: admin}}\n"
         "users:\n- {name: admin, user: {token: secret}}\n- {name: other, user: {" +
         user + "}}\n";
}

TEST(Kubeconfig, ReadsEveryStandardField) {
  const auto config = parse(R"(
apiVersion: v1
kind: Config
preferences: {colors: true}
extensions: [{name: x, extension: {a: 1}}]
current-context: ctx
clusters:
- name: east
  cluster:
    server: https://east.example
    tls-server-name: inner.example
    insecure-skip-tls-verify: true
    certificate-authority: ca.pem
    certificate-authority-data: Zm9v
    proxy-url: http://proxy
    disable-compression: true
    extensions: [{name: y, extension: {}}]
contexts:
- name: ctx
  context: {cluster: east, user: admin, namespace: jobs, extensions: []}
users:
- name: admin
  user:
    client-certificate: c.pem
    client-certificate-data: Yw==
    client-key: k.pem
    client-key-data: aw==
    token: t
    tokenFile: tf
    as: alice
    as-uid: "7"
    as-groups: [a, b]
    as-user-extra: {scope: [r, w]}
    username: u
    password: p
    auth-provider: {name: oidc}
    exec: {command: aws}
)");
  ASSERT_TRUE(config) << config.error().what();
  const Cluster& cluster = config->clusters.at("east");
  EXPECT_EQ(cluster.server, "https://east.example");
  EXPECT_EQ(cluster.tls_server_name, "inner.example");
  EXPECT_TRUE(cluster.insecure_skip_tls_verify);
  EXPECT_EQ(cluster.certificate_authority, "ca.pem");
  EXPECT_EQ(cluster.certificate_authority_data, "foo");
  EXPECT_EQ(cluster.proxy_url, "http://proxy");
  EXPECT_TRUE(cluster.disable_compression);
  EXPECT_NE(cluster.extensions, "");
  const User& user = config->users.at("admin");
  EXPECT_EQ(user.client_certificate + user.client_key, "c.pemk.pem");
  EXPECT_EQ(user.client_certificate_data + user.client_key_data, "ck");
  EXPECT_EQ(user.token + user.token_file + user.username + user.password, "ttfup");
  EXPECT_EQ(user.impersonate + user.impersonate_uid, "alice7");
  EXPECT_THAT(user.impersonate_groups, ElementsAre("a", "b"));
  EXPECT_THAT(user.impersonate_extra.at("scope"), ElementsAre("r", "w"));
  EXPECT_EQ(user.auth_provider, R"({"name":"oidc"})");
  EXPECT_EQ(user.exec, R"({"command":"aws"})");
  EXPECT_EQ(config->contexts.at("ctx").default_namespace, "jobs");
  EXPECT_EQ(config->preferences, R"({"colors":true})");
  EXPECT_EQ(config->current_context, "ctx");
}

std::string nested(int depth) {
  return "preferences: " + std::string(std::size_t(depth), '[') +
         std::string(std::size_t(depth), ']');
}

struct Case {
  const char* name;
  std::string text;
  std::string want;  // the refusal; empty when it is accepted
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
};
auto name_of_case = [](const auto& info) { return std::string(info.param.name); };

class Parsing : public ::testing::TestWithParam<Case> {};

TEST_P(Parsing, NamesTheField) {
  const auto config = parse(GetParam().text);
  EXPECT_EQ(config ? "" : config.error().what(), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    , Parsing,
    ::testing::Values(
        Case{"empty_text", "", ""}, Case{"null_lists", "clusters: null\nusers: ~\n", ""},
        Case{"unknown_fields", "shiny: new\n", ""},
        Case{"json", R"({"kind":"Config","clusters":[]})", ""},
        Case{"flow_yaml_is_not_json", "{kind: Config}", ""},
        Case{"text", "hello", "kubeconfig: expected an object, got a string"},
        Case{"list", "- a\n", "kubeconfig: expected an object, got a list"},
        Case{"other_kind", "kind: Pod\n", "kind: expected Config, got Pod"},
        Case{"other_version", "apiVersion: v2\n", "apiVersion: expected v1, got v2"},
        Case{"clusters_not_a_list", "clusters: {}\n", "clusters: expected a list, got an object"},
        Case{"entry_not_an_object", "users: [a]\n", "users[0]: expected an object, got a string"},
        Case{"cluster_not_an_object", "clusters: [{name: a, cluster: 1}]\n",
             "clusters[0].cluster: expected an object, got a number"},
        Case{"server_not_a_string", "clusters: [{name: a}, {name: b, cluster: {server: 7}}]\n",
             "clusters[1].cluster.server: expected a string, got a number"},
        Case{"flag_not_a_boolean",
             "clusters: [{name: a, cluster: {insecure-skip-tls-verify: \"true\"}}]\n",
             "clusters[0].cluster.insecure-skip-tls-verify: expected a boolean, got a string"},
        Case{"data_not_base64", "users: [{name: a, user: {client-key-data: '***'}}]\n",
             "users[0].user.client-key-data: illegal base64 data at input byte 0"},
        Case{"groups_not_strings", "users: [{name: a, user: {as-groups: [1]}}]\n",
             "users[0].user.as-groups: expected a list of strings, got a number"},
        Case{"extra_not_lists", "users: [{name: a, user: {as-user-extra: {k: v}}}]\n",
             "users[0].user.as-user-extra.k: expected a list, got a string"},
        Case{"duplicate_name", "contexts: [{name: a}, {name: a}]\n",
             "contexts[1].name: duplicate name \"a\""},
        Case{"zero_byte", "current-context: \"a\\0b\"\n", "current-context: contains a zero byte"},
        Case{"too_large", std::string(size_max + 1, ' '), "larger than 1048576 bytes"},
        Case{"nested_as_allowed", nested(60), ""},
        Case{"nested_too_deeply", nested(70), "yaml: line 1: nested too deeply"},
        Case{"nested_far_too_deeply", nested(100'000), "yaml: line 1: nested too deeply"},
        Case{"json_nested_too_deeply",
             "{\"a\":" + std::string(70, '[') + std::string(70, ']') + "}", "nested too deeply"},
        Case{"aliases", "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
             "yaml: line 2: aliases are not allowed"},
        Case{"cycle", "a: &a [*a]\n", "yaml: line 1: aliases are not allowed"},
        Case{"two_documents", "kind: Config\n---\nkind: Config\n", "yaml: more than one document"},
        Case{"bad_yaml", "clusters: [\n", "yaml: line 2: end of sequence flow not found"}),
    name_of_case);

class Validation : public ::testing::TestWithParam<Case> {};

TEST_P(Validation, SaysWhatIsInsecure) {
  const Verdict verdict = from_bytes(GetParam().text);
  EXPECT_EQ(verdict.message, GetParam().want);
  EXPECT_EQ(verdict.endpoint.has_value(), GetParam().want.empty());
  EXPECT_EQ(verdict.reason, GetParam().want.empty() ? "" : "InsecureKubeConfig");
}

const std::string untrusted = "untrusted server endpoint";

INSTANTIATE_TEST_SUITE_P(
    WholeFile, Validation,
    ::testing::Values(
        Case{"token", file(), ""},
        Case{"client_certificate_data",
             file("", "{client-certificate-data: Yw==, client-key-data: aw==}"), ""},
        Case{"malformed", "clusters: [\n",
             "failed to parse kubeconfig(apiconfig): yaml: line 2: end of sequence flow not found"},
        Case{"wrong_type", "clusters: x\n",
             "failed to parse kubeconfig(apiconfig): clusters: expected a list, got a string"},
        Case{"token_file", file("", "tokenFile: /var/run/token"), "tokenFile is not allowed"},
        Case{"token_file_of_another_user",
             with_other("server: \"https://a\"", "tokenFile: /var/run/token"),
             "tokenFile is not allowed"},
        Case{"insecure_tls", file("insecure-skip-tls-verify: true"),
             "insecure TLS verification is not allowed for cluster east"},
        Case{"insecure_tls_elsewhere",
             with_other("server: \"https://a\", insecure-skip-tls-verify: true", ""),
             "insecure TLS verification is not allowed for cluster other"},
        Case{"ca_path", file("certificate-authority: /ca.pem"),
             "certificate-authority file paths are not allowed, use certificate-authority-data "
             "for cluster east"},
        Case{"ca_path_elsewhere",
             with_other("server: \"https://a\", certificate-authority: /ca.pem", ""),
             "certificate-authority file paths are not allowed, use certificate-authority-data "
             "for cluster other"},
        Case{"no_server", file("", "token: x", ""), "server URL is required for cluster east"},
        Case{"no_server_elsewhere", with_other("", ""), "server URL is required for cluster other"},
        Case{"http", file("", "token: x", "http://east.example"),
             "http scheme is not allowed, use https for cluster east"},
        Case{"http_in_capitals", file("", "token: x", "HTTP://east.example"),
             "http scheme is not allowed, use https for cluster east"},
        Case{"http_elsewhere", with_other("server: \"http://a\"", ""),
             "http scheme is not allowed, use https for cluster other"},
        Case{"proxy", file("proxy-url: http://proxy"), "proxy-url is not allowed for cluster east"},
        Case{"client_certificate_path",
             file("", "{client-certificate: /c.pem, client-key-data: aw==}"),
             "client-certificate file paths are not allowed, use client-certificate-data for user "
             "admin"},
        Case{"client_key_path", file("", "{client-certificate-data: Yw==, client-key: /k.pem}"),
             "client-key file paths are not allowed, use client-key-data for user admin"},
        Case{"impersonation", file("", "as: root"), "impersonation is not allowed for user admin"},
        Case{"impersonated_group", file("", "as-groups: [system:masters]"),
             "impersonation is not allowed for user admin"},
        Case{"impersonated_extra_elsewhere",
             with_other("server: \"https://a\"", "as-user-extra: {a: [b]}"),
             "impersonation is not allowed for user other"}),
    name_of_case);

INSTANTIATE_TEST_SUITE_P(
    CurrentContext, Validation,
    ::testing::Values(
        Case{"ip", file("", "token: x", "https://10.1.2.3"), ""},
        Case{"ipv6", file("", "token: x", "https://[fd00::1]:6443"), ""},
        Case{"capitals", file("", "token: x", "https://EAST.Example"), ""},
        Case{"base_path", file("", "token: x", "https://proxy.example/clusters/east/"), ""},
        Case{"underscore", file("", "token: x", "https://ea_st.example"), untrusted},
        Case{"space", file("", "token: x", "https://not a host"), untrusted},
        Case{"no_scheme", file("", "token: x", "east.example:6443"), untrusted},
        Case{"other_scheme", file("", "token: x", "ftp://east.example"), untrusted},
        Case{"user_in_url", file("", "token: x", "https://me@east.example"), untrusted},
        Case{"query", file("", "token: x", "https://east.example?a=b"), untrusted},
        Case{"bad_port", file("", "token: x", "https://east.example:99999"), untrusted},
        Case{"bare_host_elsewhere_is_nobodys_business", with_other("server: elsewhere", ""), ""},
        Case{"basic_auth", file("", "{username: u, password: p}"), "basic auth is not allowed"},
        Case{"exec", file("", "exec: {command: aws}"), "exec plugins are not allowed"},
        Case{"exec_elsewhere", with_other("server: \"https://a\"", "exec: {command: aws}"), ""},
        Case{"auth_provider", file("", "auth-provider: {name: oidc}"),
             "auth providers are not allowed"},
        Case{"token_with_line_break", file("", "token: \"a\\r\\nX: y\""),
             "token with control characters is not allowed for user admin"},
        Case{"certificate_without_key", file("", "client-certificate-data: Yw=="),
             "client-certificate-data and client-key-data need each other for user admin"},
        Case{"nothing", "", "current-context is required"},
        Case{"unknown_context", "current-context: x\n",
             "current-context: context \"x\" does not exist"},
        Case{"unknown_cluster",
             "current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n",
             "context \"x\": cluster \"c\" does not exist"},
        Case{"unknown_user",
             "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
             "clusters: [{name: c, cluster: {server: 'https://c'}}]\n",
             "context \"x\": user \"u\" does not exist"}),
    name_of_case);

TEST(ServerUrl, IsTakenApart) {
  struct Row {
    const char* text;
    const char* want;  ///< "tls host port base path"
  };
  for (const Row& row :
       {Row{"https://east.example", "1 east.example 443 "}, Row{"HTTP://East", "0 east 80 "},
        Row{"https://10.1.2.3:0443/", "1 10.1.2.3 443 "},
        Row{"http://[FD00::1]:65535", "0 fd00::1 65535 "},
        Row{"https://a/k8s/clusters/c-%31//", "1 a 443 /k8s/clusters/c-%31"}}) {
    const auto url = parse_server_url(row.text);
    ASSERT_TRUE(url) << row.text;
    EXPECT_EQ(std::to_string(url->tls) + " " + url->host + " " + std::to_string(url->port) + " " +
                  url->base_path,
              row.want);
  }
}

TEST(ServerUrl, EverythingElseIsRefused) {
  for (const char* text : {"",
                           "east.example",
                           "east.example:6443",
                           "//east.example",
                           "https:east",
                           "https:///base",
                           "ftp://east.example",
                           "httpss://east.example",
                           "https://me@east.example",
                           "https://@east",
                           "https://east?a=b",
                           "https://east?",
                           "https://east/#a",
                           "https://east#",
                           "https://east:0",
                           "https://east:",
                           "https://east:65536",
                           "https://east:99999",
                           "https://east:+1",
                           "https://ea%73t.example",
                           "https://ea_st",
                           "https://east..example",
                           "https://[east]",
                           "https://[10.1.2.3]",
                           "https://[v1.east]",
                           "https://[fe80::1%25eth0]",
                           "https://[::1",
                           "https://::1",
                           "https://east/a|b",
                           "https://east/a b",
                           "https://east/a%2",
                           "https://east/\xc3\xa9",
                           " https://east",
                           "https://east "}) {
    EXPECT_FALSE(parse_server_url(text)) << text;
  }
}

TEST(Validated, EndpointSaysEverythingNeeded) {
  const auto good =
      validate(file("certificate-authority-data: Zm9v\n    tls-server-name: in.example",
                    "{token: secret, client-certificate-data: Yw==, client-key-data: aw==}",
                    "https://East.Example/base/"));
  ASSERT_TRUE(good) << good.error().what();
  EXPECT_EQ(good->url, "https://east.example:443/base");
  EXPECT_EQ(good->host, "east.example");
  EXPECT_EQ(good->port, 443);
  EXPECT_EQ(good->base_path, "/base");
  EXPECT_EQ(good->bearer_token, "secret");
  const net::TlsClientOptions tls = tls_options(*good);
  EXPECT_EQ(tls.ca_pem, "foo");
  EXPECT_EQ(tls.server_name, "in.example");
  EXPECT_EQ(tls.certificate_pem + tls.key_pem, "ck");
}

TEST(Written, IsReadBack) {
  Endpoint endpoint;
  endpoint.url = "https://127.0.0.1:6443";
  endpoint.ca_pem = "ca";
  endpoint.client_certificate_pem = "cert";
  endpoint.client_key_pem = "key";
  endpoint.bearer_token = "yes";  // must stay a string
  endpoint.default_namespace = "jobs";
  const std::string text = write(endpoint, "east");
  const auto back = validate(text);
  ASSERT_TRUE(back) << back.error().what() << "\n" << text;
  EXPECT_EQ(back->url, endpoint.url);
  EXPECT_EQ(back->ca_pem, "ca");
  EXPECT_EQ(back->client_certificate_pem, "cert");
  EXPECT_EQ(back->client_key_pem, "key");
  EXPECT_EQ(back->bearer_token, "yes");
  EXPECT_EQ(back->default_namespace, "jobs");
}

/// Files and links by path.
class FakeFiles final : public FileSystem {
 public:
  std::map<std::string, std::string> links, contents;

  Result<std::string> resolve(const std::string& path) override {
    const auto link = links.find(path);
    if (link != links.end()) return link->second;
    for (const auto& [name, text] : contents) {
      if (name == path || name.starts_with(path + "/")) return path;
    }
    return Error(Errc::not_found, "lstat " + path + ": no such file or directory");
  }
  Result<std::string> read_regular(const std::string& path, std::size_t) override {
    const auto found = contents.find(path);
    if (found == contents.end()) return Error(Errc::not_found, "open " + path + ": no such file");
    return found->second;
  }
};

class Paths : public ::testing::TestWithParam<Case> {};

TEST_P(Paths, AreRefusedOutsideThePrefix) {
  FakeFiles files;
  const std::string root = "/etc/multikueue/kubeconfigs";
  files.contents[root + "/east"] = file();
  files.contents[root + "-evil/east"] = file();
  files.contents["/etc/shadow"] = "root";
  files.contents["/data/..2026/east"] = file();
  files.links[root + "/link"] = "/etc/shadow";
  files.links[root + "/inside"] = root + "/east";
  const Verdict verdict = from_path(files, GetParam().text);
  EXPECT_EQ(verdict.message, GetParam().want);
  EXPECT_EQ(verdict.reason, GetParam().want.empty() ? "" : "BadKubeConfig");
}

const std::string outside = "kubeconfig path is not under the allowed prefix: ";

INSTANTIATE_TEST_SUITE_P(
    , Paths,
    ::testing::Values(
        Case{"below", "/etc/multikueue/kubeconfigs/east", ""},
        Case{"not_clean_but_below", "/etc/multikueue/x/..//kubeconfigs/./east", ""},
        Case{"link_that_stays_below", "/etc/multikueue/kubeconfigs/inside", ""},
        Case{"empty", "", "kubeconfig path must not be empty"},
        Case{"dots", "../east", outside + "path contains \"..\""},
        Case{"relative", "kubeconfigs/east", outside + "path must be absolute"},
        Case{"elsewhere", "/etc/shadow",
             outside + "\"/etc/shadow\" is not under \"/etc/multikueue/kubeconfigs\""},
        Case{"climbing", "/etc/multikueue/kubeconfigs/../../shadow",
             outside + "\"/etc/shadow\" is not under \"/etc/multikueue/kubeconfigs\""},
        Case{"sibling_with_the_same_beginning", "/etc/multikueue/kubeconfigs-evil/east",
             outside + "\"/etc/multikueue/kubeconfigs-evil/east\" is not under "
                       "\"/etc/multikueue/kubeconfigs\""},
        Case{"link_that_leaves", "/etc/multikueue/kubeconfigs/link",
             outside + "\"/etc/shadow\" is not under \"/etc/multikueue/kubeconfigs\""},
        Case{"the_folder_itself", "/etc/multikueue/kubeconfigs",
             outside + "\"/etc/multikueue/kubeconfigs\" is not under "
                       "\"/etc/multikueue/kubeconfigs\""},
        Case{"missing", "/etc/multikueue/kubeconfigs/west",
             "cannot resolve kubeconfig path symlinks: lstat /etc/multikueue/kubeconfigs/west: no "
             "such file or directory"}),
    name_of_case);

TEST(PathPrefix, HasNothingBelowItWhenItDoesNotExist) {
  FakeFiles files;
  files.contents["/data/east"] = file();
  for (const std::string path : {"/data/east", "/etc/multikueue/kubeconfigs/east"}) {
    EXPECT_EQ(from_path(files, path).message,
              outside + '"' + path + "\" is not under \"/etc/multikueue/kubeconfigs\"");
  }
}

TEST(PathPrefix, MayBeALinkItself) {
  FakeFiles files;
  files.links["/etc/multikueue/kubeconfigs"] = "/data";
  files.links["/etc/multikueue/kubeconfigs/east"] = "/data/..2026/east";
  files.contents["/data/..2026/east"] = file();
  EXPECT_EQ(from_path(files, "/etc/multikueue/kubeconfigs/east").message, "");
}

struct RealFiles : ::testing::Test {
  TemporaryFolder made;
  std::filesystem::path folder = std::filesystem::canonical(made.path());
  SystemFiles files;
  std::string put(const std::string& name, const std::string& text) {
    const std::string path = (folder / name).string();
    std::ofstream(path) << text;
    return path;
  }
};

TEST_F(RealFiles, RegularFilesAreReadAndNothingElse) {
  const std::string good = put("good", file());
  EXPECT_EQ(from_path(files, good, folder).message, "");
  const std::string pipe = (folder / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const Verdict blocked = from_path(files, pipe, folder);
  EXPECT_EQ(blocked.message, "cannot read the kubeconfig: " + pipe + " is not a regular file");
  EXPECT_EQ(blocked.reason, reason_bad);
  EXPECT_EQ(from_path(files, "/dev/zero", "/dev").message,
            "cannot read the kubeconfig: /dev/zero is not a regular file");
  const std::string big = put("big", std::string(size_max + 1, ' '));
  EXPECT_EQ(from_path(files, big, folder).message,
            "cannot read the kubeconfig: " + big + " is larger than 1048576 bytes");
  EXPECT_EQ(from_path(files, (folder / "none").string(), folder).message,
            "cannot resolve kubeconfig path symlinks: lstat " + (folder / "none").string() +
                ": no such file or directory");
}

TEST_F(RealFiles, ARotatedLinkIsFollowedAnew) {
  std::filesystem::create_directories(folder / "..1");
  std::filesystem::create_directories(folder / "..2");
  put("..1/east", file());
  put("..2/east", "kind: Pod\n");
  std::filesystem::create_directory_symlink("..1", folder / "..data");
  std::filesystem::create_symlink("..data/east", folder / "east");
  EXPECT_EQ(from_path(files, folder / "east", folder).message, "");
  std::filesystem::remove(folder / "..data");
  std::filesystem::create_directory_symlink("..2", folder / "..data");
  EXPECT_THAT(from_path(files, folder / "east", folder).message, HasSubstr("got Pod"));
}

TEST_F(RealFiles, LocalUseMayNameFiles) {
  put("ca.pem", "ca");
  put("c.pem", "cert");
  put("k.pem", "key");
  const std::string path =
      put("config", file("certificate-authority: ca.pem",
                         "{client-certificate: c.pem, client-key: k.pem, tokenFile: token}"));
  const auto endpoint = load_local(files, path);
  ASSERT_TRUE(endpoint) << endpoint.error().what();
  EXPECT_EQ(endpoint->ca_pem, "ca");
  EXPECT_EQ(endpoint->client_certificate_pem, "cert");
  EXPECT_EQ(endpoint->client_key_pem, "key");
  EXPECT_EQ(endpoint->bearer_token_file, (folder / "token").string());
  EXPECT_THAT(
      load_local(files, put("no-ca", file("certificate-authority: none.pem"))).error().what(),
      HasSubstr("cluster \"east\": certificate-authority: open"));
}

class Local : public ::testing::TestWithParam<Case> {};

TEST_P(Local, RefusesWhatItCannotDoSafely) {
  FakeFiles files;
  auto config = parse(GetParam().text);
  ASSERT_TRUE(config) << config.error().what();
  const auto endpoint = resolve_local(files, std::move(*config), "/home/me");
  EXPECT_EQ(endpoint ? "" : endpoint.error().what(), GetParam().want);
}

const std::string plain_http =
    "cluster \"east\": server: plain http is only for loopback and without credentials, use https";

INSTANTIATE_TEST_SUITE_P(
    , Local,
    ::testing::Values(
        Case{"token", file(), ""},
        Case{"loopback_without_credentials", file("", "{}", "http://127.0.0.1:8001"), ""},
        Case{"loopback_with_token", file("", "token: x", "http://localhost:8001"), plain_http},
        Case{"http_far_away", file("", "{}", "http://east.example"), plain_http},
        Case{"insecure_tls", file("insecure-skip-tls-verify: true"),
             "cluster \"east\": insecure-skip-tls-verify is refused: give the certificate "
             "authority"},
        Case{"insecure_tls_elsewhere",
             with_other("server: \"https://a\", insecure-skip-tls-verify: true", ""), ""},
        Case{"proxy", file("proxy-url: http://p"), "cluster \"east\": proxy-url is not supported"},
        Case{"exec", file("", "exec: {command: aws}"),
             "user \"admin\": exec plugins are not supported"},
        Case{"basic_auth", file("", "username: u"),
             "user \"admin\": username and password are not supported"},
        Case{"impersonation", file("", "as: root"),
             "user \"admin\": impersonation is not supported"},
        Case{"certificate_without_key", file("", "client-certificate-data: Yw=="),
             "user \"admin\": client-certificate and client-key need each other"}),
    name_of_case);

}  // namespace
}  // namespace regatta::kubeconfig
