#pragma once

#include "kubeconfig/file_system.h"
#include "lib/base/log.h"
#include "lib/kube/client.h"
#include "lib/net/tls.h"
#include "manager/webhooks/ca_bundle.h"
#include "manager/webhooks/certificate_set.h"

#include <functional>
#include <map>
#include <string>

namespace regatta::manager {

struct CertificateSourceConfig {
  bool managed = true;    ///< the manager makes the certificates and keeps them in a Secret
  bool demanded = false;  ///< without certificates the manager is not ready
  api::ObjectKey secret;
  std::string service;  ///< through which API servers call the webhooks, in the Secret's namespace
  Duration valid_for = std::chrono::hours(24 * 365);
  std::string folder;          ///< with tls.crt and tls.key
  std::string client_ca_name;  ///< a file in `folder`; empty: clients need no certificate
  /// Not `managed`: where there are no files, one of its own, which no client knows the authority
  /// of.
  bool own_otherwise = false;
  std::string what = "webhooks";  ///< that are served, for the log
};

/// Finds the certificate of the webhook server or of another one, keeps it fresh, and tells API
/// servers which authority signed it. Every replica runs one; they agree through the Secret's
/// resourceVersion.
///
/// A managed certificate is in the Secret. Where there is none, and always when the certificates
/// are not managed, the files of `folder` count; they are read again every two seconds. Where there
/// is neither and the configuration demands none, no webhooks are served.
class CertificateSource {
 public:
  using Offer = std::function<Status(const net::TlsServerOptions&)>;

  /// `client` writes whether this replica leads or not. `offer` is called with each new
  /// certificate.
  CertificateSource(kube::Client& client, kubeconfig::FileSystem& files, Clock& clock, Log log,
                    CertificateSourceConfig config, Offer offer);

  /// Offers a certificate of its own, before run() looks for files: an error shows at once.
  Status offer_own();
  /// Runs until cancelled.
  Task<> run();

  /// What readiness waits for; empty when it does not.
  const std::string& waits_for() const { return waits_for_; }

  static constexpr Duration look_every = std::chrono::minutes(1);
  static constexpr Duration look_at_files_every = std::chrono::seconds(2);
  static constexpr Duration look_for_any_every = std::chrono::minutes(10);
  static constexpr Duration retry_after = std::chrono::seconds(5);

 private:
  using Found = Result<std::optional<CertificateSet>>;

  Task<Duration> look();
  Task<Found> keep_secret();
  Task<Found> try_secret(bool* again);
  Task<Status> write_secret(Json secret, CertificateSet set, bool create);
  Task<Status> publish(std::string authorities_pem);
  Task<Status> publish_to(BundleTarget target, std::string authorities_pem);
  Task<Result<std::string>> version_of(BundleTarget target);
  Duration look_at_files();
  Status use(net::KeyPair pair);
  bool is_news(std::string text);
  Duration settled(Duration pause);
  Duration failed(const Error& error);
  Duration nothing_there(const Error& no_file);

  kube::Client& client_;
  kubeconfig::FileSystem& files_;
  Clock& clock_;
  Log log_;
  CertificateSourceConfig config_;
  CertificatePolicy policy_;
  Offer offer_;
  std::vector<BundleTarget> targets_;
  std::string published_pem_;
  std::map<std::string, std::string> published_at_;  // resourceVersions by kind and name
  net::TlsServerOptions used_;
  std::optional<CertificateSet> own_;  // in use
  std::string waits_for_;
  std::string told_;  // the last trouble in the log
  bool missed_ = false;
};

}  // namespace regatta::manager
