#include "lib/api/core.h"
#include "lib/base/base64.h"
#include "lib/base/json_access.h"
#include "lib/kube/faulty_sender.h"
#include "manager/visibility_port.h"
#include "manager/webhooks/certificate_source.h"
#include "tests/support/test_cluster.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <optional>

namespace regatta::test_support {
namespace {

using namespace std::chrono_literals;
using manager::CertificateSource;
using manager::CertificateSourceConfig;
using manager::Configuration;
using manager::VisibilityCertificates;

constexpr api::ResourceInfo configurations{"admissionregistration.k8s.io", "v1",
                                           "ValidatingWebhookConfiguration",
                                           "validatingwebhookconfigurations", false};
constexpr const char* empty_secret = R"(
apiVersion: v1
kind: Secret
metadata: {name: cert, namespace: kueue-system, labels: {kept: "yes"}}
)";
constexpr const char* configuration = R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: kueue-validating-webhook-configuration}
webhooks:
- name: vcohort.kb.io
  clientConfig:
    service: {name: kueue-webhook-service, namespace: kueue-system, path: /validate}
  admissionReviewVersions: [v1]
  sideEffects: None
)";

struct MadeUpFiles final : kubeconfig::FileSystem {
  std::map<std::string, std::string> files;
  Result<std::string> resolve(const std::string& path) override { return path; }
  Result<std::string> read_regular(const std::string& path, std::size_t) override {
    const auto it = files.find(path);
    if (it == files.end()) return Error(Errc::not_found, "there is no " + path);
    return it->second;
  }
};

/// One manager, as far as the webhooks' certificates go.
struct Replica {
  Replica(TestCluster& cluster, TaskScope& scope, MadeUpFiles& files,
          CertificateSourceConfig config, const char* token)
      : sender(cluster.sender(), cluster.world(), rng, faults),
        client({sender,
                cluster.world(),
                rng,
                std::make_shared<kube::StaticToken>(token),
                {.observer = [this](const kube::RequestSeen& seen) { requests.note(seen); }}}),
        source(client, files, cluster.world(), Log(), std::move(config),
               [this](const net::TlsServerOptions& tls) { return take(tls); }) {
    scope.spawn("source", source.run());
  }
  Status take(const net::TlsServerOptions& tls) {
    if (!refuses.empty()) return Error(Errc::invalid, refuses);
    served.push_back(tls);
    return ok();
  }
  const std::string& waits_for() const { return source.waits_for(); }

  Rng rng = Rng(7);
  RequestCounts requests;
  std::shared_ptr<kube::NetworkFaults> faults = std::make_shared<kube::NetworkFaults>();
  kube::FaultySender sender;
  kube::Client client;
  std::string refuses;  ///< why no certificate is taken; empty: they are
  std::vector<net::TlsServerOptions> served;
  CertificateSource source;
};

class WebhookCertificates : public testing::Test {
 protected:
  WebhookCertificates() {
    config_.secret = {"kueue-system", "cert"};
    config_.service = "kueue-webhook-service";
    config_.folder = "/certs";
    EXPECT_TRUE(
        cluster_.apply("{apiVersion: v1, kind: Namespace, metadata: {name: kueue-system}}"));
  }
  ~WebhookCertificates() override {
    scope_.stop();
    world_.settle();
  }

  Replica& start(const char* token = TestCluster::admin_token) {
    return *replicas_.emplace_back(
        std::make_unique<Replica>(cluster_, scope_, files_, config_, token));
  }
  Json secret() { return cluster_.get(api::Secret::resource, config_.secret); }
  /// What API servers trust.
  std::string bundle() {
    const Json object =
        cluster_.get(configurations, api::ObjectKey("kueue-validating-webhook-configuration"));
    return base64_decode(text_at(object.at("webhooks").at(0).at("clientConfig"), "caBundle"))
        .value();
  }
  bool trusted(const net::TlsServerOptions& served) {
    const net::KeyPair pair{served.certificate_pem, served.key_pem};
    const std::string name = "kueue-webhook-service.kueue-system.svc";
    return net::check_server(pair, bundle(), name, world_.now()).has_value();
  }
  void put_files(Duration valid_for = 1h) { put_files_into("/certs", valid_for); }
  void put_files_into(const std::string& folder, Duration valid_for = 1h) {
    const auto authority = net::CertificateAuthority::create("files", world_.now(), 24h);
    const auto pair = authority->issue_server({"x", {"x"}, {}}, world_.now(), valid_for);
    files_.files[folder + "/tls.crt"] = pair->certificate_pem;
    files_.files[folder + "/tls.key"] = pair->key_pem;
  }

  sim::World world_{1};
  TestCluster cluster_{world_, "hub"};
  TaskScope scope_{world_.executor()};
  MadeUpFiles files_;
  CertificateSourceConfig config_;
  std::vector<std::unique_ptr<Replica>> replicas_;
};

