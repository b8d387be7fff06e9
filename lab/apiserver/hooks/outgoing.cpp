#include "lab/apiserver/hooks/outgoing.h"

#include "lib/net/http_client.h"
#include "lib/net/tls.h"

#include <map>

namespace regatta::apiserver {
namespace {

/// More peers than a cluster has, so that clients of renewed authorities do not pile up.
constexpr std::size_t clients_max = 32;

class HttpsOutgoing final : public Outgoing {
 public:
  HttpsOutgoing(Executor executor, Clock& clock, std::string certificate_pem, std::string key_pem)
      : executor_(std::move(executor)),
        clock_(clock),
        certificate_pem_(std::move(certificate_pem)),
        key_pem_(std::move(key_pem)) {}

  Result<std::shared_ptr<net::HttpSender>> to(const Peer& peer) override {
    const auto known = clients_.find(peer);
    if (known != clients_.end()) return known->second;
    if (peer.ca_pem.empty()) {
      return Error(Errc::denied,
                   "tls: failed to verify certificate: x509: certificate signed by unknown "
                   "authority");
    }
    net::TlsClientOptions tls;
    tls.ca_pem = peer.ca_pem;
    tls.server_name = peer.server_name;
    tls.certificate_pem = certificate_pem_;
    tls.key_pem = key_pem_;
    auto dialer = net::TlsDialer::create(clock_, tls);
    if (!dialer) return dialer.error();
    // Calls that are under way hold their client.
    if (clients_.size() >= clients_max) clients_.clear();
    net::HttpClientOptions options;
    options.connections_max = 64;
    auto client = std::make_shared<net::HttpClient>(executor_, clock_, std::move(*dialer),
                                                    peer.host, peer.port, options);
    clients_[peer] = client;
    return std::shared_ptr<net::HttpSender>(std::move(client));
  }

 private:
  Executor executor_;
  Clock& clock_;
  std::string certificate_pem_, key_pem_;
  std::map<Peer, std::shared_ptr<net::HttpSender>> clients_;
};

}  // namespace

std::shared_ptr<Outgoing> make_https_outgoing(Executor executor, Clock& clock,
                                              std::string certificate_pem, std::string key_pem) {
  return std::make_shared<HttpsOutgoing>(std::move(executor), clock, std::move(certificate_pem),
                                         std::move(key_pem));
}

}  // namespace regatta::apiserver
