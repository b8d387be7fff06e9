#include "lab/servers/files.h"

#include "kubeconfig/endpoint.h"
#include "lib/kube/in_cluster.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace regatta::lab {
namespace {

namespace fs = std::filesystem;

constexpr Duration valid_for = std::chrono::hours(24 * 365);
constexpr Duration renew_before = std::chrono::hours(24);
constexpr std::size_t pem_bytes_max = 256 * 1024;

Error failed(std::string_view what, const fs::path& file) {
  return Error(Errc::invalid,
               std::string(what) + " " + file.string() + ": " + std::strerror(errno));
}

bool write_whole(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

/// Both halves of a key pair from a folder; an empty certificate when there is none.
Result<net::KeyPair> read_pair(const fs::path& certificate, const fs::path& key) {
  net::KeyPair pair;
  if (!fs::exists(certificate) || !fs::exists(key)) return pair;
  auto certificate_pem = kube::read_small_file(certificate, pem_bytes_max);
  if (!certificate_pem) return certificate_pem.error();
  auto key_pem = kube::read_small_file(key, pem_bytes_max);
  if (!key_pem) return key_pem.error();
  pair.certificate_pem = std::move(*certificate_pem);
  pair.key_pem = std::move(*key_pem);
  return pair;
}

Status write_pair(const fs::path& certificate, const fs::path& key, const net::KeyPair& pair) {
  const Status written = write_private(key, pair.key_pem);
  if (!written) return written;
  return write_private(certificate, pair.certificate_pem);
}

Result<net::CertificateAuthority> authority_in(const fs::path& folder, const std::string& name,
                                               TimePoint now) {
  auto kept = read_pair(folder / (name + ".crt"), folder / (name + ".key"));
  if (!kept) return kept.error();
  if (!kept->certificate_pem.empty()) return net::CertificateAuthority::load(std::move(*kept));
  auto made = net::CertificateAuthority::create("regatta-sandbox-" + folder.filename().string(),
                                                now, valid_for);
  if (!made) return made.error();
  const Status written =
      write_pair(folder / (name + ".crt"), folder / (name + ".key"), made->key_pair());
  if (!written) return written.error();
  return made;
}

Result<net::KeyPair> server_pair(const fs::path& folder, const net::CertificateAuthority& authority,
                                 TimePoint now) {
  auto kept = read_pair(folder / "server.crt", folder / "server.key");
  if (!kept) return kept.error();
  if (!kept->certificate_pem.empty()) {
    const auto until = net::valid_until(kept->certificate_pem);
    if (until && *until > now + renew_before) return kept;
  }
  net::ServerNames names;
  names.common_name = "kube-apiserver";
  names.dns_names = {"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"};
  names.ip_addresses = {"127.0.0.1", "10.0.0.1"};
  auto made = authority.issue_server(names, now, valid_for);
  if (!made) return made.error();
  const Status written = write_pair(folder / "server.crt", folder / "server.key", *made);
  if (!written) return written.error();
  return made;
}

Status ensure_token_key(const fs::path& folder) {
  if (fs::exists(folder / "sa.key") && fs::exists(folder / "sa.pub")) return ok();
  auto made = net::make_signing_key();
  if (!made) return made.error();
  const Status written = write_private(folder / "sa.key", made->private_pem);
  if (!written) return written;
  return write_private(folder / "sa.pub", made->public_pem);
}

}  // namespace

Status write_private(const fs::path& file, std::string_view text) {
  std::error_code ignored;
  if (fs::create_directories(file.parent_path(), ignored)) {
    fs::permissions(file.parent_path(), fs::perms::owner_all, ignored);
  }
  const fs::path partial = file.string() + ".partial";
  ::unlink(partial.c_str());
  const int fd = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return failed("cannot write", partial);
  const bool written = write_whole(fd, text);
  if (::close(fd) != 0 || !written) return failed("cannot write", partial);
  if (::rename(partial.c_str(), file.c_str()) != 0) return failed("cannot replace", file);
  return ok();
}

Result<ClusterFiles> ClusterFiles::prepare(fs::path folder, std::uint16_t port, TimePoint now) {
  auto authority = authority_in(folder, "ca", now);
  if (!authority) return authority.error().within("the certificate authority");
  auto server = server_pair(folder, *authority, now);
  if (!server) return server.error().within("the server's certificate");
  const Status key = ensure_token_key(folder);
  if (!key) return key.error().within("the key of service account tokens");
  auto front = authority_in(folder, "front-proxy-ca", now);
  if (!front) return front.error().within("the authority of the front proxy");
  auto front_pair = front->issue_client(front_proxy_name, {}, now, valid_for);
  if (!front_pair) return front_pair.error().within("the certificate of the front proxy");
  ClusterFiles files(std::move(folder), std::move(*authority), std::move(*front));
  files.server_ = std::move(*server);
  files.front_proxy_ = std::move(*front_pair);
  files.url_ = "https://127.0.0.1:" + std::to_string(port);
  const auto admin = files.write_kubeconfig("admin", "admin", {"system:masters"}, now);
  if (!admin) return admin.error();
  return files;
}

Result<std::string> ClusterFiles::kubeconfig(const std::string& user,
                                             const std::vector<std::string>& groups,
                                             TimePoint now) const {
  auto pair = authority_.issue_client(user, groups, now, valid_for);
  if (!pair) return pair.error().within("the certificate of " + user);
  kubeconfig::Endpoint endpoint;
  endpoint.url = url_;
  endpoint.ca_pem = authority_.certificate_pem();
  endpoint.client_certificate_pem = std::move(pair->certificate_pem);
  endpoint.client_key_pem = std::move(pair->key_pem);
  return kubeconfig::write(endpoint, folder_.filename().string());
}

Result<fs::path> ClusterFiles::write_kubeconfig(const std::string& name, const std::string& user,
                                                const std::vector<std::string>& groups,
                                                TimePoint now) const {
  auto text = kubeconfig(user, groups, now);
  if (!text) return text.error();
  fs::path path = file(name + ".kubeconfig");
  const Status written = write_private(path, *text);
  if (!written) return written.error();
  return path;
}

}  // namespace regatta::lab
