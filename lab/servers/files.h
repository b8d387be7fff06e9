#pragma once

#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/net/pki.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::lab {

/// Writes a file of mode 0600 completely or not at all. Creates a missing folder (0700).
Status write_private(const std::filesystem::path& file, std::string_view text);

/// The certificates and credentials of one cluster, in a folder of its own: an authority, the API
/// server's certificate for loopback, a key for service account tokens, kubeconfigs. Existing files
/// are used again, so that clients still trust a restarted API server.
class ClusterFiles {
 public:
  /// `port` is the port of the API server.
  static Result<ClusterFiles> prepare(std::filesystem::path folder, std::uint16_t port,
                                      TimePoint now);

  std::filesystem::path file(std::string_view name) const { return folder_ / name; }
  std::filesystem::path admin_kubeconfig() const { return file("admin.kubeconfig"); }
  const std::filesystem::path& folder() const { return folder_; }
  const net::CertificateAuthority& authority() const { return authority_; }
  const net::KeyPair& server() const { return server_; }
  /// What the API server shows to servers of APIServices, and the authority that signed it. It is
  /// another one than that of users: a holder of such a certificate can act as any user there.
  const net::KeyPair& front_proxy() const { return front_proxy_; }
  const net::CertificateAuthority& front_proxy_authority() const { return front_proxy_authority_; }
  static constexpr const char* front_proxy_name = "front-proxy-client";
  const std::string& url() const { return url_; }

  /// A kubeconfig with a fresh client certificate: `user` in `groups`.
  Result<std::string> kubeconfig(const std::string& user, const std::vector<std::string>& groups,
                                 TimePoint now) const;
  /// The same, written to `<name>.kubeconfig`; returns its path.
  Result<std::filesystem::path> write_kubeconfig(const std::string& name, const std::string& user,
                                                 const std::vector<std::string>& groups,
                                                 TimePoint now) const;

 private:
  ClusterFiles(std::filesystem::path folder, net::CertificateAuthority authority,
               net::CertificateAuthority front_proxy_authority)
      : folder_(std::move(folder)),
        authority_(std::move(authority)),
        front_proxy_authority_(std::move(front_proxy_authority)) {}

  std::filesystem::path folder_;
  net::CertificateAuthority authority_;
  net::CertificateAuthority front_proxy_authority_;
  net::KeyPair server_;
  net::KeyPair front_proxy_;
  std::string url_;
};

}  // namespace regatta::lab
