#include "bench/manager_program.h"

#include "lab/servers/files.h"
#include "lib/net/pki.h"

#include <string_view>
#include <unistd.h>

namespace regatta::bench {
namespace {

constexpr Duration valid_for = std::chrono::hours(24);

constexpr std::string_view common_config = R"(apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
health:
  healthProbeBindAddress: "0"
metrics:
  bindAddress: "0"
leaderElection:
  leaderElect: false
clientConnection:
  qps: -1
)";

/// Kueue reads the certificate of its metrics from a fixed place when it does not manage them
/// itself. It gets an /etc of its own, so that nothing is left on the machine.
constexpr const char* in_own_etc = R"(set -eu
mount -t tmpfs none /etc
mkdir -p /etc/kueue/metrics/certs
cp "$0/tls.crt" "$0/tls.key" /etc/kueue/metrics/certs
exec "$@"
)";

Status write_certificate(const Ground& ground, const std::filesystem::path& folder) {
  const TimePoint now = ground.clock.now();
  const auto authority = net::CertificateAuthority::create("regatta-bench", now, valid_for);
  if (!authority) return authority.error();
  net::ServerNames names;
  names.common_name = "127.0.0.1";
  names.ip_addresses = {"127.0.0.1"};
  const auto pair = authority->issue_server(names, now, valid_for);
  if (!pair) return pair.error();
  const Status written = lab::write_private(folder / "tls.crt", pair->certificate_pem);
  if (!written) return written;
  return lab::write_private(folder / "tls.key", pair->key_pem);
}

Result<std::vector<std::string>> kueue_command(const Ground& ground, const ManagerFiles& files) {
  const std::filesystem::path certificates = files.folder / "kueue-certificates";
  const Status made = write_certificate(ground, certificates);
  if (!made) return made.error();
  const auto port = free_port(ground.executor);
  if (!port) return port.error();
  const std::string webhook =
      "internalCertManagement:\n  enable: false\nwebhook:\n"
      "  host: 127.0.0.1\n  port: " +
      std::to_string(*port) + "\n  certDir: " + certificates.string() + "\n";
  const std::filesystem::path config = files.folder / "manager.yaml";
  const Status written =
      lab::write_private(config, std::string(common_config) + files.more + webhook);
  if (!written) return written.error();
  std::vector<std::string> argv = {"/usr/bin/env", "KUBECONFIG=" + files.kubeconfig.string(),
                                   "unshare", "--mount"};
  if (::geteuid() != 0) argv.push_back("--map-root-user");
  argv.insert(argv.end(),
              {"sh", "-c", in_own_etc, certificates, ground.kueue, "--config", config,
               "--kubeconfig", files.kubeconfig, "--feature-gates=VisibilityOnDemand=false"});
  return argv;
}

}  // namespace

Result<std::vector<std::string>> manager_command(const Ground& ground, ManagerFiles files) {
  if (!ground.kueue.empty()) return kueue_command(ground, files);
  const std::filesystem::path config = files.folder / "manager.yaml";
  const Status written = lab::write_private(config, std::string(common_config) + files.more);
  if (!written) return written.error();
  return std::vector<std::string>{ground.binary, "manager", "--kubeconfig",  files.kubeconfig,
                                  "--config",    config,    "--zap-encoder", "console"};
}

}  // namespace regatta::bench