TEST_F(WebhookCertificates, an_empty_secret_is_filled_and_api_servers_are_told) {
  ASSERT_TRUE(cluster_.apply(empty_secret));
  ASSERT_TRUE(cluster_.apply(configuration));
  Replica& replica = start();
  EXPECT_NE(replica.waits_for(), "");
  world_.run_for(5s);
  EXPECT_EQ(replica.waits_for(), "");
  ASSERT_EQ(replica.served.size(), 1u);
  EXPECT_TRUE(trusted(replica.served[0]));
  EXPECT_EQ(text_at(secret(), {"metadata", "labels", "kept"}), "yes");
  EXPECT_EQ(replica.requests.writes(), 2) << replica.requests.str();
}

TEST_F(WebhookCertificates, while_nothing_changes_only_versions_are_read) {
  cluster_.apply_crds();
  ASSERT_TRUE(cluster_.apply(empty_secret));
  ASSERT_TRUE(cluster_.apply(configuration));
  Replica& replica = start();
  world_.run_for(30s);
  replica.requests.clear();
  world_.run_for(10min);
  EXPECT_EQ(replica.requests.writes(), 0);
  EXPECT_EQ(replica.requests.count("get"), replica.requests.count("get", "secrets"));
  EXPECT_EQ(replica.requests.count(), 10 * (1 + 9)) << replica.requests.str();
}

TEST_F(WebhookCertificates, replicas_agree_on_one_set) {
  ASSERT_TRUE(cluster_.apply(empty_secret));
  ASSERT_TRUE(cluster_.apply(configuration));
  config_.valid_for = 10s;
  Replica& first = start();
  Replica& second = start();
  for (int i = 0; i < 200; ++i) {
    world_.run_for(1s);
    if (i < 3) continue;
    for (const auto& replica : replicas_) {
      ASSERT_EQ(replica->waits_for(), "");
      ASSERT_TRUE(trusted(replica->served.back())) << i;
    }
  }
  EXPECT_GE(first.served.size(), 20u);
  EXPECT_EQ(first.served.back().key_pem, second.served.back().key_pem);
}

TEST_F(WebhookCertificates, a_bundle_that_another_client_removed_comes_back) {
  ASSERT_TRUE(cluster_.apply(empty_secret));
  ASSERT_TRUE(cluster_.apply(configuration));
  Replica& replica = start();
  world_.run_for(5s);
  const api::ObjectKey key("kueue-validating-webhook-configuration");
  Json object = cluster_.get(configurations, key);
  object["webhooks"][0]["clientConfig"].erase("caBundle");
  ASSERT_TRUE(run(world_, cluster_.admin().update_raw(configurations, key, object.dump())));
  EXPECT_EQ(bundle(), "");
  world_.run_for(CertificateSource::look_every);
  EXPECT_TRUE(trusted(replica.served.back()));
}

TEST_F(WebhookCertificates, without_a_secret_and_files_no_webhooks_are_served) {
  Replica& replica = start();
  world_.run_for(5s);
  EXPECT_EQ(replica.waits_for(), "");
  EXPECT_TRUE(replica.served.empty());
  EXPECT_EQ(replica.requests.writes(), 0);
  ASSERT_TRUE(cluster_.apply(empty_secret));
  world_.run_for(CertificateSource::look_for_any_every);
  EXPECT_EQ(replica.served.size(), 1u) << "the Secret may come later";
}

TEST_F(WebhookCertificates, a_secret_that_may_not_be_read_is_none_unless_it_is_demanded) {
  EXPECT_EQ(start(TestCluster::limited_token).waits_for().empty(), false) << "not looked at yet";
  world_.run_for(5s);
  EXPECT_EQ(replicas_.back()->waits_for(), "");
  config_.demanded = true;
  Replica& demanding = start(TestCluster::limited_token);
  world_.run_for(5s);
  EXPECT_NE(demanding.waits_for().find("kueue-system/cert"), std::string::npos)
      << demanding.waits_for();
}

TEST_F(WebhookCertificates, a_secret_may_be_there_while_the_server_does_not_know_the_manager) {
  Replica& unknown = start("no-such-token");
  world_.run_for(5s);
  EXPECT_NE(unknown.waits_for().find("kueue-system/cert"), std::string::npos)
      << unknown.waits_for();
}

TEST_F(WebhookCertificates, a_secret_that_is_demanded_is_created) {
  config_.demanded = true;
  Replica& replica = start();
  world_.run_for(5s);
  EXPECT_EQ(replica.waits_for(), "");
  EXPECT_EQ(replica.served.size(), 1u);
  EXPECT_FALSE(secret().is_null());
}

TEST_F(WebhookCertificates, files_that_are_demanded_are_waited_for) {
  config_.managed = false;
  config_.demanded = true;
  Replica& replica = start();
  world_.run_for(5s);
  EXPECT_NE(replica.waits_for().find("/certs/tls.crt"), std::string::npos);
  put_files();
  world_.run_for(CertificateSource::retry_after);
  EXPECT_EQ(replica.waits_for(), "");
  EXPECT_EQ(replica.served.size(), 1u);
  EXPECT_EQ(replica.requests.count(), 0);
}

TEST_F(WebhookCertificates, files_are_read_again_and_offered_when_they_change) {
  put_files();
  config_.managed = false;
  Replica& replica = start();
  world_.run_for(1min);
  ASSERT_EQ(replica.served.size(), 1u);
  put_files();
  world_.run_for(CertificateSource::look_at_files_every);
  ASSERT_EQ(replica.served.size(), 2u);
  EXPECT_EQ(replica.served[1].key_pem, files_.files["/certs/tls.key"]);
  replica.refuses = "the private key does not belong to the certificate";
  put_files();
  world_.run_for(1min);
  EXPECT_EQ(replica.waits_for(), "") << "the old certificate is still served";
  replica.refuses = "";
  world_.run_for(10s);
  EXPECT_EQ(replica.served.size(), 3u);
}

TEST_F(WebhookCertificates, clients_need_a_certificate_when_an_authority_for_them_is_named) {
  put_files();
  config_.managed = false;
  config_.client_ca_name = "clients.crt";
  Replica& replica = start();
  world_.run_for(10s);
  EXPECT_TRUE(replica.served.empty());
  files_.files["/certs/clients.crt"] = "the authority";
  world_.run_for(10s);
  ASSERT_EQ(replica.served.size(), 1u);
  EXPECT_EQ(replica.served[0].client_ca_pem, "the authority");
  EXPECT_TRUE(replica.served[0].client_certificate_required);
}

TEST_F(WebhookCertificates, lost_answers_and_conflicts_do_no_harm) {
  ASSERT_TRUE(cluster_.apply(empty_secret));
  ASSERT_TRUE(cluster_.apply(configuration));
  config_.valid_for = 1min;
  for (int i = 0; i < 2; ++i) {
    kube::NetworkFaults& faults = *start().faults;
    faults.lose_reply = faults.conflict = faults.server_error = 0.05;
  }
  world_.run_for(2min);
  for (int i = 0; i < 600; ++i) {
    world_.run_for(1s);
    for (const auto& replica : replicas_) {
      ASSERT_EQ(replica->waits_for(), "");
      ASSERT_TRUE(trusted(replica->served.back())) << i;
    }
  }
}

TEST_F(WebhookCertificates, trouble_is_reported_and_tried_again) {
  ASSERT_TRUE(cluster_.apply(empty_secret));
  Replica& replica = start();
  replica.refuses = "webhook.port: address in use";
  world_.run_for(5s);
  EXPECT_NE(replica.waits_for().find("address in use"), std::string::npos);
  replica.refuses = "";
  world_.run_for(CertificateSource::retry_after);
  EXPECT_EQ(replica.waits_for(), "");
}

/// What the visibility API shows, in a manager with that configuration.
class VisibilityShows : public WebhookCertificates {
 protected:
  ~VisibilityShows() override {
    scope_.stop();
    world_.settle();
  }
  VisibilityCertificates& start_visibility() {
    certificates_.emplace(manager_, cluster_.admin(), files_, world_, Log(),
                          [this](const net::TlsServerOptions& tls) {
                            shown_.push_back(tls.certificate_pem);
                            return ok();
                          });
    EXPECT_TRUE(certificates_->start(scope_));
    world_.run_for(5s);
    return *certificates_;
  }

  Configuration manager_;
  std::vector<std::string> shown_;
  std::optional<VisibilityCertificates> certificates_;
};

TEST_F(VisibilityShows, files_that_change_and_no_managed_certificate_beside_them) {
  put_files_into("/visibility");
  VisibilityCertificates& certificates = start_visibility();
  EXPECT_EQ(shown_.back(), files_.files["/visibility/tls.crt"]);
  put_files_into("/visibility");
  world_.run_for(5s);
  EXPECT_EQ(shown_.back(), files_.files["/visibility/tls.crt"]);
  EXPECT_TRUE(certificates.offer_managed({"managed", "key"}));
  EXPECT_NE(shown_.back(), "managed");
}

TEST_F(VisibilityShows, the_managed_certificate_where_there_are_no_files) {
  VisibilityCertificates& certificates = start_visibility();
  ASSERT_EQ(shown_.size(), 1u) << "one of its own until there is a managed one";
  EXPECT_TRUE(certificates.offer_managed({"managed", "key"}));
  world_.run_for(10min);
  EXPECT_EQ(shown_.back(), "managed");
}

TEST_F(VisibilityShows, one_of_its_own_that_is_made_anew_before_its_end) {
  manager_.internal_cert_management.enable = false;
  VisibilityCertificates& certificates = start_visibility();
  EXPECT_TRUE(certificates.offer_managed({"managed", "key"}));
  ASSERT_EQ(shown_.size(), 1u);
  world_.step_wall(24h * 365);
  world_.run_for(5s);
  EXPECT_EQ(shown_.size(), 2u);
}

}  // namespace
}  // namespace regatta::test_support
